// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_marks.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "grader/base/check.hpp"

namespace membound::vgpu::memory {

LazyBytes::LazyBytes(std::size_t bytes) : bytes_(std::max<std::size_t>(1, bytes)) {
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  MEMBOUND_CHECK(data_ != MAP_FAILED);
}

LazyBytes::~LazyBytes() { munmap(data_, bytes_); }

AccessMarks::AccessMarks(std::uint64_t cells)
    : cells_(cells),
      bits_(((cells >> kChunkShift) + 1) * kChunkWords * sizeof(std::uint64_t)),
      chunks_((cells >> kChunkShift) + 1),
      words_(static_cast<std::uint64_t*>(bits_.data())),
      touched_(static_cast<std::uint8_t*>(chunks_.data())) {}

void AccessMarks::clear() {
  for (const std::uint64_t chunk : list_) {
    std::fill_n(words_ + chunk * kChunkWords, kChunkWords, 0);
    touched_[chunk] = 0;
  }
  list_.clear();
}

void AccessMarks::note(std::uint64_t first, std::uint64_t count, Kind kind) {
  if (first >= cells_) return;
  const std::uint64_t end = first + std::min(count, cells_ - first);
  for (const std::uint64_t chunk : {first >> kChunkShift, (end - 1) >> kChunkShift}) {
    if (touched_[chunk] != 0) continue;
    touched_[chunk] = 1;
    list_.push_back(chunk);
  }
  for (std::uint64_t cell = first; cell < end;) {
    const std::uint64_t offset = cell % kWordBits, here = std::min(kWordBits - offset, end - cell);
    const std::uint64_t ones =
        here == kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
    *word(cell, kind) |= ones << offset;
    cell += here;
  }
}

bool AccessMarks::conflicts_with(const AccessMarks& other) const {
  for (const std::uint64_t chunk : list_) {
    if (other.touched_[chunk] == 0) continue;
    const std::uint64_t begin = chunk * kChunkWords;
    for (std::uint64_t group = 0; group < kChunkGroups; ++group) {
      const std::uint64_t at = begin + group * kKinds * kGroupWords;
      std::uint64_t both = 0;
      for (std::uint64_t w = 0; w < kGroupWords; ++w) {
        const auto mine = [&](Kind kind) {
          return words_[at + static_cast<std::uint64_t>(kind) * kGroupWords + w];
        };
        const auto theirs = [&](Kind kind) {
          return other.words_[at + static_cast<std::uint64_t>(kind) * kGroupWords + w];
        };
        both |= mine(Kind::kWrite) &
                (theirs(Kind::kWrite) | theirs(Kind::kRead) | theirs(Kind::kAtomic));
        both |= theirs(Kind::kWrite) & (mine(Kind::kRead) | mine(Kind::kAtomic));
        both |= mine(Kind::kAtomic) & theirs(Kind::kRead);
        both |= theirs(Kind::kAtomic) & mine(Kind::kRead);
      }
      if (both != 0) return true;
    }
  }
  return false;
}

}  // namespace membound::vgpu::memory
