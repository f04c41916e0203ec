// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 14: the tests of every stage, easiest first, and the runs that are timed.
///
/// Whole numbers are so small that every sum of products stays below 2^24: it is exact in any
/// order, and compared so. Only the test of fractions has a tolerance.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/14-arithmetic-intensity/reference.hpp"

namespace {

using namespace membound::harness;
using membound::labs::intensity::product;
using membound::labs::intensity::Product;

enum Number { kRows = 1, kColumns, kFast = 6 };

constexpr std::int64_t kExact = 1 << 24;  // floats hold all whole numbers up to here
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The product of a stage: stage 1 has one column, stage 2 one row. Rows lie `gap` floats further
/// apart than they are long.
Product product_of(int stage, std::int64_t m, std::int64_t n, std::int64_t k,
                   std::int64_t gap = 0) {
  if (stage == kRows) return {m, 1, k, k + gap, 1, 1};
  return {stage == kColumns ? 1 : m, n, k, k + gap, n + gap, n + gap};
}

/// "for 3 x 5 results of 7 products, leading dimensions 7, 5, 5"
std::string about(const Product& size) {
  std::ostringstream text;
  text << "for m = " << size.m << ", n = " << size.n << ", k = " << size.k
       << ", leading dimensions " << size.lda << ", " << size.ldb << ", " << size.ldc;
  return text.str();
}

class Intensity : public LabTest {
 protected:
  /// Numbers that are whole, up to 99, and fewer where the sums are long.
  [[nodiscard]] std::int64_t largest(std::int64_t k) const {
    std::int64_t most = 99;
    while (most * most * k >= kExact) --most;
    return most;
  }

  /// `rows` rows of `cols` elements; NaN in the gaps.
  [[nodiscard]] std::vector<float> matrix(std::int64_t rows, std::int64_t cols,
                                          std::int64_t leading, std::int64_t most,
                                          std::uint64_t which) const {
    std::vector<float> values = generate_integers<float>(static_cast<std::size_t>(rows * leading),
                                                         -most, most, seed() + which);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t col = cols; col < leading; ++col) values[row * leading + col] = kNan;
    return values;
  }

  /// Runs the stage and compares all results, and the gaps of `c`.
  void check_values(const std::vector<float>& a, const std::vector<float>& b, const Product& size,
                    Tolerance tolerance = {}) {
    const DeviceArray<float> d_a(a), d_b(b);
    auto d_c = DeviceArray<float>::poisoned(static_cast<std::size_t>(size.m * size.ldc));
    const auto whole = [](std::int64_t value) { return static_cast<int>(value); };
    SCOPED_TRACE(about(size));
    ASSERT_TRUE(launch("", {size.m, size.n, size.k, size.lda, size.ldb, size.ldc}, d_c.data(),
                       static_cast<const float*>(d_a.data()), static_cast<const float*>(d_b.data()),
                       whole(size.m), whole(size.n), whole(size.k), whole(size.lda),
                       whole(size.ldb), whole(size.ldc)));
    const std::vector<float> c = d_c.to_host();
    std::vector<float> got;
    for (std::int64_t row = 0; row < size.m; ++row)
      got.insert(got.end(), c.begin() + row * size.ldc, c.begin() + row * size.ldc + size.n);
    ASSERT_TRUE(
        arrays_equal(got, product(a, b, size), {{size.m, size.n}, {"row", "column"}}, tolerance));
    for (std::int64_t at = 0; at < size.m * size.ldc; ++at) {
      if (at % size.ldc < size.n) continue;
      ASSERT_TRUE(is_poison(c[at]))
          << "\nthe kernel wrote into the gap after row " << at / size.ldc << " of `c`: at column "
          << at % size.ldc << ", the row has " << size.n;
    }
  }

  void check(const Product& size) {
    const std::int64_t most = largest(size.k);
    check_values(matrix(size.m, size.k, size.lda, most, 0),
                 matrix(size.k, size.n, size.ldb, most, 1), size);
  }

  /// Without gaps, or with.
  void check(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t gap = 0) {
    ASSERT_NO_FATAL_FAILURE(check(product_of(stage().number, m, n, k, gap)));
  }
};

LAB_TEST_WITH_HINT(Intensity, OneMultiplication, "first-product") { check(1, 1, 1); }

LAB_TEST_WITH_HINT(Intensity, WholeTiles, "whole-tiles") { check(128, 128, 32); }

LAB_TEST_WITH_HINT(Intensity, MoreColumnsThanRows, "rows-and-columns") { check(32, 96, 64); }

LAB_TEST_WITH_HINT(Intensity, SeveralTilesEachWay, "whole-tiles") { check(256, 384, 96); }

