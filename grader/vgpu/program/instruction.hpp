// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One decoded instruction: fixed size, every operand a place, every suffix an enumerator.
/// Place in the chain: program/decoder makes it -> exec picks a handler for it.
/// Left out: how lanes are stored; exec lays out the four areas a Value can point into.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "grader/device_code/ptx/types.hpp"

namespace membound::vgpu::program {

/// Every opcode the virtual GPU knows, from opcodes.def.
enum class Opcode : std::uint8_t {
#define MEMBOUND_OPCODE(id, ...) id,
#include "grader/device_code/ptx/opcodes.def"
#undef MEMBOUND_OPCODE
};

/// What kind of work an instruction is; one warp-instruction counter each.
enum class Unit : std::uint8_t {
  kInteger,
  kFloat32,
  kFloat64,
  kHalf,
  kConvert,
  kSpecialFunction,
  kMove,
  kMemory,
  kControl,
  kBarrier,
  kCollective,
  kAtomic,
  kTexture,
  kAsync,
  kTensor,
  kByType  ///< in opcodes.def only: integer, float32, float64 or half, by the instruction's type
};

/// Where the 32 lane values of an operand are.
enum class ValueKind : std::uint8_t {
  kNone,
  kRegister,   ///< index: first 128-byte slot in the frame
  kConstant,   ///< index: first slot in the function's constants, equal for the whole launch
  kWarp,       ///< index: a WarpSlot
  kBlock,      ///< index: a BlockSlot
  kPredicate,  ///< index: a lane mask of the frame
  kTrue        ///< a predicate that always holds
};

/// Slots that differ from warp to warp (of kWarp values), 128 bytes each.
enum WarpSlot : std::uint32_t { kTidX, kTidY, kTidZ, kWarpId, kWarpSlots };
/// Slots that differ from block to block (of kBlock values).
enum BlockSlot : std::uint32_t { kCtaidX, kCtaidY, kCtaidZ, kSmId, kBlockSlots };

/// One operand.
struct Value {
  ValueKind kind = ValueKind::kNone;
  bool negated = false;  ///< predicates only
  std::uint32_t index = 0;
  explicit operator bool() const { return kind != ValueKind::kNone; }
  friend bool operator==(const Value&, const Value&) = default;
};

/// Rounding suffixes; the i-forms round to an integer.
enum class Rounding : std::uint8_t { kNone, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi };
/// Comparison suffixes; the u-forms are true for NaN, lo/ls/hi/hs are unsigned lt/le/gt/ge.
enum class Comparison : std::uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};
/// How setp joins its third source.
enum class Combine : std::uint8_t { kNone, kAnd, kOr, kXor };
/// What an atomic (or a reduction, or redux, or bar.red) does.
enum class Atomic : std::uint8_t {
  kNone,
  kAdd,
  kMin,
  kMax,
  kInc,
  kDec,
  kCas,
  kExch,
  kAnd,
  kOr,
  kXor,
  kPopc
};
/// Ordering of a memory access.
enum class Order : std::uint8_t { kWeak, kVolatile, kRelaxed, kAcquire, kRelease, kAcqRel, kSc };
/// Who takes part in that ordering.
enum class Scope : std::uint8_t { kNone, kCta, kCluster, kGpu, kSys };

/// Suffixes that are either there or not.
enum Flag : std::uint32_t {
  kFtz = 1u << 0,
  kSat = 1u << 1,
  kCarryOut = 1u << 2,  ///< .cc
  kHi = 1u << 3,
  kWide = 1u << 4,
  kApprox = 1u << 5,
  kFull = 1u << 6,
  kRelu = 1u << 7,
  kNanFlag = 1u << 8,  ///< min/max.NaN
  kXorSign = 1u << 9,
  kAbsFlag = 1u << 10,
  kUniform = 1u << 11,       ///< bra.uni, call.uni
  kAligned = 1u << 12,       ///< .aligned, or bar
  kResultUnused = 1u << 13,  ///< an atomic nobody reads: a reduction
  kLane24 = 1u << 14,        ///< mul24, mad24
  kShiftAmt = 1u << 15,      ///< bfind.shiftamt
  kWrap = 1u << 16,          ///< shf.wrap, clamp otherwise
  kLeft = 1u << 17,          ///< shf.l
  kNoComplete = 1u << 18,    ///< mbarrier, .noinc of cp.async.mbarrier
  kNonCoherent = 1u << 19,   ///< ld.global.nc
  kConstantMemory = 1u << 20,
  kHidden = 1u << 21,       ///< made by the decoder; not counted as an instruction
  kFrameLocal = 1u << 22,   ///< address is relative to the lane's frame: locals and call parameters
  kParamMemory = 1u << 23,  ///< ld/st.param inside a function: a frame access that is not counted
  kBackward = 1u << 24,     ///< a branch to an earlier instruction
  kSpinLoop = 1u << 25,  ///< that loop can wait for another thread: it reads what others may write
  kPollLoop = 1u << 26,  ///< that loop surely polls: atomics, volatile or acquire reads
  kStartsGlobalRound = 1u << 29,  ///< see rounds.hpp
  kStartsSharedRound = 1u << 30,
  kUnsupportedForm = 1u << 28,  ///< a suffix or operand nobody knows: faults when executed
  kCountDefault = 1u << 27      ///< bar without a thread count
};

