// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 04: the tests of every stage, easiest first, and the runs that are timed.
///
/// Floats may be added in any order, and each order may round differently. So almost all data here
/// are whole numbers whose absolute values add up to less than 2^24: then every partial sum, in any
/// order, is a whole number that a float holds exactly, nothing is ever rounded, and the answer has
/// to be right to the last bit.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "grader/harness/cases/data.hpp"
#include "grader/harness/lab/lab_test.hpp"
#include "labs/04-reduction/reference.hpp"

namespace {

using namespace membound::harness;
using membound::labs::reduction::sum_parallel;
using membound::labs::reduction::sum_serial;

/// 2^24: up to here a float holds every whole number.
constexpr double kExactLimit = 16'777'216;

/// first, first + 1, ...: no two elements alike, none of them 0.
std::vector<float> counting_from(int first, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(first + static_cast<int>(i));
  return values;
}

double sum_of_sizes(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += std::abs(value);
  return sum;
}

class Reduction : public LabTest {
 protected:
  /// Runs the stage on `in` and compares the sum, bit for bit unless a tolerance is given.
  void check_values(const std::vector<float>& in, Tolerance tolerance = {}) {
    if (tolerance.absolute == 0) {
      ASSERT_LT(sum_of_sizes(in), kExactLimit) << "a mistake in this test, not in the kernel";
    }
    float sum = 0;
    SCOPED_TRACE(about(in.size()));
    ASSERT_TRUE(run_stage(in, sum));
    ASSERT_TRUE(sum_equal(sum, static_cast<float>(sum_serial(in)), tolerance))
        << coverage(in.size());
  }

  /// `n` whole numbers drawn from -largest to largest.
  void check_random(std::int64_t n, std::int64_t largest) {
    check_values(generate_integers<float>(static_cast<std::size_t>(n), -largest, largest, seed()));
  }

  /// Each of these numbers of elements, until one fails.
  void check_sizes(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t n : sizes) {
      // n * largest < 2^24 for every n used here.
      ASSERT_NO_FATAL_FAILURE(check_random(n, std::min<std::int64_t>(1000, 16'000'000 / n)));
    }
  }

  static testing::AssertionResult sum_equal(float got, float expected, Tolerance tolerance) {
    if (element_equal(got, expected, tolerance)) return testing::AssertionSuccess();
    std::ostringstream text;
    text.precision(9);
    text << "the sum is wrong\n  got      ";
    if (is_poison(got))
      text << "nothing (never written)";
    else
      text << got;
    text << "\n  expected " << expected;
    if (tolerance.absolute > 0) text << ", give or take " << tolerance.absolute;
    return testing::AssertionFailure() << text.str();
  }

  /// Launches once with the *sum that kernel.cuh promises: 0, or an uninitialised word from stage 5
  /// on.
  testing::AssertionResult run_stage(const std::vector<float>& in, float& sum) {
    DeviceArray<float> d_in(in);
    auto d_sum =
        stage().number <= 4 ? DeviceArray<float>::filled(1, 0.0F) : DeviceArray<float>::poisoned(1);
    const float* const first = d_in.data();
    const auto n = static_cast<long long>(in.size());
    const testing::AssertionResult launched = launch("", {n}, d_sum.data(), first, n);
    sum = d_sum.to_host()[0];
    return launched;
  }

  static std::string about(std::size_t n) {
    return "for an input of " + std::to_string(n) + (n == 1 ? " element" : " elements");
  }

