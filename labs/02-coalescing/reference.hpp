// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 02: what each stage makes of a picture, in plain loops on the CPU. The tests compare every
/// pixel of every small run with it. Timed runs are compared with the reference kernel; where a
/// class is graded without running that for everybody, with this.
///
/// All take the floats of `in` with their gaps, and give those of `out` without. Each result is
/// rounded once, so any right kernel gives the same bits.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::labs::coalescing {

/// Sizes as kernel.cuh names them; pitch in floats.
struct Picture {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t pitch = 0;
};

/// 1 - grey: rows x cols floats.
[[nodiscard]] std::vector<float> inverted(const std::vector<float>& in, const Picture& picture);

/// Each pixel less its left neighbour, the first of a row less 0: rows x cols floats.
[[nodiscard]] std::vector<float> edges(const std::vector<float>& in, const Picture& picture);

/// Pixels r, g, b (pitch 3 * cols) as three planes of rows x cols floats.
[[nodiscard]] std::vector<float> planes(const std::vector<float>& in, const Picture& picture);

/// Pixels r, g, b, a (pitch 4 * cols) with r, g, b multiplied by a: rows x cols x 4 floats.
[[nodiscard]] std::vector<float> premultiplied(const std::vector<float>& in,
                                               const Picture& picture);

}  // namespace membound::labs::coalescing
