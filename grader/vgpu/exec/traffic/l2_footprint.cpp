// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/traffic/l2_footprint.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::exec {

TouchMap::TouchMap(std::uint64_t begin, std::uint64_t bytes)
    : first_line_(begin / memory::kLineBytes),
      lines_(bytes / memory::kLineBytes),
      pages_(lines_ / kLinesOfPage + 1) {}

std::uint32_t TouchMap::touch(std::uint64_t line, std::uint32_t sectors) {
  const std::uint64_t index = line - first_line_;
  if (index >= lines_) return 0;
  const std::uint64_t bits = std::uint64_t{sectors} << (index % kLinesOfWord * 4);
  std::atomic<std::uint64_t>& word =
      pages_.at(index / kLinesOfPage)[index % kLinesOfPage / kLinesOfWord];
  if ((word.load(std::memory_order_relaxed) & bits) == bits) return 0;
  const std::uint64_t before = word.fetch_or(bits, std::memory_order_relaxed);
  return memory::sectors_in(
      static_cast<std::uint32_t>((bits & ~before) >> (index % kLinesOfWord * 4)));
}

std::uint64_t TouchMap::short_runs(std::uint64_t lines) const {
  std::vector<std::pair<std::uint64_t, const Sectors*>> pages;
  pages.reserve(pages_.size());
  pages_.each(
      [&](std::uint64_t page, const Sectors& touched) { pages.emplace_back(page, &touched); });
  std::sort(pages.begin(), pages.end());
  std::uint64_t runs = 0, length = 0, next = 0;
  const auto end_run = [&] {
    runs += length > 0 && length < lines;
    length = 0;
  };
  for (const auto& [page, touched] : pages) {
    if (page != next) end_run();
    for (std::uint64_t word : *touched)
      for (std::uint64_t i = 0; i < kLinesOfWord; ++i, word >>= 4) {
        if ((word & 15u) == 0)
          end_run();
        else
          ++length;
      }
    next = page + 1;
  }
  end_run();
  return runs;
}

std::uint64_t dram_read_bytes(const Traffic& traffic, std::uint64_t l2_bytes) {
  const std::uint64_t distinct = traffic.distinct_read_sectors;
  const std::uint64_t footprint =
      (distinct + traffic.distinct_written_sectors) * memory::kSectorBytes;
  const std::uint64_t holds = l2_bytes / 2;
  const std::uint64_t found = distinct + traffic.kept_read_sectors;
  std::uint64_t sectors = distinct;
  if (footprint > holds && traffic.l2_read_sectors > found) {
    const double lost = 1.0 - static_cast<double>(holds) / static_cast<double>(footprint);
    sectors +=
        static_cast<std::uint64_t>(static_cast<double>(traffic.l2_read_sectors - found) * lost);
  }
  return sectors * memory::kSectorBytes;
}

std::uint64_t dram_write_bytes(const Traffic& traffic) {
  return traffic.distinct_written_sectors * memory::kSectorBytes;
}

ArrayTally::ArrayTally(const memory::AddressSpace& space) {
  for (const memory::Allocation& allocation : space.live()) {  // by address
    begins_.push_back(allocation.address);
    bytes_.push_back(allocation.size_bytes);
  }
  touched_ = std::make_unique<std::atomic<std::uint64_t>[]>(begins_.size() + 1);
  asked_ = std::make_unique<std::atomic<std::uint64_t>[]>(begins_.size() + 1);
}

std::size_t ArrayTally::row_of(std::uint64_t line) const {
  const std::uint64_t address = line * memory::kLineBytes;
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), address);
  auto row = static_cast<std::size_t>(after - begins_.begin());
  if (row != 0 && address - begins_[row - 1] >= bytes_[row - 1]) row = 0;
  return row;
}

void ArrayTally::add(std::uint64_t line, std::uint32_t sectors) {
  touched_[row_of(line)].fetch_add(sectors, std::memory_order_relaxed);
}

void ArrayTally::ask(std::uint64_t line, std::uint32_t sectors) {
  asked_[row_of(line)].fetch_add(sectors, std::memory_order_relaxed);
}

std::vector<ArrayTally::Row> ArrayTally::rows() const {
  std::vector<Row> rows(begins_.size() + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].touched_sectors = touched_[i].load();
    rows[i].asked_sectors = asked_[i].load();
  }
  for (std::size_t i = 0; i < begins_.size(); ++i) rows[i + 1].sectors = (bytes_[i] + 63) / 64 * 2;
  return rows;
}

}  // namespace membound::vgpu::exec
