// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// arrays_equal: compares two arrays and says, in the lab's own coordinates, where they differ,
/// with a small picture in characters. Timed runs are compared on the device
/// (device/harness_kernels.cu) by the same rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace membound::harness {

/// The state of one element.
enum class Mark : std::uint8_t { kRight, kWrong, kNeverWritten };

/// At most 16 lines of 32 characters, each for a rectangle of elements whose sides are powers of
/// two: '.' all right, 'x' partly wrong, 'X' all wrong, '-' never written. The last axis runs
/// across, all others down; a list is broken into lines. Opens with a line that explains it; every
/// line ends with a newline. `marks` holds the product of `extents` elements.
[[nodiscard]] std::string picture(std::span<const Mark> marks,
                                  std::span<const std::int64_t> extents);

/// How an array is laid out: the last axis runs fastest. An output of 5 rows and 7 columns is
/// {{5, 7}, {"row", "column"}}, a list of n numbers {{n}, {"element"}}.
struct Shape {
  std::vector<std::int64_t> extents;
  std::vector<std::string> axis_names;
};

/// `got` may differ from `expected` by absolute + relative * |expected|. With 0, 0 the values must
/// be equal (−0 equals 0). A NaN equals only a NaN that was expected; an infinity only itself.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

/// What a comparison of timed runs found; device/harness_kernels.cu writes it, too.
struct Difference {
  unsigned long long wrong = 0;
  unsigned long long first = ~0ULL;  ///< index of the first wrong element
};

/// Success, or a failure that tells the first wrong element with its coordinates, expected and got,
/// how many of how many are wrong, how many were never written, and a small picture of where.
/// T: float, double, int, unsigned, long long, unsigned long long (and the std::int64_t kinds).
template <typename T>
[[nodiscard]] testing::AssertionResult arrays_equal(const std::vector<T>& got,
                                                    const std::vector<T>& expected,
                                                    const Shape& shape, Tolerance tolerance = {});

/// The rule of one element, as stated at Tolerance.
template <typename T>
[[nodiscard]] bool element_equal(T got, T expected, Tolerance tolerance);

/// Whether all elements, whose bytes these are, have the same bits, and none of `got` is poison:
/// then they are equal by every rule. False says nothing. As most are, this is asked first.
template <typename T>
[[nodiscard]] bool have_same_bits(std::span<const std::byte> got,
                                  std::span<const std::byte> expected);

}  // namespace membound::harness
