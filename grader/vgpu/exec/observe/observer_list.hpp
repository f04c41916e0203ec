// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Several observers side by side.
/// Place in the chain: exec's handlers -> [observer_list] -> checker_list, cache_observer,
/// trace_observer.
#pragma once

#include <vector>

#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {

/// Tells each of them everything, in the order in which they were added.
class ObserverList : public Observer {
 public:
  void add(Observer& observer) { all_.push_back(&observer); }
  /// Whom to tell: nobody (null), the only one, or this list.
  [[nodiscard]] Observer* front() {
    return all_.empty() ? nullptr : all_.size() == 1 ? all_[0] : this;
  }

  void access(const WarpAccess& access) override {
    for (Observer* each : all_) each->access(access);
  }
  void copies_land(const WarpAccess& access) override {
    for (Observer* each : all_) each->copies_land(access);
  }
  void barrier(Warp& warp, const Step* step, bool whole_warp) override {
    for (Observer* each : all_) each->barrier(warp, step, whole_warp);
  }
  void collective(Warp& warp, const Step* step, std::uint32_t members, std::uint32_t present,
                  std::uint32_t strangers) override {
    for (Observer* each : all_) each->collective(warp, step, members, present, strangers);
  }
  void deserted_shuffle(Warp& warp, const Step* step, std::uint32_t lanes) override {
    for (Observer* each : all_) each->deserted_shuffle(warp, step, lanes);
  }
  void odd_shuffle(Warp& warp, const Step* step, std::uint32_t lane) override {
    for (Observer* each : all_) each->odd_shuffle(warp, step, lane);
  }
  void step(Warp& warp, const Step* step) override {
    for (Observer* each : all_) each->step(warp, step);
  }
  void enters(Warp& warp) override {
    for (Observer* each : all_) each->enters(warp);
  }
  void gap(Warp& warp, std::uint32_t lane, std::uint64_t offset) override {
    for (Observer* each : all_) each->gap(warp, lane, offset);
  }
  void exits(Warp& warp, const Step* step) override {
    for (Observer* each : all_) each->exits(warp, step);
  }
  void block_begins(Block& block) override {
    for (Observer* each : all_) each->block_begins(block);
  }
  void block_ends(Block& block) override {
    for (Observer* each : all_) each->block_ends(block);
  }
  void arrives(Warp& warp, std::uint32_t id) override {
    for (Observer* each : all_) each->arrives(warp, id);
  }
  void opens(Block& block, std::uint32_t id) override {
    for (Observer* each : all_) each->opens(block, id);
  }
  void lanes_meet(Warp& warp, std::uint32_t lanes) override {
    for (Observer* each : all_) each->lanes_meet(warp, lanes);
  }
  void fence(Warp& warp, const Step* step) override {
    for (Observer* each : all_) each->fence(warp, step);
  }
  void mbarrier(Warp& warp, std::uint32_t mask, const std::uint64_t* offsets,
                bool arrives) override {
    for (Observer* each : all_) each->mbarrier(warp, mask, offsets, arrives);
  }
  void allocated(std::uint64_t address, std::uint64_t bytes) override {
    for (Observer* each : all_) each->allocated(address, bytes);
  }
  bool bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) override {
    bool reported = false;
    for (Observer* each : all_) reported |= each->bad_access(access, kind, lane);
    return reported;
  }
  [[nodiscard]] bool wants_settled_reads() const override {
    bool wanted = false;
    for (const Observer* each : all_) wanted |= each->wants_settled_reads();
    return wanted;
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace membound::vgpu::exec
