// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/array_tally.hpp"

#include <algorithm>

#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::memory {

ArrayTally::ArrayTally(const AddressSpace& space) {
  for (const Allocation& allocation : space.live()) {  // by address
    begins_.push_back(allocation.address);
    bytes_.push_back(allocation.size_bytes);
  }
  touched_ = std::make_unique<std::atomic<std::uint64_t>[]>(begins_.size() + 1);
}

void ArrayTally::add(std::uint64_t line, std::uint32_t sectors) {
  const std::uint64_t address = line * kLineBytes;
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), address);
  auto row = static_cast<std::size_t>(after - begins_.begin());
  if (row != 0 && address - begins_[row - 1] >= bytes_[row - 1]) row = 0;
  touched_[row].fetch_add(sectors, std::memory_order_relaxed);
}

std::vector<ArrayTally::Row> ArrayTally::rows() const {
  std::vector<Row> rows(begins_.size() + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].touched_sectors = touched_[i].load();
  for (std::size_t i = 0; i < begins_.size(); ++i) rows[i + 1].sectors = (bytes_[i] + 63) / 64 * 2;
  return rows;
}

}  // namespace membound::vgpu::memory