  /// After a wrong sum: which stretches of the array were not added exactly once. Sets one stretch
  /// to ones and the rest to zeros, so that the sum counts the stretch.
  std::string coverage(std::size_t n) {
    constexpr std::size_t kStretches = 16;
    constexpr std::size_t kLargest = 70'000;
    if (n == 0 || n > kLargest) return "";
    std::ostringstream text;
    const std::size_t stretch = (n + kStretches - 1) / kStretches;
    for (std::size_t begin = 0; begin < n; begin += stretch) {
      const std::size_t end = std::min(n, begin + stretch);
      std::vector<float> probe(n, 0.0F);
      std::fill(probe.begin() + static_cast<std::ptrdiff_t>(begin),
                probe.begin() + static_cast<std::ptrdiff_t>(end), 1.0F);
      float counted = 0;
      if (!run_stage(probe, counted) || std::isnan(counted)) return "";
      if (counted == static_cast<float>(end - begin)) continue;
      text << "\n  elements " << begin << " to " << end - 1 << ": " << counted << " of "
           << end - begin;
    }
    if (text.str().empty()) return "\nwith ones instead of the numbers every element is counted";
    return "\nwith ones instead of the numbers, these parts are not counted exactly once:" +
           text.str();
  }
};

LAB_TEST_WITH_HINT(Reduction, AddsOneBlock, "one-block") { check_values(counting_from(1, 256)); }

LAB_TEST_WITH_HINT(Reduction, AddsOneElement, "edge-guard") { check_values({7}); }

LAB_TEST_WITH_HINT(Reduction, AddsLessThanAWarp, "edge-guard") {
  // Powers of two: the sum, written in binary, has a one for each element that was added.
  for (const int n : {2, 3, 24}) {
    std::vector<float> in;
    for (int i = 0; i < n; ++i) in.push_back(std::ldexp(1.0F, i));
    if (n == 24) in.back() = 0;  // the others already add up to 2^23 - 1
    ASSERT_NO_FATAL_FAILURE(check_values(in));
  }
}

LAB_TEST_WITH_HINT(Reduction, SizesAroundAWarp, "edge-guard") {
  for (const std::size_t n : {31, 32, 33}) {
    ASSERT_NO_FATAL_FAILURE(check_values(counting_from(1, n)));
  }
}

LAB_TEST_WITH_HINT(Reduction, SizesAroundABlock, "several-blocks") {
  for (const std::size_t n : {255, 256, 257}) {
    ASSERT_NO_FATAL_FAILURE(check_values(counting_from(1, n)));
  }
}

LAB_TEST_WITH_HINT(Reduction, NothingAddsUpToZero, "empty") { check_values({}); }

