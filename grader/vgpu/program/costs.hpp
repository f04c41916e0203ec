// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What instructions cost: their classes, and a table of what a machine takes for each.
/// Place in the chain: opcodes.def, costs.def -> [costs] -> timing's machines,
/// exec/critical_path/critical_path. Left out: memory beyond shared memory, whose latency depends
/// on where the data is found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace membound::vgpu::program {

struct Function;
struct Instruction;

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
  [[nodiscard]] const ClassCost& operator[](Cost cost) const {
    return of[static_cast<std::size_t>(cost)];
  }
};

/// The class of one instruction: its row's, by type, rounding and scope where the row says so.
[[nodiscard]] Cost cost_of(const Instruction& in);
/// The same for an instruction of `function`, which knows whom a call calls.
[[nodiscard]] Cost cost_of(const Function& function, const Instruction& in);

}  // namespace membound::vgpu::program
