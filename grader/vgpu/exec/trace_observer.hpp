// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tells an AccessListener what one warp does, and passes everything on to whoever else looks on.
/// Place in the chain: exec's handlers -> [trace_observer] -> access_event.hpp; cache model,
/// checkers.
#pragma once

#include "grader/vgpu/exec/access.hpp"

namespace membound::vgpu::exec {

/// The listener's ear in one launch.
class TraceObserver : public Observer {
 public:
  /// `next` (may be null) hears everything too.
  TraceObserver(const Launch& launch, Observer* next) : launch_(launch), next_(next) {}

  void access(const WarpAccess& access) override;
  void barrier(Warp& warp, const Step* step, bool whole_warp) override;
  void collective(Warp& warp, const Step* step, std::uint32_t members,
                  std::uint32_t present) override;
  void epoch(Block& block) override;
  void fence(Warp& warp, const Step* step) override;
  bool bad_access(const WarpAccess& access, FaultKind kind, std::uint32_t lane) override;

 private:
  const Launch& launch_;
  Observer* next_;
};

}  // namespace membound::vgpu::exec
