// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes down what a launch touches of global memory.
/// Place in the chain: exec's handlers -> [footprint_observer] -> footprint.hpp. Left out:
/// surfaces.
#pragma once

#include <unordered_map>

#include "grader/vgpu/exec/state/footprint.hpp"
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

}  // namespace membound::vgpu::exec