/// What a surface access outside the image does.
enum class Edge : std::uint8_t { kTrap, kClamp, kZero };

/// "No index": a branch without a target, a call through a register.
inline constexpr std::uint32_t kNoTarget = 0xFFFFFFFFu;

/// One instruction.
struct Instruction {
  Opcode opcode{};
  ptx::ScalarType type = ptx::ScalarType::kNone;   ///< first type suffix
  ptx::ScalarType type2 = ptx::ScalarType::kNone;  ///< second: source of cvt, set, tex coordinates
  ptx::StateSpace space = ptx::StateSpace::kNone;
  ptx::StateSpace space2 = ptx::StateSpace::kNone;  ///< cp.async: source; cvta: unused
  Unit unit = Unit::kControl;
  Rounding rounding = Rounding::kNone;
  Comparison comparison = Comparison::kEq;
  Combine combine = Combine::kNone;
  Atomic atomic = Atomic::kNone;
  Order order = Order::kWeak;
  Scope scope = Scope::kNone;
  std::uint8_t vector = 1;  ///< 1, 2, 4 (8)
  std::uint8_t mode = 0;    ///< opcode's own: shfl idx/up/down/bfly, vote kind, tex geometry …
  std::uint8_t address_bits = 64;  ///< width of the address register
  std::uint8_t d_slots = 1;        ///< slots of each destination register: 1, 2 or 4
  std::uint8_t s_slots = 1;        ///< slots of each data source register
  Edge edge = Edge::kTrap;
  std::uint32_t flags = 0;
  Value guard = {};
  std::array<Value, 4> d = {};        ///< destinations
  std::array<Value, 8> s = {};        ///< sources; s[0] of a memory access is the address
  std::int64_t offset = 0;            ///< added to the address; immediate of its own kind elsewhere
  std::int64_t offset2 = 0;           ///< added to the second address of cp.async
  std::uint32_t target = kNoTarget;   ///< branch: instruction index; call: function; brx: list
  std::uint32_t meeting = kNoTarget;  ///< branch: where its two ways meet again (post-dominator)
  std::uint32_t call = kNoTarget;     ///< call: index into Function::calls
  std::uint32_t ptx_line = 0;
  std::string_view mnemonic = {};  ///< as written; lives as long as the Program

  [[nodiscard]] bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
};

/// True for an atomic addition of 16 bits. The hardware has none: ptxas makes a loop of it that
/// loads the word around them, adds, and compares and swaps (seen in the machine code for 9.0).
[[nodiscard]] inline bool loops_on_a_word(const Instruction& in) {
  return in.atomic == Atomic::kAdd && in.vector == 1 && ptx::is_float(in.type) &&
         ptx::size_bytes(in.type) == 2;
}

/// Modes of the opcodes that have some.
enum class ShuffleMode : std::uint8_t { kIdx, kUp, kDown, kBfly };
enum class VoteMode : std::uint8_t { kAll, kAny, kUni, kBallot };
enum class MatchMode : std::uint8_t { kAny, kAll };
enum class PermuteMode : std::uint8_t { kDefault, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
enum class TestMode : std::uint8_t {
  kFinite,
  kInfinite,
  kNumber,
  kNotANumber,
  kNormal,
  kSubnormal
};
enum class BarrierMode : std::uint8_t { kSync, kArrive, kRed, kWarp };
enum class CopyMode : std::uint8_t { kCopy, kCommit, kWaitGroup, kWaitAll, kArrive };
enum class MbarrierMode : std::uint8_t {
  kInit,
  kInval,
  kArrive,
  kArriveDrop,
  kExpectTx,
  kCompleteTx,
  kArriveExpectTx,
  kTestWait,
  kTryWait,
  kTestWaitParity,
  kTryWaitParity,
  kPendingCount
};
/// cvt.pack (mode: bits of a part, 2 to 16): not yet known while suffixes are read.
inline constexpr std::uint8_t kPackPending = 1;
/// cvt.pack into a signed type; shares its bit with a flag that conversions do not have.
inline constexpr std::uint32_t kPackSigned = kLeft;
/// Where a fetch takes its level of detail from (offset2 of tex).
enum class LevelMode : std::uint8_t { kNone, kGiven, kGradients };
/// Whether one lane of a warp does an atomic for all that take part; see joining.hpp.
enum class Joining : std::uint8_t { kNever, kIfUnused, kAlways };
enum class Query : std::uint8_t { kWidth, kHeight, kDepth, kOther };
enum class Geometry : std::uint8_t { k1d, k2d, k3d, kA1d, kA2d, kCube, kACube, k2dMs };
/// Registers that are read when executed (mode of Opcode::kReadSpecial).
enum class LiveRegister : std::uint8_t {
  kClock,
  kClockHi,
  kClock64,
  kGlobalTimer,
  kGlobalTimerLo,
  kGlobalTimerHi
};

}  // namespace membound::vgpu::program
