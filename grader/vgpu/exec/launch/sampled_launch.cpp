// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "grader/vgpu/exec/launch/block_strata.hpp"
#include "grader/vgpu/exec/launch/prepare.hpp"
#include "grader/vgpu/exec/state/last_block_pattern.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

/// Of one launch.
struct SampleLimits {
  std::uint64_t wanted = 0;  ///< SampleOrder::instructions
  bool some_warps = false;   ///< of each block: SampleOrder::some_warps

  /// Block 0, which runs alone: a tile of 128 x 128 takes 2.3 million.
  static constexpr std::uint64_t kMostAlone = std::uint64_t{1} << 23;
  /// All blocks, where they prepare what a sample needs.
  static constexpr std::uint64_t kMostBefore = std::uint64_t{1} << 23;

  /// So many blocks that run at once.
  [[nodiscard]] std::uint64_t most_at_once(std::uint64_t blocks) const {
    return some_warps ? kMostOfWarps * blocks : kMostAtOnce;
  }
  /// Of the blocks that an SM holds, so many run, where one takes `of_block`.
  [[nodiscard]] std::uint32_t blocks_of_sm(std::uint64_t of_block, std::uint32_t held) const {
    if (some_warps) return 1;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kManyAtOnce / of_block, 1, held));
  }
  /// Groups of a draw, where one takes `of_group`.
  [[nodiscard]] std::uint32_t groups(std::uint64_t of_group) const {
    if (some_warps) return 2;  // at once: what they take is known, and two are compared
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(wanted / (4 * of_group), 1, kMostGroups));
  }
  /// Where a block takes so much, one run for its own sake is enough.
  [[nodiscard]] bool is_much(std::uint64_t of_block) const { return of_block >= wanted / 8; }

 private:
  static constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 24;
  /// A block of which only some warps run: with a row of 1568 x 1568 results of min-plus for each
  /// thread a warp takes 17 million.
  static constexpr std::uint64_t kMostOfWarps = std::uint64_t{1} << 25;
  /// Where the blocks that an SM holds would take more than this, fewer of them run: one at least.
  /// A tile of 64 x 64 results of a product of 2048 x 2048 takes 0.66 million.
  static constexpr std::uint64_t kManyAtOnce = std::uint64_t{1} << 21;
  static constexpr std::uint32_t kMostGroups = 12;  ///< even for what repeats every 2, 3, 4, 6
};

constexpr std::uint32_t kFewestDraws = 2, kMostDraws = 8;  ///< as far as instructions last
constexpr double kSmallError = 0.01;  ///< below, more blocks would tell nothing
constexpr double kLargeError = 0.05;  ///< above, the sample tells nothing

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", share * 100);
  return text;
}

/// The runs of neighbours among these blocks, in order.
std::vector<std::array<std::uint64_t, 2>> runs_of(std::vector<std::uint64_t> blocks) {
  std::ranges::sort(blocks);
  std::vector<std::array<std::uint64_t, 2>> runs;
  for (const std::uint64_t block : blocks) {
    if (!runs.empty() && runs.back()[0] + runs.back()[1] == block)
      ++runs.back()[1];
    else
      runs.push_back({block, 1});
  }
  return runs;
}

/// Whether nothing joins a block's warps: no shared memory, no barrier, nothing that tells others.
bool has_independent_warps(const Launch& launch) {
  if (launch.shared_bytes != 0 || launch.kernel->communicates_between_blocks) return false;
  return std::ranges::none_of(launch.code, [](const FunctionCode& code) {
    return std::ranges::any_of(code.function->code, program::is_block_barrier);
  });
}

/// The chosen blocks of one launch, stratum by stratum.
class Sampler {
 public:
  Sampler(LaunchRequest& request, Launch& state, LaunchReport& report)
      : request_(request),
        state_(state),
        report_(report),
        limits_{request.sample->instructions, request.sample->some_warps},
        slots_(std::max(1u, request.caches.resident_blocks_per_sm)) {
    if (request.kernel->counts_arrivals) state.last_block = &last_block_.emplace(state);
    state.some_warps = request.sample->some_warps;
  }

  /// False: a fault, or the report says why this cannot be done.
  bool run() {
    if ((!limits_.some_warps && !run_first()) || !run_some()) return false;
    const double error = error_of(works_);
    return error <= kLargeError || give_up_as_unequal(error);
  }

  /// All blocks. Where that is much, those that a sample would have are counted, and the others
  /// only leave their results, unless the sample tells nothing. False likewise.
  bool run_all() {
    if (!run_first()) return false;
    const std::uint64_t all = of_block_ * request_.grid.count();
    if (all > SampleLimits::kMostBefore)
      return give_up("a launch before the last takes too many instructions");
    if (request_.grid.count() == 1) return true;
    if (all <= request_.sample->instructions) {
      works_.resize(2);
      if (!count_others(1, {1, request_.grid.count() - 1})) return false;
    } else if (!run_some() || !(error_of(works_) <= kLargeError ? run_others() : count_others())) {
      return false;
    }
    // Places of the output that this launch wrote, and the sampled one did not, would look wrong.
    return !request_.memory->lazy_output_was_touched() ||
           give_up("a launch before the last uses the output");
  }

