// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 03: the tests of every stage, easiest first, and the runs that are timed. Most matrices are
/// ramps (element i holds i), so that a wrong value tells where it came from.
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/03-transpose/reference.hpp"

namespace {

using namespace membound::harness;
using membound::labs::transpose::transposed;

template <typename T>
constexpr const char* kName = sizeof(T) == 4 ? "float" : "double";

template <typename T>
std::string instance() {
  return "<" + std::string(kName<T>) + ">";
}

/// "for an input of 33 x 65 floats"
template <typename T>
std::string about(std::int64_t rows, std::int64_t cols) {
  std::ostringstream text;
  text << "for an input of " << rows << " x " << cols << " " << kName<T> << "s";
  return text.str();
}

/// The bits of each number as an integer, which keeps -0 apart from 0.
template <typename T>
auto bits_of(const std::vector<T>& values) {
  using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
  std::vector<Bits> bits;
  bits.reserve(values.size());
  for (const T value : values) bits.push_back(std::bit_cast<Bits>(value));
  return bits;
}

class Transpose : public LabTest {
 protected:
  /// Runs the stage on `in` and compares all of its output.
  template <typename T>
  void check_values(const std::vector<T>& in, std::int64_t rows, std::int64_t cols) {
    DeviceArray<T> d_in(in);
    auto d_out = DeviceArray<T>::poisoned(in.size());
    SCOPED_TRACE(about<T>(rows, cols));
    ASSERT_TRUE(launch_once(d_out, d_in, rows, cols));
    ASSERT_TRUE(arrays_equal(d_out.to_host(), transposed(in, rows, cols), shape(rows, cols)));
  }

  /// Float, and if that is right, double.
  void check(std::int64_t rows, std::int64_t cols, Fill fill = Fill::kRamp) {
    ASSERT_NO_FATAL_FAILURE(check_values(generate<float>(rows * cols, fill, seed()), rows, cols));
    ASSERT_NO_FATAL_FAILURE(check_values(generate<double>(rows * cols, fill, seed()), rows, cols));
  }

  template <typename T>
  testing::AssertionResult launch_once(DeviceArray<T>& d_out, DeviceArray<T>& d_in,
                                       std::int64_t rows, std::int64_t cols) {
    const T* const in = d_in.data();
    return launch(instance<T>(), {rows, cols, sizeof(T)}, d_out.data(), in, static_cast<int>(rows),
                  static_cast<int>(cols));
  }

  /// Of the output: its rows are the columns of the input.
  static Shape shape(std::int64_t rows, std::int64_t cols) {
    return {{cols, rows}, {"row", "column"}};
  }

