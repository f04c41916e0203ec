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
inline std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b,
                                  const Product& size) {
  std::vector<float> c;
  std::vector<double> sums;
  for (std::int64_t row = 0; row < size.m; ++row) {
    sums.assign(static_cast<std::size_t>(size.n), 0);
    for (std::int64_t p = 0; p < size.k; ++p) {
      // The inner loop runs along rows, so that the CPU, too, reads neighbours after neighbours.
      const double of_a = a[row * size.lda + p];
      for (std::int64_t col = 0; col < size.n; ++col) sums[col] += of_a * b[p * size.ldb + col];
    }
    for (const double sum : sums) c.push_back(static_cast<float>(sum));
  }
  return c;
}

}  // namespace membound::labs::intensity
