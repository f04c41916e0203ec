// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tells an AccessListener what one warp does, and passes everything on to whoever else looks on.
/// Place in the chain: exec's handlers -> [trace_observer] -> access_event.hpp; cache model,
/// checkers.
#pragma once

#include "grader/vgpu/exec/observe/passing_observer.hpp"

namespace membound::vgpu::exec {

/// The listener's ear in one launch.
class TraceObserver : public PassingObserver {
 public:
  /// `next` (may be null) hears everything too.
  TraceObserver(const Launch& launch, Observer* next) : PassingObserver(next), launch_(launch) {}

  void access(const WarpAccess& access) override;
  void block_begins(Block& block) override;

 private:
  const Launch& launch_;
};

}  // namespace membound::vgpu::exec
