// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One instruction made ready to run, and what is counted of it.
/// Place in the chain: launch/prepare makes it -> [step] -> handlers (lanes/ops_*.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "grader/vgpu/counters/step_counts.hpp"
#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::exec {

struct Warp;
struct Step;

/// Executes one step for the lanes of the running group; returns the next step, or `warp.stop`.
using Handler = const Step* (*)(Warp&, const Step*);

/// Where a Value is at run time: two bits choose the area, the rest is a byte offset in it.
/// Predicates: index * 2 + negated.
using Ref = std::uint32_t;
enum Area : std::uint32_t { kFrameArea, kConstantArea, kWarpArea, kBlockArea };
inline constexpr std::uint32_t kSlotBytes = 128;  ///< 32 words of 4 bytes
/// Behind the last slot of every area: the widest operand has four, whatever its register has.
inline constexpr std::uint32_t kSlackSlots = 3;

/// What a handler needs rarely.
struct Extra {
  std::array<Ref, 4> d{};
  std::array<Ref, 8> s{};
  Handler inner = nullptr;       ///< of a guarded step
  Handler whole = nullptr;       ///< of a step at which its warp may pause: guarded and all
  Handler as_written = nullptr;  ///< of an access that the machine code has otherwise
  const program::Instruction* in = nullptr;
  std::uint32_t function = 0;  ///< index into Launch::code
};

/// What steps have besides registers, by the shape of their operands.
struct AddressOperand {
  std::int64_t offset = 0;
};
struct BranchOperand {
  const Step* target = nullptr;
  std::int32_t cost = 0;  ///< what a backward branch takes of a time slice; see scheduler.hpp
};
struct CompareOperand {
  program::Combine combine = program::Combine::kNone;
  bool has_second = false;  ///< somebody wants the second destination
};
struct CollectiveOperand {
  bool has_second = false;  ///< the same
};
struct TruthTableOperand {
  std::uint32_t table = 0;
};

/// One instruction made ready to run.
struct alignas(64) Step {
  Handler handler = nullptr;
  const Extra* extra = nullptr;
  Ref d = 0, a = 0, b = 0, c = 0;
  union {  ///< the handler knows which
    AddressOperand address{};
    BranchOperand branch;
    CompareOperand compare;
    CollectiveOperand collective;
    TruthTableOperand lop3;
  };
  Ref guard = 0;
  std::uint32_t stats = 0;   ///< index of its StepStats
  std::uint16_t origin = 0;  ///< its number in Launch::origins; 0: none
};

/// The span of global memory an instruction touched last.
struct LastSpan {
  std::uint64_t span_begin = 1;  ///< addresses [begin, begin + bytes)
  std::uint64_t span_bytes = 0;
  std::int64_t host_offset = 0;
};

/// What one worker remembers and counts of one static memory instruction or branch.
struct alignas(64) StepStats : LastSpan, counters::StepCounts {};

/// What a stretch of code asks of its warp, added up in one operation. Wraps; see end_phase.
using PathSum = std::uint32_t __attribute__((vector_size(16)));
/// Rounds are counted kUnrolledRounds times (program/unrolling.hpp).
enum PathPart : std::uint8_t { kIssueSlots, kChainClocks, kLoadRounds, kSharedRequests };

}  // namespace membound::vgpu::exec