LAB_TEST_WITH_HINT(Reduction, AddsManyBlocks, "several-blocks") { check_random(65'536, 200); }

LAB_TEST_WITH_HINT(Reduction, ConstantTerms, "several-blocks") {
  check_values(std::vector<float>(33'333, 500.0F));
}

LAB_TEST_WITH_HINT(Reduction, PowersOfTwoAndTheirNeighbours, "left-over") {
  check_sizes({511, 512, 513, 1023, 1024, 1025, 4095, 4097, 32'767, 32'769, 131'071, 131'073});
}

LAB_TEST_WITH_HINT(Reduction, Primes, "left-over") {
  check_sizes({2, 3, 5, 7, 61, 251, 1021, 4093, 65'537, 104'729});
}

LAB_TEST_WITH_HINT(Reduction, RampOfTerms, "several-blocks") {
  check_values(counting_from(0, 5'000));
}

LAB_TEST_WITH_HINT(Reduction, LargeTermsCancel, "cancel") {
  // 2000, -2000, 2000, ... 1: the sum is 1, so one term lost or taken twice is all there is to see.
  std::vector<float> in(8'191);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = i % 2 == 0 ? 2000.0F : -2000.0F;
  in.back() = 1;
  check_values(in);
}

LAB_TEST_WITH_HINT(Reduction, SeveralWaves, "several-waves") {
  // More than any device holds at once: 2048 threads for each of 132 multiprocessors, each with
  // four loads of 16 bytes in flight, are 4.3 million elements.
  check_random(5'000'011, 3);
}

LAB_TEST_WITH_HINT(Reduction, RoundsNoMoreThanItMust, "rounding") {
  // Fractions do round. Whatever the order, n - 1 additions with a relative error of at most
  // u = 2^-24 each are off by at most (n - 1) u (|x1| + ... + |xn|), to first order in u (Higham,
  // Accuracy and Stability of Numerical Algorithms, section 4.2); the factor covers the rest.
  const std::vector<float> in = generate<float>(4'099, Fill::kUniform, seed());
  const double n = static_cast<double>(in.size());
  check_values(in, {.absolute = 1.001 * (n - 1) * std::ldexp(1.0, -24) * sum_of_sizes(in)});
}

LAB_TEST_WITH_HINT(Reduction, SecondLaunchGivesTheSame, "second-launch") {
  const std::vector<float> in = generate_integers<float>(100'003, -100, 100, seed());
  ASSERT_NO_FATAL_FAILURE(check_values(in));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check_values(in));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check_values(generate_integers<float>(100'003, -100, 100, seed()));
}

LAB_TEST_AFTER_TIMING(Reduction, PositionsBeyond32Bits, "wide-index") {
  // As many as n may be, and odd: one grid after the last vector an index has more than 31 bits.
  constexpr std::int64_t kSize[] = {(std::int64_t{1} << 33) - 3};
  EXPECT_TRUE(far_blocks(kSize, "n may be up to 2^33"));
}

/// n whole numbers from -127 to 127, drawn anew for every run. Their sum is a random walk whose
/// steps have a variance of 5,419 (255^2 / 12): even 2^28 of them, in any order chosen without
/// looking at them, have a standard deviation of 1.2 million, a fourteenth of 2^24. So timed sums
/// are exact, too. Those of 256 have one of 1,178: of many blocks some pass 2^11, up to where a
/// half holds every whole number.
TimedCase timed_case(const membound::course::Stage& stage, std::int64_t n) {
  TimedCase timed;
  timed.label = std::to_string(n) + " floats";
  timed.sizes = {n};
  timed.useful_bytes = static_cast<double>(n) * sizeof(float);
  timed.inputs = {{.count = static_cast<std::size_t>(n), .integers = IntegerRange{-127, 127}}};
  timed.output = {.count = 1, .initial = stage.number <= 4 ? Initial::kZero : Initial::kPoison};
  timed.arguments = [n](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<float*>(d_output), static_cast<const float*>(d_inputs[0]),
                            static_cast<long long>(n));
  };
  timed.expected = [](std::span<const HostArray> inputs) {
    return bytes_of<float>({static_cast<float>(sum_serial(values_of<float>(inputs[0])))});
  };
  timed.expected_of_read = [](const DrawnInputs& in, std::span<const ElementRange> read) {
    double sum = 0;
    for (const auto& [first, count] : read)
      for (std::size_t i = first; i < first + count; ++i) sum += in.at<float>(0, i);
    return bytes_of<float>({static_cast<float>(sum)});
  };
  return timed;
}

std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  return {timed_case(stage, size[0])};
}

/// The same sum on the host, on data that costs next to nothing to make.
template <typename Sum>
CpuBaseline cpu_baseline(const char* label, Sum sum) {
  return {label, [sum](std::span<const std::int64_t> size) -> std::function<void()> {
            auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(size[0]));
            for (std::size_t i = 0; i < values->size(); ++i)
              (*values)[i] = static_cast<float>(i & 15) - 8.0F;
            return [values, sum] {
              // Stored where the compiler cannot know that nobody looks, so that it must be
              // computed.
              [[maybe_unused]] const volatile double result = sum(*values);
            };
          }};
}

LAB_PROGRAM({.lab_id = "04-reduction",
             .signature = {.parameters = "(float*, float const*, long long)"},
             .timed_cases = timed_cases,
             .cpu_baselines = {cpu_baseline("CPU, one core",
                                            [](std::span<const float> v) { return sum_serial(v); }),
                               cpu_baseline("CPU, all cores", [](std::span<const float> v) {
                                 return sum_parallel(v);
                               })}});

}  // namespace
