// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/03-transpose/reference.hpp"

namespace membound::labs::transpose {

// [transposed]
template <typename T>
std::vector<T> transposed(const std::vector<T>& in, std::int64_t rows, std::int64_t cols) {
  std::vector<T> out(in.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col) out[col * rows + row] = in[row * cols + col];
  return out;
}
// [/transposed]

template std::vector<float> transposed(const std::vector<float>&, std::int64_t, std::int64_t);
template std::vector<double> transposed(const std::vector<double>&, std::int64_t, std::int64_t);

}  // namespace membound::labs::transpose
