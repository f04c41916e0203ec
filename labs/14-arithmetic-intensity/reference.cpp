// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/14-arithmetic-intensity/reference.hpp"

namespace membound::labs::intensity {

// [product]
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b,
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
// [/product]

}  // namespace membound::labs::intensity
