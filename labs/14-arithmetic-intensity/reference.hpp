// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 14: what a product of two matrices is, in plain loops on the CPU. The tests compare every
/// element of every small run with it.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::labs::intensity {

/// C = A * B; `lda`, `ldb` and `ldc` elements lie between the beginnings of two rows.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
};

/// The m x n results, without gaps. Each is summed in double: of whole numbers, and of fractions of
/// few bits, it is exact.
[[nodiscard]] std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b,
                                         const Product& size);

}  // namespace membound::labs::intensity
