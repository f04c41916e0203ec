// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/critical_path/critical_path.hpp"

#include <algorithm>
#include <optional>

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

namespace {

// How much of each load batch's latency other work hides, read from the code: the clocks between a
// load and the first use of its value, once around the loop where that comes at the loop's start;
// between an asynchronous copy and the wait for it.

/// Iterations of a loop whose count the code does not show: few, so that rather too little is
/// hidden.
constexpr double kUnknownIterations = 8;
/// However long a function is, it is looked at in a time that grows no faster.
constexpr std::size_t kMostSteps = 1'000'000, kMostStepsEach = 10'000;

struct Loop {
  std::size_t begin, end;  ///< first instruction, and the one after the jump back
};

/// Some of a function's registers; emptying it takes no longer than filling it did.
class RegisterSet {
 public:
  explicit RegisterSet(std::size_t registers) : has_(registers, false) {}
  void clear() {
    for (const std::uint32_t index : members_) has_[index] = false;
    members_.clear();
  }
  void add(const Value& value) {
    if (value.kind != ValueKind::kRegister || has_[value.index]) return;
    has_[value.index] = true;
    members_.push_back(value.index);
  }
  template <typename Values>
  void add_all(const Values& values) {
    for (const Value& value : values) add(value);
  }
  template <typename Values>
  [[nodiscard]] bool has_any(const Values& values) const {
    return std::any_of(values.begin(), values.end(), [&](const Value& value) {
      return value.kind == ValueKind::kRegister && has_[value.index];
    });
  }

 private:
  std::vector<bool> has_;
  std::vector<std::uint32_t> members_;
};

class Code {
 public:
  Code(const program::Function& function, std::span<const PathSum> sums)
      : code_(function.code),
        sums_(sums),
        fetched_(function.register_slots),
        needed_(function.register_slots),
        is_target_(program::branch_targets(function)) {
    for (std::size_t i = 0; i < code_.size(); ++i)
      if (code_[i].has(program::kBackward) && code_[i].opcode == Opcode::kBra)
        loops_.push_back({code_[i].as<program::Branch>().target, i + 1});
  }

  /// Clocks of what ptxas has after the load and PTX in front of it: ptxas moves a load up to
  /// where its address is known, unless something between may write what it reads.
  double moved_up(std::size_t load) {
    if (code_[load].order != program::Order::kWeak) return 0;
    needed_.clear();
    needed_.add_all(code_[load].s);
    double clocks = 0;
    std::size_t i = load;
    for (std::size_t step = 0; step < kMostStepsEach && i > 0 && !is_target_[i];
         ++step, ++steps_, --i) {
      const Instruction& in = code_[i - 1];
      if (stops_loads(in)) break;
      const bool gives = needed_.has_any(in.d);
      if (gives && program::accesses_memory(in) && !in.has(program::kParamMemory)) break;
      if (gives)
        needed_.add_all(in.s);
      else
        clocks += span(i - 1, i);
    }
    return clocks;
  }

  /// Clocks between the load and the first use of what its batch brings.
  double until_use(std::size_t load) {
    fetched_.clear();
    fetched_.add_all(code_[load].d);
    const std::optional<Loop> loop = innermost(load);
    double clocks = 0;
    bool same_batch = true;
    std::size_t i = load + 1;
    for (std::size_t step = 0; step < kMostStepsEach && i < code_.size(); ++step, ++steps_) {
      if (i == load) return clocks;  // once around
      const Instruction& in = code_[i];
      same_batch = same_batch && !in.has(program::kStartsGlobalBatch);
      if (uses(in)) return clocks;
      if (same_batch && is_global_load(in)) fetched_.add_all(in.d);
      clocks += span(i, i + 1);
      const bool turns = loop && i + 1 == loop->end;
      if (turns) {
        i = loop->begin;
        continue;
      }
      if (in.opcode == Opcode::kBra && !in.guard && in.as<program::Branch>().target > i) {
        i = in.as<program::Branch>().target;
        continue;
      }
      if (const auto inner = loop_that_ends(i + 1); inner && inner->begin > load)
        clocks += (kUnknownIterations - 1) * span(inner->begin, inner->end);
      ++i;
    }
    return 0;  // nothing is known
  }

