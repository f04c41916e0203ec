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
#include <variant>

#include "grader/device_code/ptx/ast.hpp"
#include "grader/vgpu/program/details.hpp"

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
  kWaits = 1u << 14,         ///< a volatile load that a loop waits with: see waits.hpp
  kShiftAmt = 1u << 15,      ///< bfind.shiftamt
  kWrap = 1u << 16,          ///< shf.wrap, clamp otherwise
  kLeft = 1u << 17,          ///< shf.l
  kNoComplete = 1u << 18,    ///< mbarrier, .noinc of cp.async.mbarrier
  kNonCoherent = 1u << 19,   ///< ld.global.nc
  kConstantMemory = 1u << 20,
  kHidden = 1u << 21,       ///< made by the decoder; not counted as an instruction
  kNoUnroll = 1u << 22,     ///< behind `.pragma "nounroll"`
  kParamMemory = 1u << 23,  ///< ld/st.param inside a function: a frame access that is not counted
  kBackward = 1u << 24,     ///< a branch to an earlier instruction
  kSpinLoop = 1u << 25,  ///< that loop can wait for another thread: it reads what others may write
  kPollLoop = 1u << 26,  ///< that loop surely polls: atomics, volatile or acquire reads
  kUnrolled = 1u << 27,  ///< one for several rounds of its loop: see unrolling.hpp
  kStartsGlobalRound = 1u << 29,  ///< see rounds.hpp
  kStartsSharedRound = 1u << 30,
  kCompared = 1u << 31,        ///< a load that a compare-and-swap checks again: see comparisons.hpp
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
  std::uint8_t vector = 1;   ///< elements a lane: 1, 2, 4 (8)
  std::uint8_t d_slots = 1;  ///< slots of each destination register: 1, 2 or 4
  std::uint8_t s_slots = 1;  ///< slots of each data source register
  bool fused = false;        ///< part of another instruction: see fusion.hpp, vectors.hpp
  bool second_half = false;  ///< fused, and beyond the first 8 bytes of a lane: see vectors.hpp
  bool only_decides =
      false;  ///< a volatile load whose value goes into branches alone: see waits.hpp
  std::uint8_t rounds_together = 1;  ///< of a loop, whose loads are one wait: see unrolling.hpp
  std::uint8_t led_bytes = 0;        ///< of the vector that this load leads: see vectors.hpp
  std::uint8_t issued_bytes = 0;     ///< a lane, in the machine code: see machine_accesses.hpp
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
