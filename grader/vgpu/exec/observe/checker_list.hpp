// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The checkers that a launch asked for, as one observer.
#pragma once

#include <memory>
#include <vector>

#include "grader/vgpu/exec/observe/kernel_checker.hpp"
#include "grader/vgpu/exec/observe/race_rows.hpp"
#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {

/// One launch's checkers. What is found does not depend on the number of worker threads: a launch
/// of several workers whose findings would asks to be run again by one (`must_repeat`).
class CheckerList final : public ObserverList {
 public:
  /// Those that launch.request->checks switches on.
  explicit CheckerList(Launch& launch);

  void access(const WarpAccess& access) override;
  void copies_land(const WarpAccess& access) override;
  void block_begins(Block& block) override;
  void opens(Block& block, std::uint32_t id) override;

  /// Those that need not hear every access, for blocks that Launch::sample leaves out.
  [[nodiscard]] Observer& deaf() { return deaf_; }

  /// Call these when all workers have ended.
  [[nodiscard]] bool must_repeat() const;
  void take_back();
  /// Findings, in the order of their first occurrence in the program.
  [[nodiscard]] std::vector<CheckReport> take_reports();

 private:
  struct BlockState : ObserverNotes {
    SettledReads settled;
  };
  /// Costs next to nothing where nobody errs: hardly an access is told.
  struct Deaf final : ObserverList {
    void access(const WarpAccess& access) override {
      if (hearer == nullptr) return;
      if (access.space == ptx::StateSpace::kShared) hearer->check(access, access.mask);
      if (access.space == ptx::StateSpace::kLocal) hearer->check_local(access);
    }
    void copies_land(const WarpAccess&) override {}
    KernelChecker* hearer = nullptr;  ///< hears of shared and local memory here too
  };
  [[nodiscard]] WarpAccess with_shape(const WarpAccess& access) const;
  void add_checker(std::unique_ptr<KernelChecker> checker);

  Launch& launch_;
  const RowLoops& rows_;
  CheckFindings findings_;
  std::vector<std::unique_ptr<KernelChecker>> checkers_;
  std::vector<KernelChecker*> listeners_;  ///< those that hear accesses
  Deaf deaf_;
  PerBlock<BlockState> states_;
};

}  // namespace membound::vgpu::exec
