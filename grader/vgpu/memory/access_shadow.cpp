// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_shadow.hpp"

#include <sys/mman.h>

#include "grader/base/check.hpp"

namespace membound::vgpu::memory {
AccessShadow::AccessShadow(std::uint64_t begin, std::uint64_t bytes)
    : begin_(begin), words_(bytes / 4) {
  void* place = mmap(nullptr, words_ * sizeof(ShadowWord), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MEMBOUND_CHECK(place != MAP_FAILED);
  data_ = static_cast<ShadowWord*>(place);
}

AccessShadow::~AccessShadow() { munmap(data_, words_ * sizeof(ShadowWord)); }

}  // namespace membound::vgpu::memory