  void finish() {
    report_.counters = scaled(works_, request_.caches.l2_bytes,
                              std::uint64_t{std::max(1u, request_.sm_count)} * slots_);
    report_.warp_instructions = spent_;
    SampleFacts facts{
        0, request_.grid.count(), error_of(works_), 0, 0, last_block_ && last_block_->any()};
    std::uint64_t left_warps = 0;
    for (const StratumWork& work : works_) {
      left_warps += work.left_warps;
      facts.blocks += work.of.size();
      facts.stored_bytes += work.counters.totals.global_store_bytes;
      facts.loaded_bytes += work.counters.totals.global_load_bytes;
    }
    facts.warps -= real(left_warps) / real(facts.blocks * state_.warps_per_block);
    facts.prepares = request_.sample->all;
    if (!facts.prepares) facts.ran = runs_of(std::move(ran_));
    if (!facts.prepares || facts.blocks < facts.of) report_.sample = facts;
  }

 private:
  /// The last block, too, unless blocks take long; where that is known before, it alone, since it
  /// may have less to do.
  [[nodiscard]] BlockChoice::Ends ends() const {
    using enum BlockChoice::Ends;
    if (limits_.some_warps) return kLast;
    return last_block_ || !limits_.is_much(of_block_) ? kBoth : kFirst;
  }

  /// Those that stand for all, but for block 0 where that has run.
  bool run_some() {
    choice_.emplace(request_.grid.count(), std::max(1u, request_.sm_count), slots_,
                    request_.sample->seed, ends(), limits_.blocks_of_sm(of_block_, slots_));
    const std::size_t fresh = limits_.some_warps ? 0 : 1;
    const std::size_t strata = choice_->strata().size();
    groups_.resize(strata, 0);
    const bool last_waits = last_block_ && strata > 1;  // until all others have run
    works_.resize(last_waits ? strata - 1 : strata);
    for (std::size_t i = fresh; i < works_.size(); ++i)
      if (!run_draw(i, 0)) return false;
    for (std::uint32_t draw = 1; draw < kMostDraws; ++draw) {
      const bool known = draw >= kFewestDraws && error_of(works_) <= kSmallError;
      const bool is_spent = spent_ >= request_.sample->instructions;
      if (known || (is_spent && std::ranges::all_of(works_, is_compared))) break;
      for (std::size_t i = fresh; i < works_.size(); ++i)
        if (!(is_spent && is_compared(works_[i])) && !run_draw(i, draw)) return false;
    }
    if (last_waits) {
      works_.emplace_back();
      if (!run_draw(strata - 1, 0)) return false;
    }
    return true;
  }

  /// Of these those that have not run yet.
  [[nodiscard]] std::vector<std::uint64_t> others(const Stratum& among) {
    std::ranges::sort(ran_);
    std::vector<std::uint64_t> left;
    auto ran = std::ranges::lower_bound(ran_, among.first);
    for (std::uint64_t block = among.first; block < among.first + among.blocks; ++block)
      if (ran != ran_.end() && *ran == block)
        ++ran;
      else
        left.push_back(block);
    return left;
  }

  bool count_others(std::size_t i, const Stratum& stratum) {
    std::vector<std::uint64_t> left = others(stratum);
    return left.empty() || run_blocks(i, stratum.blocks, std::move(left),
                                      std::max(1u, request_.sm_count), SampleLimits::kMostBefore);
  }
  bool count_others() {
    for (std::size_t i = 1; i < works_.size(); ++i)
      if (!count_others(i, choice_->strata()[i])) return false;
    return true;
  }

  /// Without asking what they cost.
  bool run_others() {
    std::vector<std::uint64_t> left = others({0, request_.grid.count()});
    if (left.empty()) return true;
    request_.limits.warp_instructions = SampleLimits::kMostBefore;
    const double all = real(spent_ + run_uncounted(state_, std::move(left)));
    if (state_.fault && state_.fault->kind == FaultKind::kStepLimit) return give_up_in_the_middle();
    report_.fault = std::move(state_.fault);
    if (report_.fault) return false;
    // A few blocks that do much more, none of which was counted, show now that all have run.
    double said = 0;
    for (const StratumWork& work : works_)
      said +=
          real(work.counters.totals.warp_instructions) * real(work.blocks) / real(work.of.size());
    const double error = std::abs(said - all) / all;
    return error <= kLargeError || give_up_as_unequal(error);
  }
  static double real(std::uint64_t value) { return static_cast<double>(value); }

  bool give_up_as_unequal(double error) {
    return give_up("its blocks do unequal work: what a sample says may be off by " +
                   percent(error));
  }
  bool give_up_in_the_middle() {
    report_.warp_instructions = request_.limits.warp_instructions;
    return give_up(kTooManyInstructions);
  }

