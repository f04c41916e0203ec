// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/lazy_bytes.hpp"

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

void LazyBytes::clear() {
  // At its place: pointers to it stay good.
  MEMBOUND_CHECK(madvise(data_, bytes_, MADV_DONTNEED) == 0);
}

void LazyBytes::expect_dense_use() { madvise(data_, bytes_, MADV_HUGEPAGE); }

}  // namespace membound::vgpu::memory
