// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One decoded instruction: fixed size, every operand a place, every suffix an enumerator. What
/// belongs to the operands of one shape and to no other (modes, places, suffixes) is its detail; an
/// instruction holds at most one.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "grader/device_code/ptx/ast.hpp"

namespace membound::vgpu::program {

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
/// What a surface access outside the image does.
enum class Edge : std::uint8_t { kTrap, kClamp, kZero };

/// "No index": a branch without a target, a call through a register.
inline constexpr std::uint32_t kNoTarget = 0xFFFFFFFFu;

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
enum class CopyMode : std::uint8_t {
  kCopy,
  kCommit,
  kWaitGroup,
  kWaitAll,
  kArrive,
  kBulkLoad,    ///< cp.async.bulk to shared memory
  kBulkStore,   ///< and from there
  kBulkNothing  ///< of its groups: what is stored lands at once
};
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
/// Where a fetch takes its level of detail from.
enum class LevelMode : std::uint8_t { kNone, kGiven, kGradients };
/// Whether one lane of a warp does an atomic for all that take part; see ptxas/passes.hpp.
enum class WarpAggregation : std::uint8_t {
  kNever,
  kIfUnused,
  kAlways,
  kByWordIfUnused  ///< the hardware counts the lanes of each word and adds them at once
};
enum class Query : std::uint8_t { kWidth, kHeight, kDepth, kOther };
enum class Geometry : std::uint8_t { k1d, k2d, k3d, kA1d, kA2d, kCube, kACube, k2dMs };
/// Registers that are read when executed.
enum class LiveRegister : std::uint8_t {
  kClock,
  kClockHi,
  kClock64,
  kGlobalTimer,
  kGlobalTimerLo,
  kGlobalTimerHi
};

/// add, sub, neg, min, max on two halfwords at a time.
enum class Halves : std::uint8_t { kNone, kUnsigned, kSigned };
enum class MoveWay : std::uint8_t { kCopy, kUnpack, kPack };

// The details, an example a line.

struct Compare {  ///< setp.lt.and.s32 p|q, a, b, r
  Comparison comparison = Comparison::kEq;
  Combine combine = Combine::kNone;
};
struct Arithmetic {  ///< add.u16x2 d, a, b
  Halves halves = Halves::kNone;
};
struct Packing {  ///< cvt.pack.sat.s8.s32.b32 d, a, b, c
  bool packs = false;
  bool is_signed = false;
  std::uint8_t part_bits = 0;  ///< 2 to 16; 0: not yet known
};
struct TruthTable {  ///< lop3.b32 d, a, b, c, 0x96
  std::uint8_t table = 0;
};
struct Permutation {  ///< prmt.b32.f4e d, a, b, c
  PermuteMode mode = PermuteMode::kDefault;
};
struct Property {  ///< testp.finite.f32 p, a
  TestMode mode = TestMode::kFinite;
};
struct Move {  ///< mov.b64 d, {a, b}
  MoveWay way = MoveWay::kCopy;
};
struct LiveRead {  ///< mov.u64 d, %clock64
  LiveRegister id = LiveRegister::kClock;
};
struct FrameAddress {  ///< mov.u64 d, variable
  std::int64_t offset = 0;
};
struct SpaceConversion {  ///< cvta.to.global.u64 d, a
  bool to_space = false;
};
struct Shuffle {  ///< shfl.sync.down.b32 d|p, a, b, c, members
  ShuffleMode mode = ShuffleMode::kIdx;
};
struct Vote {  ///< vote.sync.ballot.b32 d, p, members
  VoteMode mode = VoteMode::kAll;
};
struct Match {  ///< match.all.sync.b32 d|p, a, members
  MatchMode mode = MatchMode::kAny;
};
struct Joined {  ///< redux.sync.add.s32 d, a, members
  Atomic operation = Atomic::kNone;
};
struct BlockBarrier {  ///< bar.red.popc.u32 d, a, b, p
  BarrierMode mode = BarrierMode::kSync;
  Atomic operation = Atomic::kNone;
  bool counts_all = false;  ///< no thread count: waits for every thread
};
struct Access {  ///< ld.global.u32 d, [a + 16]
  std::int64_t offset = 0;
  std::uint8_t address_bits = 64;  ///< of the address register
  bool in_frame = false;           ///< relative to the lane's frame: locals and call parameters
};
struct AtomicAccess {  ///< atom.shared.cas.b32 d, [a], b, c
  Access at = {};
  Atomic operation = Atomic::kNone;
  WarpAggregation aggregation = WarpAggregation::kNever;
};
struct AsyncCopy {  ///< cp.async.ca.shared.global [to], [from], 16
  CopyMode mode = CopyMode::kCopy;
  std::uint8_t bytes = 0;    ///< a lane
  std::uint32_t groups = 0;  ///< kWaitGroup: that may stay open
  Access to = {};            ///< kArrive: the mbarrier
  std::int64_t from_offset = 0;
  Access from = {}, barrier = {};  ///< of bulk copies
};
struct MbarrierOperation {  ///< mbarrier.try_wait.parity.shared.b64 p, [a], b
  MbarrierMode mode = MbarrierMode::kInit;
  Access at = {};
};
struct Fetch {  ///< tld4.g.2d.v4.f32.f32 {d}, [texture, {x, y}]
  Geometry geometry = Geometry::k1d;
  LevelMode level = LevelMode::kNone;
  std::uint8_t channel = 0;  ///< of tld4
};
struct SurfaceAccess {  ///< sured.b.add.2d.u32.trap [surface, {x, y}], a
  Geometry geometry = Geometry::k1d;
  Edge edge = Edge::kTrap;
  Atomic operation = Atomic::kNone;
};
struct TextureQuery {  ///< txq.width.b32 d, [texture]
  Query what = Query::kOther;
};
struct Video {  ///< vset2.s32.u32.lt.add d, a, b, c
  bool signed_d = false, signed_a = false, signed_b = false;
  bool sums = false;
  Comparison comparison = Comparison::kEq;
};
struct Branch {                      ///< @p bra label
  std::uint32_t target = kNoTarget;  ///< an instruction; while decoding, perhaps a label
  bool is_label = false;
  std::uint32_t meeting = kNoTarget;  ///< where its two ways meet again (post-dominator)
};
struct BranchList {                ///< brx.idx a, list
  std::uint32_t list = kNoTarget;  ///< index into Function::branch_lists
};
struct CallSite {                    ///< call (d), function, (a)
  std::uint32_t callee = kNoTarget;  ///< function; kNoTarget: through s[0]
  std::uint32_t call = kNoTarget;    ///< index into Function::calls
};

using Detail =
    std::variant<std::monostate, Compare, Arithmetic, Packing, TruthTable, Permutation, Property,
                 Move, LiveRead, FrameAddress, SpaceConversion, Shuffle, Vote, Match, Joined,
                 BlockBarrier, Access, AtomicAccess, AsyncCopy, MbarrierOperation, Fetch,
                 SurfaceAccess, TextureQuery, Video, Branch, BranchList, CallSite>;

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
  kWaits = 1u << 14,         ///< a volatile load that a loop waits with: see link/spin_loops.cpp
  kShiftAmt = 1u << 15,      ///< bfind.shiftamt
  kWrap = 1u << 16,          ///< shf.wrap, clamp otherwise
  kLeft = 1u << 17,          ///< shf.l
  kNoComplete = 1u << 18,    ///< mbarrier, .noinc of cp.async.mbarrier
  kNonCoherent = 1u << 19,   ///< ld.global.nc
  kConstantMemory = 1u << 20,
  kHidden = 1u << 21,       ///< made by the decoder; not counted as an instruction
  kNoUnroll = 1u << 22,     ///< past `.pragma "nounroll"`
  kParamMemory = 1u << 23,  ///< ld/st.param inside a function: a frame access that is not counted
  kBackward = 1u << 24,     ///< a branch to an earlier instruction
  kSpinLoop = 1u << 25,  ///< that loop can wait for another thread: it reads what others may write
  kPollLoop = 1u << 26,  ///< that loop surely polls: atomics, volatile or acquire reads
  kUnrolled = 1u << 27,  ///< one for several iterations of its loop: see kUnrollFactor
  kStartsGlobalBatch = 1u << 29,  ///< the first of a load batch: see ptxas/passes.hpp
  kStartsSharedBatch = 1u << 30,
  kCompared = 1u << 31,  ///< a load that a compare-and-swap checks again: see link/spin_loops.cpp
  kUnsupportedForm = 1u << 28  ///< a suffix or operand nobody knows: faults when executed
};