  bool give_up(std::string why) {
    report_.unsampled = std::move(why);
    if (last_block_) last_block_->take_back();
    return false;
  }

  bool run_first() {
    const bool ran = run_blocks(0, 1, {0}, 1, SampleLimits::kMostAlone);
    of_block_ = std::max<std::uint64_t>(1, spent_);
    return ran;
  }

  /// Of a block alone nobody knows whether its neighbours are like it.
  static bool is_compared(const StratumWork& work) {
    return work.blocks == 1 || work.of.size() > 1;
  }

  /// As many groups as the budget allows, going by what block 0 did.
  std::uint32_t groups_for(const Stratum& stratum) const {
    if (stratum.blocks == 1) return 1;
    const std::uint64_t at_once =
        std::min<std::uint64_t>(slots_, stratum.blocks / request_.sm_count + 1);
    return limits_.groups(of_block_ * at_once);
  }

  bool run_draw(std::size_t i, std::uint32_t draw) {
    const Stratum& stratum = choice_->strata()[i];
    if (draw == 0) groups_[i] = groups_for(stratum);
    std::uint32_t groups = groups_[i];
    std::vector<std::uint64_t> blocks = choice_->take(stratum, groups, draw);
    if (blocks.empty()) return true;
    const std::uint64_t at_once =
        std::min(stratum.blocks, std::uint64_t{std::max(1u, request_.sm_count)} * slots_);
    state_.l2_part =
        std::min(1.0, static_cast<double>(blocks.size()) / static_cast<double>(at_once));
    state_.l1_part = blocks.size() < stratum.blocks ? choice_->part_of_group(stratum) : 1;
    const std::uint64_t most = limits_.most_at_once(blocks.size());
    return run_blocks(i, stratum.blocks, std::move(blocks), groups, most);
  }

  /// Adds what these blocks of stratum `i`, which has so many, do; false likewise.
  bool run_blocks(std::size_t i, std::uint64_t of, std::vector<std::uint64_t> blocks,
                  std::uint32_t groups, std::uint64_t most) {
    request_.limits.warp_instructions = most;
    ran_.insert(ran_.end(), blocks.begin(), blocks.end());
    StratumWork work =
        count_blocks(state_, std::move(blocks), groups, last_block_ ? &*last_block_ : nullptr);
    work.blocks = of;
    const std::uint64_t ran = work.counters.totals.warp_instructions;
    spent_ += ran;
    if (last_block_ && !last_block_->why_not().empty()) return give_up(last_block_->why_not());
    const bool too_many = state_.fault && state_.fault->kind == FaultKind::kStepLimit;
    if (too_many || ran > most) {
      report_.l1_kept = work.l1_kept;
      return give_up_in_the_middle();
    }
    report_.fault = std::move(state_.fault);
    works_[i].add(std::move(work));
    return !report_.fault;
  }

  LaunchRequest& request_;
  Launch& state_;
  LaunchReport& report_;
  SampleLimits limits_;
  std::uint32_t slots_;  // for blocks, on an SM
  std::optional<LastBlockPattern> last_block_;
  std::optional<BlockChoice> choice_;
  std::vector<StratumWork> works_ = std::vector<StratumWork>(1);  // by stratum
  std::vector<std::uint32_t> groups_;                             // of a draw
  std::uint64_t spent_ = 0, of_block_ = 0;
  std::vector<std::uint64_t> ran_;
};

}  // namespace

std::string why_not_sampled(const LaunchRequest& request) {
  // What a last block alone may learn is shown to it where a launch is timed.
  const bool is_shown = request.kernel->counts_arrivals && !request.checks.of_kernels() &&
                        !(request.sample && request.sample->all);
  if (request.cooperative || (request.kernel->communicates_between_blocks && !is_shown))
    return "its blocks may learn from each other";
  return request.tracing.listener == nullptr ? "" : "a trace looks on at all blocks";
}

LaunchReport run_sampled(const LaunchRequest& asked) {
  LaunchReport report;
  report.unsampled = why_not_sampled(asked);
  if (!report.unsampled.empty()) return report;
  LaunchRequest request = asked;
  request.shuffle_seed.reset();
  request.limits.cpu_ns_per_instruction *= 2;  // what may run is not to depend on the host's speed
  Launch state;
  Workspace workspace(*request.memory);
  set_up(state, request, workspace);
  prepare(state, best_variant());
  if (request.sample->some_warps && (!request.sample->l1_kept || !has_independent_warps(state))) {
    report.unsampled = kTooManyInstructions;
    report.warp_instructions = SampleLimits::kMostAlone;
    return report;
  }
  Sampler sampler(request, state, report);
  if (request.sample->all ? sampler.run_all() : sampler.run()) sampler.finish();
  return report;
}

}  // namespace membound::vgpu::exec
