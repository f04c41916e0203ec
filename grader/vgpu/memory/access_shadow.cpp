// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_shadow.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "grader/base/check.hpp"

namespace membound::vgpu::memory {
namespace {

template <typename T>
T* reserve_cells(std::uint64_t cells) {
  void* place = mmap(nullptr, cells * sizeof(T), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MEMBOUND_CHECK(place != MAP_FAILED);
  // A kernel touches many cells once: large pages save most of the faults.
  madvise(place, cells * sizeof(T), MADV_HUGEPAGE);
  return static_cast<T*>(place);
}

}  // namespace

AccessShadow::AccessShadow(std::uint64_t begin, std::uint64_t bytes, std::uint32_t cell_shift) {
  view_.begin = begin;
  view_.cells = bytes >> cell_shift;
  view_.cell_shift = cell_shift;
  reserve();
}

AccessShadow::~AccessShadow() { release(); }

void AccessShadow::reserve() {
  view_.writes = reserve_cells<std::uint64_t>(view_.cells);
  view_.reads = reserve_cells<std::uint64_t>(view_.cells);
  view_.write_origins = reserve_cells<std::uint16_t>(view_.cells);
  view_.read_origins = reserve_cells<std::uint16_t>(view_.cells);
}

void AccessShadow::release() {
  munmap(view_.writes, view_.cells * sizeof(std::uint64_t));
  munmap(view_.reads, view_.cells * sizeof(std::uint64_t));
  munmap(view_.write_origins, view_.cells * sizeof(std::uint16_t));
  munmap(view_.read_origins, view_.cells * sizeof(std::uint16_t));
}

std::uint32_t AccessShadow::next_tag() {
  if (tag_ == Stamp::kLastTag) {
    release();
    reserve();
    tag_ = 0;
  }
  return ++tag_;
}

AccessMarks& AccessShadow::cleared_marks() {
  if (marks_ == nullptr) marks_ = std::make_unique<AccessMarks>(view_.cells);
  marks_->clear();
  return *marks_;
}

void AccessShadow::forget(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t first = (address - view_.begin) >> view_.cell_shift;
  if (first >= view_.cells) return;
  const std::uint64_t count = std::min(view_.cells - first, (bytes >> view_.cell_shift) + 1);
  std::fill_n(view_.writes + first, count, 0);
  std::fill_n(view_.reads + first, count, 0);
}

}  // namespace membound::vgpu::memory