LAB_TEST_WITH_HINT(Intensity, DepthsOfAllRemainders, "k-tail") {
  for (const std::int64_t k : {2, 3, 5, 7, 8, 9, 15, 17, 31, 33, 47, 100}) check(32, 32, k);
}

LAB_TEST_WITH_HINT(Intensity, SizesAroundATile, "edge-guard") {
  for (const std::int64_t size : {31, 33, 63, 65, 127, 129}) check(size, size, 16);
}

LAB_TEST_WITH_HINT(Intensity, TallAndWide, "edge-guard") {
  check(300, 3, 20);
  check(3, 300, 20);
  check(1, 131, 40);
  check(131, 1, 40);
}

LAB_TEST_WITH_HINT(Intensity, Primes, "edge-guard") {
  check(37, 53, 71);
  check(139, 149, 23);
}

LAB_TEST_WITH_HINT(Intensity, NothingToMultiply, "empty") {
  check(0, 5, 7);
  check(5, 0, 7);
  check(33, 34, 0);
}

LAB_TEST_WITH_HINT(Intensity, RowsWithGaps, "leading-dimension") {
  check(40, 36, 20, 4);
  check(64, 64, 32, 64);
  check(130, 132, 44, 12);
}

LAB_TEST_WITH_HINT(Intensity, RowsThatEndInsideAVector, "k-tail") {
  // Rows begin at multiples of 16 bytes, and the last vector of each reaches into the gap.
  check(42, 37, 21, 3);
  check(130, 131, 63, 1);
}

LAB_TEST_WITH_HINT(Intensity, GapsOfDifferentWidths, "leading-dimension") {
  if (stage().number == kRows) return check({70, 1, 64, 100, 1, 1});
  check({stage().number == kColumns ? 1 : 70, 68, 64, 100, 72, 80});
}

LAB_TEST_WITH_HINT(Intensity, RowsOutOfStep, "alignment") {
  // Every fourth row begins at a multiple of 16 bytes, the others do not.
  check(64, 64, 32, 1);
  check(128, 128, 64, 3);
  check(133, 130, 36, 2);
}

LAB_TEST_WITH_HINT(Intensity, LongSums, "long-sums") { check(5, 6, 5003); }

LAB_TEST_WITH_HINT(Intensity, ManyResults, "cover") {
  if (stage().number == kRows) return check(4099, 1, 36);
  if (stage().number == kColumns) return check(1, 20011, 36);
  check(521, 1031, 4);
}

LAB_TEST_WITH_HINT(Intensity, Fractions, "rounding") {
  // Each of k products and k sums is rounded to 24 bits, numbers are at most 1: the error is at
  // most about k * 2^-24 of the sum of k magnitudes up to 1.
  const std::int64_t k = 200;
  const Product size = product_of(stage().number, 70, 90, k);
  const auto count = [](std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(rows * cols);
  };
  check_values(generate<float>(count(size.m, size.lda), Fill::kUniform, seed()),
               generate<float>(count(size.k, size.ldb), Fill::kUniform, seed() + 1), size,
               {.absolute = static_cast<double>(k * k) / kExact});
}

LAB_TEST_WITH_HINT(Intensity, SecondLaunchGivesTheSame, "second-launch") {
  ASSERT_NO_FATAL_FAILURE(check(45, 77, 39));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check(45, 77, 39));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check(45, 77, 39);
}

