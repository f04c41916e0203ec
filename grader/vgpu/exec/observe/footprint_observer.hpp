// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes down what a launch touches of global memory.
/// Place in the chain: exec's handlers -> [footprint_observer] -> footprint.hpp. Left out: volatile
/// words, which cannot race, and surfaces.
#pragma once

#include <unordered_map>

#include "grader/vgpu/exec/state/footprint.hpp"
#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {

/// Of a launch with one worker.
class FootprintObserver : public Observer {
 public:
  explicit FootprintObserver(Footprint& footprint) : footprint_(footprint) {}

  void access(const WarpAccess& access) override;

 private:
  [[nodiscard]] Footprint::Part& part_of(const WarpAccess& access);

  Footprint& footprint_;
  std::unordered_map<const Step*, Footprint::Part*> parts_;
  std::size_t ranges_ = 0;
};

}  // namespace membound::vgpu::exec