  /// Zeros of both signs, denormals, extremes and infinities, compared bit by bit.
  template <typename T>
  void check_bits(std::int64_t rows, std::int64_t cols) {
    std::vector<T> in = generate<T>(rows * cols, Fill::kAdversarial, seed());
    sprinkle(in, 0.05, std::numeric_limits<T>::infinity(), seed() + 1);
    sprinkle(in, 0.05, -std::numeric_limits<T>::infinity(), seed() + 2);
    DeviceArray<T> d_in(in);
    auto d_out = DeviceArray<T>::poisoned(in.size());
    SCOPED_TRACE(about<T>(rows, cols));
    ASSERT_TRUE(launch_once(d_out, d_in, rows, cols));
    const std::vector<T> out = d_out.to_host(), expected = transposed(in, rows, cols);
    ASSERT_TRUE(arrays_equal(out, expected, shape(rows, cols)));
    ASSERT_TRUE(arrays_equal(bits_of(out), bits_of(expected), shape(rows, cols)))
        << "\nThe numbers above are bit patterns: the values are equal, their bits are not. "
           "A zero has lost its sign: something was computed where it should only be moved";
  }
};

LAB_TEST_WITH_HINT(Transpose, MovesOneElement, "first-element") { check(1, 1, Fill::kConstant); }

LAB_TEST_WITH_HINT(Transpose, MovesOneTile, "one-tile") { check(32, 32); }

LAB_TEST_WITH_HINT(Transpose, TellsRowsFromColumns, "rows-and-columns") {
  ASSERT_NO_FATAL_FAILURE(check(64, 128));
  ASSERT_NO_FATAL_FAILURE(check(128, 64));
}

LAB_TEST_WITH_HINT(Transpose, CoversTheWholeMatrix, "cover") { check(320, 448); }

LAB_TEST_WITH_HINT(Transpose, TilesCutOffAtOneEdge, "edge-guard") {
  ASSERT_NO_FATAL_FAILURE(check(64, 127));
  ASSERT_NO_FATAL_FAILURE(check(127, 64));
}

LAB_TEST_WITH_HINT(Transpose, TilesCutOffAtBothEdges, "edge-guard") {
  ASSERT_NO_FATAL_FAILURE(check(33, 65));
  ASSERT_NO_FATAL_FAILURE(check(95, 63));
}

LAB_TEST_WITH_HINT(Transpose, PrimesInBothDirections, "edge-guard") { check(113, 211); }

LAB_TEST_WITH_HINT(Transpose, OneRowOrOneColumn, "edge-guard") {
  ASSERT_NO_FATAL_FAILURE(check(1, 1000));
  ASSERT_NO_FATAL_FAILURE(check(1000, 1));
}

LAB_TEST_WITH_HINT(Transpose, LeavesEmptyMatricesAlone, "empty") {
  ASSERT_NO_FATAL_FAILURE(check(0, 0));
  ASSERT_NO_FATAL_FAILURE(check(0, 5));
  ASSERT_NO_FATAL_FAILURE(check(5, 0));
}

LAB_TEST_WITH_HINT(Transpose, DoublesKeepTheirDigits, "precision") {
  check_values(generate<double>(40 * 70, Fill::kUniform, seed()), 40, 70);
}

LAB_TEST_WITH_HINT(Transpose, EveryBitSurvives, "bits") {
  ASSERT_NO_FATAL_FAILURE(check_bits<float>(70, 41));
  ASSERT_NO_FATAL_FAILURE(check_bits<double>(70, 41));
}

LAB_TEST_WITH_HINT(Transpose, KeepsAConstantMatrixConstant, "cover") {
  check(96, 97, Fill::kConstant);
}

LAB_TEST_WITH_HINT(Transpose, LongAndThin, "long-and-thin") {
  // As long as kernel.cuh allows; shorter on the virtual GPU, where threads without work cost time,
  // but more than 65,535, the largest grid in y and z. One type for each direction: on a GPU the
  // host's part took a third of the time of a submission.
  const std::int64_t length = on_virtual_gpu() ? 70'000 : 1'000'000;
  ASSERT_NO_FATAL_FAILURE(
      check_values(generate<float>(length * 3, Fill::kRamp, seed()), length, 3));
  ASSERT_NO_FATAL_FAILURE(
      check_values(generate<double>(length * 3, Fill::kRamp, seed()), 3, length));
}

LAB_TEST_WITH_HINT(Transpose, SeveralWavesOfBlocks, "cover") {
  if (on_virtual_gpu())  // half as many threads again as an H200 holds, each with an element
    check_values(generate<float>(1003 * 401, Fill::kUniform, seed()), 1003, 401);
  else
    check(1003, 1201, Fill::kUniform);
}

LAB_TEST_WITH_HINT(Transpose, SecondLaunchGivesTheSame, "second-launch") {
  const std::vector<float> in = generate<float>(100 * 200, Fill::kUniform, seed());
  {
    DeviceArray<float> d_in(in);
    auto d_first = DeviceArray<float>::poisoned(in.size());
    auto d_second = DeviceArray<float>::poisoned(in.size());
    ASSERT_TRUE(launch_once(d_first, d_in, 100, 200)) << "\nin the first of two launches";
    ASSERT_TRUE(launch_once(d_second, d_in, 100, 200)) << "\nin the second of two launches";
    ASSERT_TRUE(arrays_equal(d_first.to_host(), transposed(in, 100, 200), shape(100, 200)))
        << "\nin the first of two launches";
    ASSERT_TRUE(arrays_equal(d_second.to_host(), transposed(in, 100, 200), shape(100, 200)))
        << "\nin the second of two launches";
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check_values(generate<float>(in.size(), Fill::kUniform, seed()), 100, 200);
}

LAB_TEST_AFTER_TIMING(Transpose, PositionsBeyond32Bits, "wide-index") {
  // A little more than 2^32 elements. Stage 1 has few rows, because each thread walks through all
  // of them; the others have no more of them than 65,535 tiles of 16 hold.
  const std::int64_t size[] = {stage().number == 1 ? 67 : 999'983,
                               stage().number == 1 ? 64'123'457 : 4'297};
  EXPECT_TRUE(far_blocks(size, "rows * cols may pass 2^31"));
}

/// The same matrix as floats and as doubles; every element is read once and written once.
template <typename T>
TimedCase timed_case(std::int64_t rows, std::int64_t cols) {
  const std::size_t count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  TimedCase timed;
  timed.label = std::string(kName<T>) + " " + std::to_string(rows) + " x " + std::to_string(cols);
  timed.instance = instance<T>();
  timed.sizes = {rows, cols, sizeof(T)};
  timed.useful_bytes = 2.0 * static_cast<double>(count) * sizeof(T);
  timed.inputs = {{.type = element_type_of<T>(), .count = count}};
  timed.output = {.type = element_type_of<T>(), .count = count};
  timed.arguments = [rows, cols](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<T*>(d_output), static_cast<const T*>(d_inputs[0]),
                            static_cast<int>(rows), static_cast<int>(cols));
  };
  timed.expected = [rows, cols](std::span<const HostArray> inputs) {
    return bytes_of(transposed(values_of<T>(inputs[0]), rows, cols));
  };
  timed.expected_by_place = by_place<T>([rows, cols](const DrawnInputs& in, std::size_t place) {
    const auto row = static_cast<std::int64_t>(place) % rows;
    return in.at<T>(0,
                    static_cast<std::size_t>(row * cols + static_cast<std::int64_t>(place) / rows));
  });
  return timed;
}

std::vector<TimedCase> timed_cases(const membound::course::Stage&,
                                   std::span<const std::int64_t> size) {
  return {timed_case<float>(size[0], size[1]), timed_case<double>(size[0], size[1])};
}

LAB_PROGRAM({.lab_id = "03-transpose",
             .signature = {.instances = {"<float>", "<double>"},
                           .parameters = "(T*, T const*, int, int)"},
             .timed_cases = timed_cases});

}  // namespace
