// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The opcode table: the columns of opcodes.def that decoder and executor read, what each opcode
/// costs (costs.def), and what follows from an opcode about an instruction. Left out: memory beyond
/// shared memory, whose latency depends on where the data is found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::program {

struct Function;

/// What an instruction occupies on an SM.
enum class Cost : std::uint8_t {
#define MEMBOUND_COST(id, name, pipe, slots, latency, meaning) id,
#include "grader/vgpu/program/costs.def"
#undef MEMBOUND_COST
  kByType  ///< in opcodes.def only: by the instruction's type, see cost_of
};
inline constexpr std::size_t kCostClasses = static_cast<std::size_t>(Cost::kByType);

/// What an instruction keeps busy besides its slot of issue.
enum class Pipe : std::uint8_t { kIssue, kFp64, kSpecial, kCollective, kBarrier };

/// What a machine takes for one warp instruction of a class.
struct ClassCost {
  Pipe pipe = Pipe::kIssue;
  double slots = 1;           ///< of the pipe, four a clock and SM
  double latency_clocks = 0;  ///< until a warp alone can use the result
  [[nodiscard]] double issue_slots() const { return pipe == Pipe::kIssue || slots < 1 ? slots : 1; }
};

/// One machine's costs.
struct CostTable {
  std::array<ClassCost, kCostClasses> of = {{
#define MEMBOUND_COST(id, name, pipe, slots, latency, meaning) {Pipe::pipe, slots, latency},
#include "grader/vgpu/program/costs.def"
#undef MEMBOUND_COST
  }};
  double load_round_clocks =
      1000;  ///< a nominal wait for global memory: which warp is a phase's slowest?
  /// A warp waits for the predicate of a jump back, and until the instructions there are fetched.
  double jump_back_clocks = 18.4;
  bool covers_waits = true;    ///< other work covers the latency of loads, as far as the code shows
  bool moves_loads_up = true;  ///< and loads begin where their addresses are known
  [[nodiscard]] const ClassCost& operator[](Cost cost) const {
    return of[static_cast<std::size_t>(cost)];
  }
};

/// The class of one instruction: its row's, by type, rounding and scope where the row says so.
[[nodiscard]] Cost cost_of(const Instruction& in);
/// The same for an instruction of `function`, which knows whom a call calls.
[[nodiscard]] Cost cost_of(const Function& function, const Instruction& in);

/// How operands are laid out: D destination, A B C sources of the instruction's type, n a 32-bit
/// number whatever the type, P predicate; the others name their instruction.
enum class Shape : std::uint8_t {
  kDA,
  kDAB,
  kDABC,
  kDABP,
  kDAn,
  kDAnn,
  kDABnn,
  kDnn,
  kDnnn,
  kDAddress,
  kDest,
  kSourceOnly,
  kSlct,
  kSet,
  kSetp,
  kLop3,
  kMov,
  kCvt,
  kCvta,
  kLoad,
  kStore,
  kIgnored,
  kPolicy,
  kShfl,
  kCpAsync,
  kTex,
  kTxq,
  kSuld,
  kSust,
  kBra,
  kBrx,
  kCall,
  kEnd,  ///< ret, exit
  kNothing,
  kBar,
  kAtom,
  kRed,
  kVote,
  kMatch,
  kRedux,
  kElect,
  kMbarrier,
  kSleep,
  kAlloca,
  kMade,        ///< by the decoder; never written
  kUnsupported  ///< faults when executed
};

/// Which dotted words an opcode knows besides those common to all: see link/decode_suffixes.cpp.
enum class Suffixes : std::uint8_t {
  kCommon,  ///< no others
  kFree,    ///< any: they change nothing here, or the decoder of the shape reads them
  kHalves,
  kComparison,
  kAtomic,
  kJoined,
  kBarrier,
  kPacking,
  kPermutation,
  kProperty,
  kShuffle,
  kVote,
  kMatch,
  kTexture,
  kGather,
  kSurface,
  kSurfaceReduction,
  kVideo
};

/// Who chooses the handler: see exec/lanes/select.hpp.
enum class Family : std::uint8_t {
  kNone,     ///< nobody: faults
  kNothing,  ///< does nothing
  kArithmetic,
  kBits,
  kCompare,
  kConvert,
  kMove,
  kMemory,
  kControl,
  kVideo,
  kAtomic,
  kCollective,
  kSync,
  kCall,
  kAsync,
  kTexture
};

/// One row of opcodes.def.
struct OpcodeInfo {
  Opcode opcode;
  std::string_view name;
  Shape shape;
  Suffixes suffixes;
  Family family;
  std::uint8_t results;  ///< at most
  Unit unit;
  Cost cost;
  std::string_view section;
  std::string_view doc;
};

/// Every row, indexed by Opcode.
[[nodiscard]] std::span<const OpcodeInfo> all_opcodes();
/// The row of a base opcode ("ld"), or null.
[[nodiscard]] const OpcodeInfo* find_opcode(std::string_view name);
[[nodiscard]] const OpcodeInfo& info_of(Opcode opcode);
[[nodiscard]] inline Shape shape_of(const Instruction& in) { return info_of(in.opcode).shape; }

/// A texture fetch whose texel somebody wants.
[[nodiscard]] inline bool is_fetch(const Instruction& in) {
  return shape_of(in) == Shape::kTex && in.d[0];
}
/// Is destination or source `index` of the instruction a predicate? Else it is data.
[[nodiscard]] bool writes_predicate(const Instruction& in, std::size_t index);
[[nodiscard]] bool reads_predicate(const Instruction& in, std::size_t index);
/// Does the instruction read or write global, shared or local memory at an address?
[[nodiscard]] bool accesses_memory(const Instruction& in);
/// Is it a barrier of the block's threads, not of a warp's lanes?
[[nodiscard]] inline bool is_block_barrier(const Instruction& in) {
  return (in.opcode == Opcode::kBar || in.opcode == Opcode::kBarrier) &&
         in.as<BlockBarrier>().mode != BarrierMode::kWarp;
}

/// Is it of global memory, as far as the code shows?
[[nodiscard]] bool may_be_global(const Instruction& in);
/// Can the outcome depend on the order of blocks, or a block learn what another did?
[[nodiscard]] bool talks(const Instruction& in);
/// Of what talks: may it count who has arrived?
[[nodiscard]] bool counts_arrivals(const Instruction& in);

}  // namespace membound::vgpu::program