  /// Clocks between the last copy and the wait for it, or for one some iterations ago.
  double since_copy(std::size_t wait) {
    const std::optional<Loop> loop = innermost(wait);
    const auto& copy = code_[wait].as<program::AsyncCopy>();
    if (copy.mode == program::CopyMode::kWaitGroup && copy.groups > 0)
      return loop ? copy.groups * span(loop->begin, loop->end) : 0;
    const std::size_t begin = loop ? loop->begin : 0;
    if (const auto before = last_copy(begin, wait)) return span(*before + 1, wait);
    if (!loop) return 0;
    const auto around = last_copy(wait, loop->end);
    return around ? span(*around + 1, loop->end) + span(begin, wait) : 0;
  }

  [[nodiscard]] bool is_tired() const { return steps_ > kMostSteps; }

 private:
  static bool stops_loads(const Instruction& in) {
    switch (program::shape_of(in)) {
      case program::Shape::kCall:
      case program::Shape::kBra:
      case program::Shape::kBrx:
      case program::Shape::kEnd:
      case program::Shape::kAtom:
      case program::Shape::kRed:
        return true;
      case program::Shape::kStore:
        return in.space != ptx::StateSpace::kShared && !in.has(program::kParamMemory);
      default:
        return program::info_of(in.opcode).cost == program::Cost::kBarrier ||
               program::info_of(in.opcode).cost == program::Cost::kFenceDevice;
    }
  }
  static bool is_global_load(const Instruction& in) {
    return program::shape_of(in) == program::Shape::kLoad && in.space != ptx::StateSpace::kShared &&
           !in.has(program::kParamMemory);
  }
  /// A move only gives what is on its way another name.
  bool uses(const Instruction& in) {
    const bool reads = fetched_.has_any(in.s);
    if (in.opcode == Opcode::kMov && !in.guard) {
      if (reads) fetched_.add_all(in.d);
      return false;
    }
    return reads;
  }

  [[nodiscard]] double span(std::size_t from, std::size_t to) const {
    const auto clocks = [&](std::size_t i) -> std::uint32_t { return sums_[i][kChainClocks]; };
    return clocks(to) - clocks(from);
  }
  std::optional<Loop> innermost(std::size_t at) {
    for (const Loop& loop : loops_) {
      ++steps_;
      if (loop.begin <= at && at < loop.end) return loop;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Loop> loop_that_ends(std::size_t end) const {
    const auto loop = std::lower_bound(loops_.begin(), loops_.end(), end,
                                       [](const Loop& l, std::size_t e) { return l.end < e; });
    return loop != loops_.end() && loop->end == end ? std::optional(*loop) : std::nullopt;
  }
  std::optional<std::size_t> last_copy(std::size_t begin, std::size_t end) {
    for (std::size_t i = end; i > begin; --i, ++steps_) {
      const Instruction& in = code_[i - 1];
      if (in.opcode == Opcode::kCpAsync &&
          in.as<program::AsyncCopy>().mode == program::CopyMode::kCopy)
        return i - 1;
    }
    return std::nullopt;
  }

  const std::vector<Instruction>& code_;
  std::span<const PathSum> sums_;
  std::vector<Loop> loops_;      ///< by their ends
  RegisterSet fetched_;          ///< on their way
  RegisterSet needed_;           ///< for an address
  std::vector<bool> is_target_;  ///< of a branch, by instruction
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<std::uint32_t> hidden_latency(const program::Function& function,
                                          std::span<const PathSum> sums,
                                          const program::CostTable& costs) {
  Code code(function, sums);
  std::vector<std::uint32_t> hidden(function.code.size(), 0);
  for (std::size_t i = 0; i < function.code.size() && !code.is_tired(); ++i) {
    const Instruction& in = function.code[i];
    const std::uint32_t parts = (sums[i + 1] - sums[i])[kLoadBatches];
    if (parts != program::kUnrollFactor) continue;
    double clocks = 0;
    if (in.has(program::kStartsGlobalBatch))
      clocks = (costs.moves_loads_up ? code.moved_up(i) : 0) + code.until_use(i);
    else if (in.opcode == Opcode::kCpAsync)
      clocks = code.since_copy(i);
    hidden[i] = static_cast<std::uint32_t>(std::min(1.0, clocks / costs.load_round_clocks) * parts);
  }
  return hidden;
}

}  // namespace membound::vgpu::exec
