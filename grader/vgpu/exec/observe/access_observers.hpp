// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Observers that only write down what a launch accesses: its footprint in global memory, and what
/// one warp does, for an AccessListener. Left out: surfaces.
#pragma once

#include <unordered_map>

#include "grader/vgpu/exec/state/launch_request.hpp"
#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {

/// Of a launch with one worker.
class FootprintObserver : public Observer {
 public:
  /// `for_races`: volatile words, which cannot race, are left out.
  FootprintObserver(Footprint& footprint, bool for_races)
      : footprint_(footprint), for_races_(for_races) {}

  void access(const WarpAccess& access) override;

 private:
  [[nodiscard]] Footprint::Part& part_of(const WarpAccess& access);

  Footprint& footprint_;
  const bool for_races_;
  std::unordered_map<const Step*, Footprint::Part*> parts_;
  std::size_t ranges_ = 0;
};

/// The listener's ear in one launch.
class TraceObserver : public Observer {
 public:
  explicit TraceObserver(const Launch& launch) : launch_(launch) {}

  void access(const WarpAccess& access) override;
  void fetch(const WarpAccess& texels) override { access(texels); }
  [[nodiscard]] bool wants_settled_reads() const override { return true; }

 private:
  const Launch& launch_;
};

}  // namespace membound::vgpu::exec
