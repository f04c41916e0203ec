// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 13: the tests of the stages about kernels, easiest first, and the run that is timed. All
/// numbers are whole and no sum overflows, so all comparisons are exact.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/13-debugging/reference.hpp"

namespace {

using namespace membound::harness;
namespace debugging = membound::labs::debugging;

constexpr int kLargest = 99999;  // of either sign: see kernel.cuh

class Debugging : public LabTest {
 protected:
  /// Runs the stage on `in` and compares all of its output.
  void check_values(const std::vector<int>& in) {
    DeviceArray<int> d_in(in);
    auto d_out = DeviceArray<int>::poisoned(in.size());
    const int* const input = d_in.data();
    const auto n = static_cast<std::int64_t>(in.size());
    SCOPED_TRACE("for n = " + std::to_string(in.size()));
    ASSERT_TRUE(launch("", {n}, d_out.data(), input, static_cast<int>(n)));
    ASSERT_TRUE(
        arrays_equal(d_out.to_host(), debugging::results(stage().number, in), {{n}, {"element"}}));
  }

  void check(std::size_t n) {
    check_values(generate_integers<int>(n, -kLargest, kLargest, seed()));
  }

  void check_sizes(std::initializer_list<std::size_t> sizes) {
    for (const std::size_t n : sizes) {
      ASSERT_NO_FATAL_FAILURE(check(n));
    }
  }
};

LAB_TEST_WITH_HINT(Debugging, OneElement, "first-element") { check(1); }

LAB_TEST_WITH_HINT(Debugging, OneWarp, "one-warp") { check(32); }

LAB_TEST_WITH_HINT(Debugging, OneBlock, "one-block") { check_sizes({256, 512}); }

LAB_TEST_WITH_HINT(Debugging, EdgesOfBlocks, "edges") {
  check_sizes({31, 33, 255, 257, 511, 513, 767, 1023, 1025});
}

LAB_TEST_WITH_HINT(Debugging, Primes, "edges") { check_sizes({2, 3, 7, 127, 1021, 10007}); }

LAB_TEST_WITH_HINT(Debugging, LeavesEmptyArraysAlone, "empty") { check(0); }

LAB_TEST_WITH_HINT(Debugging, ManyBlocks, "one-block") { check((std::size_t{1} << 17) + 5); }

LAB_TEST_WITH_HINT(Debugging, SecondLaunchGivesTheSame, "second-launch") {
  ASSERT_NO_FATAL_FAILURE(check(5003));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check(5003));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check(5003);
}

LAB_TEST_AFTER_TIMING(Debugging, PositionsBeyond24Bits, "far-position") {
  constexpr std::int64_t kSize[] = {(std::int64_t{1} << 30) - 3};
  EXPECT_TRUE(far_blocks(kSize, "n may be up to 2^30"));
}

/// Every int is read once and written once, as far as memory is concerned.
std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  const std::int64_t n = size[0];
  const auto count = static_cast<std::size_t>(n);
  const int number = stage.number;
  TimedCase timed;
  timed.label = std::to_string(n) + " ints";
  timed.sizes = {n};
  timed.useful_bytes = 2.0 * static_cast<double>(n) * sizeof(int);
  timed.inputs = {
      {.type = ElementType::kInt32, .count = count, .integers = IntegerRange{-kLargest, kLargest}}};
  timed.output = {.type = ElementType::kInt32, .count = count};
  timed.arguments = [n](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<int*>(d_output), static_cast<const int*>(d_inputs[0]),
                            static_cast<int>(n));
  };
  timed.expected = [number](std::span<const HostArray> inputs) {
    return bytes_of(debugging::results(number, values_of<int>(inputs[0])));
  };
  timed.expected_by_place =
      by_place<int>([number, count](const DrawnInputs& in, std::size_t place) {
        return debugging::element(number, place, count,
                                  [&](std::size_t j) { return in.at<int>(0, j); });
      });
  return {timed};
}

LAB_PROGRAM({.lab_id = "13-debugging",
             .signature = {.parameters = "(int*, int const*, int)"},
             .timed_cases = timed_cases});

}  // namespace
