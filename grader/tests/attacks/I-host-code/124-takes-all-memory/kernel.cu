// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// allocates and touches host memory without end
#include "kernel.cuh"

#include <cstring>

int main() {
  for (;;) {
    void* const piece = std::malloc(std::size_t{16} << 20);
    if (piece == nullptr) std::abort();
    std::memset(piece, 1, std::size_t{16} << 20);
  }
}