/// One instruction: what all have, and the detail of its shape.
struct Instruction {
  Opcode opcode{};
  ptx::ScalarType type = ptx::ScalarType::kNone;   ///< first type suffix
  ptx::ScalarType type2 = ptx::ScalarType::kNone;  ///< second: source of cvt, set, tex coordinates
  ptx::StateSpace space = ptx::StateSpace::kNone;  ///< first space suffix
  Unit unit = Unit::kControl;
  Rounding rounding = Rounding::kNone;
  Order order = Order::kWeak;
  Scope scope = Scope::kNone;
  std::uint8_t vector = 1;    ///< elements a lane: 1, 2, 4 (8)
  std::uint8_t d_slots = 1;   ///< slots of each destination register: 1, 2 or 4
  std::uint8_t s_slots = 1;   ///< slots of each data source register
  bool fused = false;         ///< part of another instruction: see ptxas/passes.hpp
  bool second_half = false;   ///< fused, and beyond the first 8 bytes of a lane
  bool only_decides = false;  ///< what is read goes into branches alone; see link/decoder.hpp
  std::uint8_t iterations_together = 1;  ///< of a loop, whose loads are in flight at once
  std::uint8_t led_bytes = 0;            ///< of the vector that this load leads
  std::uint8_t issued_bytes = 0;         ///< a lane, in the machine code: see machine_accesses.hpp
  std::uint32_t flags = 0;
  Value guard = {};
  std::array<Value, 4> d = {};  ///< destinations
  std::array<Value, 8> s = {};  ///< sources in the order of the shape; an address comes first
  Detail detail = {};
  std::uint32_t ptx_line = 0;
  std::string_view mnemonic = {};  ///< as written; lives as long as the Program

