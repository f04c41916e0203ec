// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An observer that passes everything on, so that several can look on, one behind the other.
/// Place in the chain: trace_observer -> cache_observer -> checker; each overrides what it is for.
#pragma once

#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {

/// Hears everything and tells the one behind it.
class PassingObserver : public Observer {
 public:
  /// `next` may be null.
  explicit PassingObserver(Observer* next) : next_(next) {}

  void access(const WarpAccess& access) override {
    if (next_ != nullptr) next_->access(access);
  }
  void barrier(Warp& warp, const Step* step, bool whole_warp) override {
    if (next_ != nullptr) next_->barrier(warp, step, whole_warp);
  }
  void collective(Warp& warp, const Step* step, std::uint32_t members,
                  std::uint32_t present) override {
    if (next_ != nullptr) next_->collective(warp, step, members, present);
  }
  void block_begins(Block& block) override {
    if (next_ != nullptr) next_->block_begins(block);
  }
  void block_ends(Block& block) override {
    if (next_ != nullptr) next_->block_ends(block);
  }
  void arrives(Warp& warp, std::uint32_t id) override {
    if (next_ != nullptr) next_->arrives(warp, id);
  }
  void opens(Block& block, std::uint32_t id) override {
    if (next_ != nullptr) next_->opens(block, id);
  }
  void lanes_meet(Warp& warp, std::uint32_t lanes) override {
    if (next_ != nullptr) next_->lanes_meet(warp, lanes);
  }
  void fence(Warp& warp, const Step* step) override {
    if (next_ != nullptr) next_->fence(warp, step);
  }
  void mbarrier(Warp& warp, std::uint32_t mask, const std::uint64_t* offsets,
                bool arrives) override {
    if (next_ != nullptr) next_->mbarrier(warp, mask, offsets, arrives);
  }
  void allocated(std::uint64_t address, std::uint64_t bytes) override {
    if (next_ != nullptr) next_->allocated(address, bytes);
  }
  bool bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) override {
    return next_ != nullptr && next_->bad_access(access, kind, lane);
  }

 private:
  Observer* next_;
};

}  // namespace membound::vgpu::exec
