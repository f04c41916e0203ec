// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/traffic/line_sampling.hpp"

namespace membound::vgpu::exec {

void SectorSample::add(std::uint64_t sector) {
  constexpr std::size_t kMost = 64;
  const std::uint64_t hash = mixed(sector);
  if (kept_.size() == kMost) {
    const auto last = std::prev(kept_.end());
    if (hash >= last->first) return;
    if (kept_.contains(hash)) return;
    kept_.erase(last);
  }
  kept_.emplace(hash, sector);
}

void SectorSample::add(const SectorSample& other) {
  for (const auto& [hash, sector] : other.kept_) add(sector);
}

}  // namespace membound::vgpu::exec
