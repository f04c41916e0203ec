// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 03: what "transposed" means, in plain loops on the CPU.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::labs::transpose {

/// The cols x rows matrix whose element (col, row) is element (row, col) of the rows x cols matrix
/// `in`; both are stored row after row.
// [transposed]
template <typename T>
std::vector<T> transposed(const std::vector<T>& in, std::int64_t rows, std::int64_t cols) {
  std::vector<T> out(in.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col) out[col * rows + row] = in[row * cols + col];
  return out;
}
// [/transposed]

}  // namespace membound::labs::transpose
