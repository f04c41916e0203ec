// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 01: the tests of every stage, easiest first, and the run that is timed. Most arrays are
/// ramps (element i holds i), so that a wrong value tells where it came from.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"

namespace {

using namespace membound::harness;

/// The numbers of `in`, last one first.
// [reversed]
std::vector<int> reversed(const std::vector<int>& in) {
  std::vector<int> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[in.size() - 1 - i] = in[i];
  return out;
}
// [/reversed]

constexpr int kVectorStage = 3;

std::string about(std::size_t n) {
  return "for an array of " + std::to_string(n) + (n == 1 ? " int" : " ints");
}

class ReverseArray : public LabTest {
 protected:
  /// Runs the stage on `in` and compares all of its output.
  void check_values(const std::vector<int>& in) {
    DeviceArray<int> d_in(in);
    auto d_out = DeviceArray<int>::poisoned(in.size());
    SCOPED_TRACE(about(in.size()));
    ASSERT_TRUE(launch_once(d_out, d_in));
    ASSERT_TRUE(arrays_equal(d_out.to_host(), reversed(in), shape(in.size())));
  }

  void check(std::size_t n, Fill fill = Fill::kRamp) {
    check_values(generate<int>(n, fill, seed()));
  }

  testing::AssertionResult launch_once(DeviceArray<int>& d_out, DeviceArray<int>& d_in) {
    const auto n = static_cast<long long>(d_in.size());
    const int* const in = d_in.data();
    return launch("", {n}, d_out.data(), in, n);
  }

  static Shape shape(std::size_t n) { return {{static_cast<std::int64_t>(n)}, {"element"}}; }
};

LAB_TEST_WITH_HINT(ReverseArray, MovesOneElement, "first-element") { check(1, Fill::kConstant); }

LAB_TEST_WITH_HINT(ReverseArray, ReversesOneBlock, "one-block") { check(256); }

LAB_TEST_WITH_HINT(ReverseArray, ReversesTheOrderOfBlocks, "blocks") { check(4096); }

LAB_TEST_WITH_HINT(ReverseArray, LastBlockIsCutOff, "edge-guard") {
  for (const std::size_t n : {255, 257, 1000, 2500}) {
    ASSERT_NO_FATAL_FAILURE(check(n));
  }
}

LAB_TEST_WITH_HINT(ReverseArray, EveryRemainderOfAVector, "alignment") {
  for (std::size_t n = 2; n <= 35; ++n) {
    ASSERT_NO_FATAL_FAILURE(check(n));
  }
  for (std::size_t n = 4093; n <= 4099; ++n) ASSERT_NO_FATAL_FAILURE(check(n));
}

LAB_TEST_WITH_HINT(ReverseArray, PrimeLengths, "edge-guard") {
  for (const std::size_t n : {127, 1021, 10007, 65537}) {
    ASSERT_NO_FATAL_FAILURE(check(n));
  }
}

LAB_TEST_WITH_HINT(ReverseArray, LeavesAnEmptyArrayAlone, "empty") { check(0); }

LAB_TEST_WITH_HINT(ReverseArray, EveryBitSurvives, "bits") {
  std::vector<int> in = generate<int>(3001, Fill::kUniform, seed());
  sprinkle(in, 0.1, std::numeric_limits<int>::min(), seed() + 1);
  sprinkle(in, 0.1, -1, seed() + 2);
  check_values(in);
}

LAB_TEST_WITH_HINT(ReverseArray, KeepsAConstantArrayConstant, "edge-guard") {
  check(1999, Fill::kConstant);
}

LAB_TEST_WITH_HINT(ReverseArray, SeveralWavesOfBlocks, "cover") {
  check((std::size_t{1} << 21) + 3, Fill::kUniform);
}

LAB_TEST_WITH_HINT(ReverseArray, SecondLaunchGivesTheSame, "second-launch") {
  const std::vector<int> in = generate<int>(20'001, Fill::kUniform, seed());
  {
    DeviceArray<int> d_in(in);
    auto d_first = DeviceArray<int>::poisoned(in.size());
    auto d_second = DeviceArray<int>::poisoned(in.size());
    ASSERT_TRUE(launch_once(d_first, d_in)) << "\nin the first of two launches";
    ASSERT_TRUE(launch_once(d_second, d_in)) << "\nin the second of two launches";
    ASSERT_TRUE(arrays_equal(d_first.to_host(), reversed(in), shape(in.size())))
        << "\nin the first of two launches";
    ASSERT_TRUE(arrays_equal(d_second.to_host(), reversed(in), shape(in.size())))
        << "\nin the second of two launches";
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check_values(generate<int>(in.size(), Fill::kUniform, seed()));
}

LAB_TEST_AFTER_TIMING(ReverseArray, PositionsBeyond32Bits, "wide-index") {
  // So many that a vector's number has more than 31 bits, too.
  constexpr std::int64_t kSize[] = {(std::int64_t{1} << 33) + 16'387};
  EXPECT_TRUE(far_blocks(kSize, "n may be up to 2^34"));
}

/// Every int is read once and written once.
TimedCase timed_case(long long n) {
  TimedCase timed;
  timed.label = std::to_string(n) + " ints";
  timed.sizes = {n};
  timed.useful_bytes = 2.0 * static_cast<double>(n) * sizeof(int);
  timed.inputs = {{.type = ElementType::kInt32, .count = static_cast<std::size_t>(n)}};
  timed.output = {.type = ElementType::kInt32, .count = static_cast<std::size_t>(n)};
  timed.arguments = [n](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<int*>(d_output), static_cast<const int*>(d_inputs[0]), n);
  };
  timed.expected = [](std::span<const HostArray> inputs) {
    return bytes_of(reversed(values_of<int>(inputs[0])));
  };
  timed.expected_by_place = by_place<int>([n](const DrawnInputs& in, std::size_t place) {
    return in.at<int>(0, static_cast<std::size_t>(n) - 1 - place);
  });
  return timed;
}

/// What is fast only where n is a multiple of a vector's ints is not fast.
std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  std::vector<TimedCase> cases = {timed_case(size[0])};
  if (stage.number == kVectorStage && size[0] > 1) {
    cases.push_back(timed_case(size[0] - 1));
    cases.back().may_be_left_out = true;
  }
  return cases;
}

LAB_PROGRAM({.lab_id = "01-reverse-array",
             .signature = {.parameters = "(int*, int const*, long long)"},
             .timed_cases = timed_cases});

}  // namespace
