// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 03: what "transposed" means, in plain loops on the CPU. The tests compare every element of
/// every small run with it. Timed runs are compared with the reference kernel; where a class is
/// graded without running that for everybody, with this.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::labs::transpose {

/// The cols x rows matrix whose element (col, row) is element (row, col) of the rows x cols matrix
/// `in`; both are stored row after row. T: float or double.
template <typename T>
[[nodiscard]] std::vector<T> transposed(const std::vector<T>& in, std::int64_t rows,
                                        std::int64_t cols);

}  // namespace membound::labs::transpose
