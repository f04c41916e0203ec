// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/checker_list.hpp"

#include <algorithm>
#include <bit>

namespace membound::vgpu::exec {
namespace {

bool reads_one_place(const WarpAccess& access) {
  if (access.mask == 0xFFFFFFFFu) return access.shape == LanePattern::kSame;
  const int first = std::countr_zero(access.mask);
  for (std::uint32_t rest = access.mask & (access.mask - 1); rest != 0; rest &= rest - 1)
    if (access.addresses[std::countr_zero(rest)] != access.addresses[first]) return false;
  return true;
}

}  // namespace

CheckerList::CheckerList(Launch& launch) : launch_(launch), rows_(row_loops()), states_(launch) {
#define MEMBOUND_KERNEL_CHECKER(name, at_right_results, words, finds) \
  if (launch.request->checks.name) add_checker(make_##name(launch, findings_));
#include "grader/device_code/checkers/checkers.def"
}

void CheckerList::add_checker(std::unique_ptr<KernelChecker> checker) {
  add(*checker);
  if (checker->hears_all_blocks()) deaf_.hearer = checker.get();
  if (checker->hears_accesses()) listeners_.push_back(checker.get());
  if (!checker->hears_accesses() || checker->hears_all_blocks()) deaf_.add(*checker);
  checkers_.push_back(std::move(checker));
}

void CheckerList::block_begins(Block& block) {
  SettledReads& settled = states_.obtain(block).settled;
  settled.begin_period();
  for (Warp& w : block.warps)
    w.settled = launch_.observer->wants_settled_reads() ? nullptr : &settled;
  ObserverList::block_begins(block);
}

void CheckerList::opens(Block& block, std::uint32_t id) {
  ObserverList::opens(block, id);
  states_.of(block).settled.begin_period();
}

WarpAccess CheckerList::with_shape(const WarpAccess& access) const {
  WarpAccess known = access;
  if (access.shape == LanePattern::kUnknown)
    known.shape = access.mask == 0xFFFFFFFFu ? rows_.shape(access.addresses, access.bytes)
                                             : LanePattern::kOther;
  return known;
}

void CheckerList::copies_land(const WarpAccess& access) {
  states_.of(*access.warp->block).settled.begin_period();
  const WarpAccess known = with_shape(access);
  for (KernelChecker* checker : listeners_) checker->check_landing(known);
}

void CheckerList::access(const WarpAccess& access) {
  if (access.space == ptx::StateSpace::kLocal) {
    for (KernelChecker* checker : listeners_) checker->check_local(access);
    return;
  }
  if (listeners_.empty()) return;
  // A block that is left out may be what orders two that are not: with flags in global memory.
  if (launch_.sample.leaves_out_some() && launch_.kernel->communicates_between_blocks &&
      access.space != ptx::StateSpace::kShared)
    return;
  SettledReads& settled = states_.of(*access.warp->block).settled;
  const WarpAccess known = with_shape(access);
  const bool shared = access.space == ptx::StateSpace::kShared;
  const bool load = access.kind == AccessKind::kLoad;
  if (access.shape == LanePattern::kUnknown && shared && load &&
      settled.has(access.addresses[0], access.bytes, known.shape))
    return;
  if (shared && !load) settled.begin_period();
  const std::uint32_t lanes =
      load && reads_one_place(known) ? access.mask & (0u - access.mask) : access.mask;
  bool some_settled = false, some_matter = false;
  for (KernelChecker* checker : listeners_) {
    const SameRead same = checker->check(known, lanes);
    some_settled |= same == SameRead::kSettled;
    some_matter |= same == SameRead::kMatters;
  }
  if (some_settled && !some_matter && shared && known.shape != LanePattern::kOther)
    settled.add(access.addresses[0], access.bytes, known.shape);
}

bool CheckerList::must_repeat() const {
  return std::any_of(checkers_.begin(), checkers_.end(),
                     [](const auto& checker) { return checker->must_repeat(); });
}

void CheckerList::take_back() {
  for (const auto& checker : checkers_) checker->take_back();
}

std::vector<CheckReport> CheckerList::take_reports() {
  for (const auto& checker : checkers_) checker->launch_ends();
  return findings_.take(launch_.request->checks.max_reports);
}

}  // namespace membound::vgpu::exec
