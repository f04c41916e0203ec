// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tells an AccessListener what one warp does.
/// Place in the chain: exec's handlers -> [trace_observer] -> access_event.hpp.
#pragma once

#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {

/// The listener's ear in one launch.
class TraceObserver : public Observer {
 public:
  explicit TraceObserver(const Launch& launch) : launch_(launch) {}

  void access(const WarpAccess& access) override;
  [[nodiscard]] bool wants_settled_reads() const override { return true; }

 private:
  const Launch& launch_;
};

}  // namespace membound::vgpu::exec
