// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/lazy_tables.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

#include "grader/base/result.hpp"

namespace membound::vgpu::memory {
namespace {

/// Of tables that ended.
struct Zeros {
  static constexpr std::size_t kMost = 8;  // two maps of a launch, and the arrays of a case
  std::mutex mutex;
  std::deque<std::unique_ptr<LazyBytes>> tables;
};

Zeros& zeros() {
  static auto* const all = new Zeros;  // launches may end after static objects do
  return *all;
}

}  // namespace

LazyBytes::LazyBytes(std::size_t bytes) : bytes_(std::max<std::size_t>(1, bytes)) {
  data_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  MEMBOUND_CHECK(data_ != MAP_FAILED);
}

LazyBytes::~LazyBytes() { munmap(data_, bytes_); }

void LazyBytes::clear() {
  // At its place: pointers to it stay good.
  MEMBOUND_CHECK(madvise(data_, bytes_, MADV_DONTNEED) == 0);
}

void LazyBytes::expect_dense_use() { madvise(data_, bytes_, MADV_HUGEPAGE); }

std::unique_ptr<LazyBytes> take_zeros(std::size_t bytes, TableUse use) {
  {
    const std::lock_guard lock(zeros().mutex);
    auto& tables = zeros().tables;
    const auto found = std::ranges::find_if(
        tables, [bytes](const auto& table) { return table->size_bytes() == bytes; });
    if (found != tables.end()) {
      std::unique_ptr<LazyBytes> table = std::move(*found);
      tables.erase(found);
      return table;
    }
  }
  auto table = std::make_unique<LazyBytes>(bytes);
  // By one or the other of those that will have it.
  if (use == TableUse::kDense) table->expect_dense_use();
  return table;
}

void keep_zeros(std::unique_ptr<LazyBytes> table) {
  const std::lock_guard lock(zeros().mutex);
  auto& tables = zeros().tables;
  tables.push_back(std::move(table));
  if (tables.size() > Zeros::kMost) tables.pop_front();
}

}  // namespace membound::vgpu::memory
