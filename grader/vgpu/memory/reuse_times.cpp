// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/reuse_times.hpp"

#include <algorithm>
#include <numeric>

namespace membound::vgpu::memory {

void ReuseTimes::add(const ReuseTimes& other) {
  for (std::uint32_t b = 0; b < kBuckets; ++b) uses_[b] += other.uses_[b];
  first_ += other.first_;
}

std::uint64_t ReuseTimes::total() const { return within(kBuckets) + first_; }

std::uint64_t ReuseTimes::within(std::uint32_t buckets) const {
  return std::accumulate(uses_.begin(), uses_.begin() + std::min(buckets, kBuckets),
                         std::uint64_t{0});
}

std::uint32_t ReuseTimes::kept_by(std::uint64_t lines, std::uint64_t duration) const {
  // fp(w) is the sum over x < w of the uses a unit of time that come back after more than x.
  const double room =
      static_cast<double>(lines) * static_cast<double>(std::max<std::uint64_t>(1, duration));
  double footprint = 0;  // times duration
  std::uint64_t longer = total();
  for (std::uint32_t b = 0; b < kBuckets; ++b) {
    if (footprint > room) return b;
    longer -= uses_[b];
    const std::uint32_t next = b + 1 < kBuckets ? shortest(b + 1) : shortest(b);
    footprint += static_cast<double>(longer) * (next - shortest(b));
  }
  return kBuckets;
}

}  // namespace membound::vgpu::memory
