// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/critical_path/critical_path.hpp"

#include <algorithm>

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/instruction.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

using program::Cost;
using program::Instruction;
using program::Opcode;
using program::Value;
using program::ValueKind;

constexpr double kQuarters = 4;

bool is_global_store(const Instruction& in) {
  return program::shape_of(in) == program::Shape::kStore && !in.has(program::kParamMemory) &&
         in.space != ptx::StateSpace::kShared && in.space != ptx::StateSpace::kLocal;
}

bool is_copy_wait(const Instruction& in) {
  if (in.opcode != Opcode::kCpAsync) return false;
  const auto mode = in.as<program::AsyncCopy>().mode;
  return mode == program::CopyMode::kWaitGroup || mode == program::CopyMode::kWaitAll;
}

bool moves_data(program::CopyMode mode) {
  return mode == program::CopyMode::kCopy || mode == program::CopyMode::kBulkLoad ||
         mode == program::CopyMode::kBulkStore;
}

bool accesses_shared(const Instruction& in) {
  return (program::accesses_memory(in) && in.space == ptx::StateSpace::kShared) ||
         (in.opcode == Opcode::kCpAsync && moves_data(in.as<program::AsyncCopy>().mode));
}

/// One warp alone. The compiler orders the instructions between two branches so that they wait as
/// little as can be: they take as long as their issue, or as the longest chain of results.
class Path {
 public:
  explicit Path(const program::CostTable& costs) : costs_(costs) {}

  [[nodiscard]] PathSum sums() const {
    // Sums wrap, and so do their differences: only what one phase asks must fit.
    return PathSum{static_cast<std::uint32_t>(static_cast<std::uint64_t>(slots_ * kQuarters)),
                   static_cast<std::uint32_t>(static_cast<std::uint64_t>(start_ + issued_)),
                   batches_, shared_};
  }

  /// What follows depends on nothing before it that is still under way.
  void end_segment() {
    start_ += std::max(issued_, longest_);
    issued_ = longest_ = 0;
    ++segment_;
  }
  void begin_function(std::size_t registers, std::size_t predicates) {
    end_segment();
    depth_.assign(registers, {});
    predicate_depth_.assign(predicates, {});
    stored_ = false;
  }

  void add(const program::Function& function, const Instruction& in) {
    if (in.has(program::kHidden)) return;
    const Cost cost = program::cost_of(function, in);
    const program::ClassCost& each = costs_[cost];
    const double share =
        program::runs_once_per_unrolled_body(in) ? 1.0 / program::kUnrollFactor : 1;
    slots_ += each.issue_slots() * share;
    issued_ += each.slots * share;
    count_waits(in, cost);
    double depth = depth_of(in.guard);
    for (const Value& value : in.s) depth = std::max(depth, depth_of(value));
    // What comes from global memory is waited for in batches.
    const bool loads = in.unit == program::Unit::kMemory || in.unit == program::Unit::kAtomic;
    const bool in_batches = loads && in.space != ptx::StateSpace::kShared &&
                            in.space != ptx::StateSpace::kLocal &&
                            !in.has(program::kConstantMemory);
    // Of a loop that ptxas repeats only every fourth iteration counts and jumps, beside what the
    // others compute.
    const bool jumps = in.has(program::kBackward) && in.guard.kind == ValueKind::kPredicate;
    const bool joined_load = in.fused && in.unit == program::Unit::kMemory;
    const double waited = costs_[joined_load ? Cost::kLsu : cost].latency_clocks;
    const double latency = in_batches ? 0 : jumps ? costs_.jump_back_clocks : waited;
    depth += latency * share;
    longest_ = std::max(longest_, depth);
    for (const Value& value : in.d) set_depth(value, depth);
    if (!ends_segment(cost)) return;
    // Its latency is all that a warp alone takes for it, slots among it.
    if (waits_itself(cost)) issued_ += std::max(0.0, each.latency_clocks - each.slots);
    end_segment();
  }

 private:
  struct Depth {
    std::uint32_t segment = 0;
    double clocks = 0;  ///< after the segment's start, until the value is there
  };

  /// Instructions after which nothing goes on before they have ended.
  static bool waits_itself(Cost cost) {
    return cost == Cost::kFenceBlock || cost == Cost::kFenceDevice || cost == Cost::kFenceSystem ||
           cost == Cost::kCall || cost == Cost::kRuntimeCall;
  }
  static bool ends_segment(Cost cost) {
    return waits_itself(cost) || cost == Cost::kControl || cost == Cost::kBarrier;
  }

  void count_waits(const Instruction& in, Cost cost) {
    const bool fences = cost == Cost::kFenceDevice || cost == Cost::kFenceSystem;
    const bool waits = in.has(program::kStartsGlobalBatch) || is_copy_wait(in) ||
                       (fences && stored_) ||
                       (cost == Cost::kTexture && in.d[0] && !program::is_fetch(in));
    if (waits) batches_ += program::kUnrollFactor / in.iterations_together;
    shared_ += accesses_shared(in) && !in.fused;
    if (is_global_store(in)) stored_ = true;
    if (fences) stored_ = false;
  }

  [[nodiscard]] double depth_of(const Value& value) const {
    const bool predicate = value.kind == ValueKind::kPredicate;
    if (!predicate && value.kind != ValueKind::kRegister) return 0;
    const Depth& depth = (predicate ? predicate_depth_ : depth_)[value.index];
    return depth.segment == segment_ ? depth.clocks : 0;
  }
  void set_depth(const Value& value, double clocks) {
    const bool predicate = value.kind == ValueKind::kPredicate;
    if (!predicate && value.kind != ValueKind::kRegister) return;
    (predicate ? predicate_depth_ : depth_)[value.index] = {segment_, clocks};
  }

  const program::CostTable& costs_;
  std::vector<Depth> depth_, predicate_depth_;  ///< by register, by predicate
  std::uint32_t segment_ = 1;
  double start_ = 0, issued_ = 0, longest_ = 0, slots_ = 0;
  std::uint32_t batches_ = 0;  ///< times kUnrollFactor
  std::uint32_t shared_ = 0;
  bool stored_ = false;
};

}  // namespace

const program::CostTable& costs_of(const Launch& launch) {
  static const program::CostTable kDefault;
  return launch.request->costs != nullptr ? *launch.request->costs : kDefault;
}

std::vector<PathSum> critical_path(const Launch& launch) {
  std::vector<PathSum> weights;
  weights.reserve(launch.steps.size() + 1);
  Path path(costs_of(launch));
  for (const FunctionCode& code : launch.code) {
    path.begin_function(code.function->register_slots, code.function->predicate_count);
    const std::vector<bool> targets = program::branch_targets(*code.function);
    for (std::size_t i = 0; i < code.function->code.size(); ++i) {
      if (targets[i]) path.end_segment();
      weights.push_back(path.sums());
      path.add(*code.function, code.function->code[i]);
    }
  }
  path.end_segment();
  weights.resize(launch.steps.size() + 1, path.sums());
  if (!costs_of(launch).covers_waits) return weights;
  std::size_t step = 0;
  std::uint32_t all_hidden = 0;
  for (const FunctionCode& code : launch.code) {
    const std::span sums(weights);
    const auto hidden = hidden_latency(
        *code.function, sums.subspan(step, code.function->code.size() + 1), costs_of(launch));
    for (const std::uint32_t parts : hidden) {
      weights[step][kLoadBatches] -= all_hidden;
      all_hidden += parts;
      ++step;
    }
  }
  for (; step < weights.size(); ++step) weights[step][kLoadBatches] -= all_hidden;
  return weights;
}

}  // namespace membound::vgpu::exec
