// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/volume.hpp"

namespace membound::vgpu::memory {

void Volume::sum_up() {
  std::sort(steps_.begin(), steps_.end());
  std::size_t kept = 0;
  std::uint64_t sum = 0;
  for (const auto& [time, bytes] : steps_) {
    sum += bytes;
    if (kept == 0 || steps_[kept - 1].first != time) steps_[kept++].first = time;
    steps_[kept - 1].second = sum;
  }
  steps_.resize(kept);
}

double Volume::from(std::uint32_t time) const {
  return steps_.empty()
             ? 0
             : static_cast<double>(steps_.back().second) - (until(time) + up_to(time)) / 2;
}

double Volume::until(std::uint32_t time) const {
  const auto at = std::lower_bound(steps_.begin(), steps_.end(), std::pair{time, std::uint64_t{0}});
  return at == steps_.begin() ? 0 : static_cast<double>(std::prev(at)->second);
}

}  // namespace membound::vgpu::memory
