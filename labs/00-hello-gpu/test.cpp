// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 00: the tests of every stage, easiest first, and the run that is timed. Every sum is rounded
/// once, so all comparisons are exact.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/00-hello-gpu/reference.hpp"

namespace {

using namespace membound::harness;
using membound::labs::hello_gpu::sums;

class HelloGpu : public LabTest {
 protected:
  /// Runs the stage and compares all of its output.
  void check_values(const std::vector<float>& a, const std::vector<float>& b) {
    DeviceArray<float> d_a(a), d_b(b);
    auto d_out = DeviceArray<float>::poisoned(a.size());
    SCOPED_TRACE("for n = " + std::to_string(a.size()));
    ASSERT_TRUE(launch_once(d_out, d_a, d_b));
    ASSERT_TRUE(arrays_equal(d_out.to_host(), sums(a, b), shape(a.size())));
  }

  /// Whole numbers: a difference is easy to read.
  void check(std::size_t n) {
    check_values(generate_integers<float>(n, 0, 9999, seed()),
                 generate_integers<float>(n, 10000, 99999, random_bits(seed(), 1)));
  }

  void check_sizes(std::initializer_list<std::size_t> sizes) {
    for (const std::size_t n : sizes) {
      ASSERT_NO_FATAL_FAILURE(check(n));
    }
  }

  testing::AssertionResult launch_once(DeviceArray<float>& d_out, DeviceArray<float>& d_a,
                                       DeviceArray<float>& d_b) {
    const auto n = static_cast<std::int64_t>(d_a.size());
    const float *const a = d_a.data(), *const b = d_b.data();
    return launch("", {n}, d_out.data(), a, b, static_cast<int>(n));
  }

  static Shape shape(std::size_t n) { return {{static_cast<std::int64_t>(n)}, {"sum"}}; }
};

LAB_TEST_WITH_HINT(HelloGpu, AddsOnePair, "one-pair") { check(1); }
LAB_TEST_WITH_HINT(HelloGpu, AddsOneBlock, "one-block") { check(256); }
LAB_TEST_WITH_HINT(HelloGpu, AddsTwoBlocks, "blocks") { check(512); }

LAB_TEST_WITH_HINT(HelloGpu, EdgesOfBlocks, "edge-guard") {
  check_sizes({31, 32, 33, 255, 257, 511, 513, 1023, 1024, 1025});
}

LAB_TEST_WITH_HINT(HelloGpu, Primes, "edge-guard") { check_sizes({2, 3, 127, 1021, 10007}); }
LAB_TEST_WITH_HINT(HelloGpu, LeavesEmptyArraysAlone, "empty") { check(0); }

LAB_TEST_WITH_HINT(HelloGpu, MoreSumsThanThreads, "turns") {
  // Twice what a full GPU takes in one turn of two sums a thread, and a little more.
  check(static_cast<std::size_t>(multiprocessors()) * 2048 * 4 + 77);
}

LAB_TEST_WITH_HINT(HelloGpu, NumbersThatAreNotWhole, "rounding") {
  check_values(generate<float>(4099, Fill::kUniform, seed()),
               generate<float>(4099, Fill::kUniform, random_bits(seed(), 1)));
}

LAB_TEST_WITH_HINT(HelloGpu, SecondLaunchGivesTheSame, "second-launch") {
  ASSERT_NO_FATAL_FAILURE(check(5003));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check(5003));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check(5003);
}

LAB_TEST_AFTER_TIMING(HelloGpu, PositionsBeyond24Bits, "far-position") {
  constexpr std::int64_t kSize[] = {(std::int64_t{1} << 29) - 3};
  EXPECT_TRUE(far_blocks(kSize, "n may be up to 2^29"));
}

/// Two numbers are read and one is written for every sum.
std::vector<TimedCase> timed_cases(const membound::course::Stage&,
                                   std::span<const std::int64_t> size) {
  const std::int64_t n = size[0];
  const auto count = static_cast<std::size_t>(n);
  TimedCase timed;
  timed.label = std::to_string(n) + " sums";
  timed.sizes = {n};
  timed.useful_bytes = 3.0 * static_cast<double>(n) * sizeof(float);
  timed.inputs = {{.count = count}, {.count = count}};
  timed.output = {.count = count};
  timed.arguments = [n](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<float*>(d_output), static_cast<const float*>(d_inputs[0]),
                            static_cast<const float*>(d_inputs[1]), static_cast<int>(n));
  };
  timed.expected = [](std::span<const HostArray> inputs) {
    return bytes_of(sums(values_of<float>(inputs[0]), values_of<float>(inputs[1])));
  };
  timed.expected_by_place = by_place<float>([](const DrawnInputs& in, std::size_t place) {
    return in.at<float>(0, place) + in.at<float>(1, place);
  });
  return {timed};
}

LAB_PROGRAM({.lab_id = "00-hello-gpu",
             .signature = {.parameters = "(float*, float const*, float const*, int)"},
             .timed_cases = timed_cases});

}  // namespace