LAB_TEST_AFTER_TIMING(Intensity, PositionsBeyond32Bits, "wide-index") {
  // Of stages 1 and 2 the matrix, of the others `c` has a little less than 2^32 floats.
  const std::int64_t size[] = {65'535, 65'535, stage().number <= kColumns ? 65'535 : 16};
  EXPECT_TRUE(far_blocks(size, "m * ldc, m * lda and k * ldb may pass 2^31"));
}

/// Results [first, first + count) of `c`, gaps as poison: those of some neighbouring columns
/// together.
void expected_part(const DrawnInputs& in, const Product& size, std::size_t first, std::size_t count,
                   HostArray& right) {
  constexpr std::int64_t kTogether = 32;
  const auto floats = [](const HostArray& bytes) {
    return reinterpret_cast<const float*>(bytes.data());
  };
  right.resize(count * sizeof(float));
  const auto end = static_cast<std::int64_t>(first + count);
  for (auto place = static_cast<std::int64_t>(first); place < end;) {
    const std::int64_t row = place / size.ldc, col = place % size.ldc;
    const std::int64_t first_col = col / kTogether * kTogether;
    const std::int64_t run = std::min(end - place, std::min(size.ldc, first_col + kTogether) - col);
    const float* const of_a = floats(in.once(row, [&] {
      std::vector<float> values;
      for (std::int64_t p = 0; p < size.k; ++p)
        values.push_back(in.at<float>(0, static_cast<std::size_t>(row * size.lda + p)));
      return bytes_of(values);
    }));
    const std::int64_t columns = std::min(kTogether, size.n - first_col);  // of the matrix
    const float* of_b = columns <= 0 ? nullptr : floats(in.once(size.m + first_col, [&] {
      std::vector<float> values;
      for (std::int64_t p = 0; p < size.k; ++p)
        for (std::int64_t i = 0; i < kTogether; ++i)
          values.push_back(
              i < columns ? in.at<float>(1, static_cast<std::size_t>(p * size.ldb + first_col + i))
                          : 0.0F);
      return bytes_of(values);
    }));
    std::array<float, kTogether> sums{};
    for (std::int64_t p = 0; columns > 0 && p < size.k; ++p, of_b += kTogether)
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += of_a[p] * of_b[i];
    for (std::int64_t i = columns < 0 ? 0 : columns; i < kTogether; ++i)
      sums[static_cast<std::size_t>(i)] = std::bit_cast<float>(kPoisonWord);
    std::memcpy(&right[(static_cast<std::size_t>(place) - first) * sizeof(float)],
                &sums[static_cast<std::size_t>(col - first_col)],
                static_cast<std::size_t>(run) * sizeof(float));
    place += run;
  }
}

/// Numbers of `a` have as many bits as sums of k of them leave room for, those of `b` are -1, 0 or
/// 1: all sums are exact, and half precision is not enough for `a` where k is 4,096 or less.
TimedCase timed_case(int stage, const Product& size) {
  TimedCase timed;
  std::ostringstream label;
  label << "m = " << size.m << ", n = " << size.n << ", k = " << size.k << ", leading dimensions "
        << size.lda << ", " << size.ldb << ", " << size.ldc;
  timed.label = label.str();
  timed.sizes = {size.m, size.n, size.k, size.lda, size.ldb, size.ldc};
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  timed.useful_bytes = sizeof(float) * (real(size.m) * real(size.k) + real(size.k) * real(size.n) +
                                        real(size.m) * real(size.n));
  if (stage > kColumns) {
    timed.useful_operations = 2.0 * real(size.m) * real(size.n) * real(size.k);
    timed.fused_operations = true;
  }
  const std::int64_t most = (kExact - 1) / std::max<std::int64_t>(1, size.k);
  timed.inputs = {
      {.count = static_cast<std::size_t>(size.m * size.lda), .integers = IntegerRange{-most, most}},
      {.count = static_cast<std::size_t>(size.k * size.ldb), .integers = IntegerRange{-1, 1}}};
  timed.output = {.count = static_cast<std::size_t>(size.m * size.ldc)};
  if (size.ldc > size.n)
    timed.written = {static_cast<std::size_t>(size.ldc), static_cast<std::size_t>(size.n)};
  timed.arguments = [size](std::span<void* const> d_inputs, void* d_output) {
    const auto whole = [](std::int64_t value) { return static_cast<int>(value); };
    return kernel_arguments(static_cast<float*>(d_output), static_cast<const float*>(d_inputs[0]),
                            static_cast<const float*>(d_inputs[1]), whole(size.m), whole(size.n),
                            whole(size.k), whole(size.lda), whole(size.ldb), whole(size.ldc));
  };
  timed.expected = [size](std::span<const HostArray> inputs) {
    const std::vector<float> results =
        product(values_of<float>(inputs[0]), values_of<float>(inputs[1]), size);
    std::vector<float> c(static_cast<std::size_t>(size.m * size.ldc),
                         std::bit_cast<float>(kPoisonWord));
    for (std::int64_t row = 0; row < size.m; ++row)
      std::copy_n(results.begin() + row * size.n, size.n, c.begin() + row * size.ldc);
    return bytes_of(c);
  };
  timed.expected_by_place = [size](const DrawnInputs& inputs, std::size_t first, std::size_t count,
                                   HostArray& right) {
    expected_part(inputs, size, first, count, right);
  };
  return timed;
}

/// Whole tiles; and of the last stage again what fills none, each way: what is fast only at
/// multiples of a tile is not fast.
std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  const Product whole = product_of(stage.number, size[0], size[1], size[2]);
  if (stage.number != kFast) return {timed_case(stage.number, whole)};
  const std::int64_t m = whole.m / 2, n = whole.n / 2 - 4, k = whole.k / 16;
  const Product cut = {m - 5, n, k - 1, k, n, n};
  return {timed_case(stage.number, whole), timed_case(stage.number, cut)};
}

LAB_PROGRAM(
    {.lab_id = "14-arithmetic-intensity",
     .signature = {.parameters =
                       "(float*, float const*, float const*, int, int, int, int, int, int)"},
     .timed_cases = timed_cases});

}  // namespace