  [[nodiscard]] bool has(std::uint32_t flag) const { return (flags & flag) != 0; }
  /// The detail; where the instruction has none yet, the one of an instruction without suffixes.
  template <typename T>
  [[nodiscard]] const T& as() const {
    static constexpr T kDefault{};
    const T* found = std::get_if<T>(&detail);
    return found != nullptr ? *found : kDefault;
  }
  /// The same to be changed; replaces the detail of another shape.
  template <typename T>
  [[nodiscard]] T& make() {
    if (!std::holds_alternative<T>(detail)) detail = T{};
    return std::get<T>(detail);
  }
};

/// Iterations of a small loop that ptxas makes one. Measured on an H200: clock/kernels.cu and the
/// pairs of gpu_truth/advice that count in loops run as if by 4.
inline constexpr std::uint32_t kUnrollFactor = 4;

/// Is it executed once for kUnrollFactor iterations? Of a loop's loads only the waits are shared.
[[nodiscard]] inline bool runs_once_per_unrolled_body(const Instruction& in) {
  return in.has(kUnrolled);
}

/// The memory operand of a load, a store, an atomic, a copy or an mbarrier.
[[nodiscard]] inline const Access& access_of(const Instruction& in) {
  if (const auto* atomic = std::get_if<AtomicAccess>(&in.detail)) return atomic->at;
  if (const auto* copy = std::get_if<AsyncCopy>(&in.detail)) return copy->to;
  if (const auto* barrier = std::get_if<MbarrierOperation>(&in.detail)) return barrier->at;
  return in.as<Access>();
}

/// True for an atomic addition of 16 bits. The hardware has none: ptxas makes a loop of it that
/// loads the word around them, adds, and compares and swaps (seen in the machine code for 9.0).
[[nodiscard]] inline bool loops_on_a_word(const Instruction& in) {
  return in.as<AtomicAccess>().operation == Atomic::kAdd && in.vector == 1 &&
         ptx::is_float(in.type) && ptx::size_bytes(in.type) == 2;
}

}  // namespace membound::vgpu::program
