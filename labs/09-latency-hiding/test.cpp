// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 09: the tests of every stage, easiest first, and the run that is timed. All numbers are
/// whole and their results stay below 2^24, so that no order of the two operations rounds.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"

namespace {

using namespace membound::harness;

/// gain * sample + offset for every sample. Exact for whole numbers below 2^24 in between.
// [calibrated]
std::vector<float> calibrated(const std::vector<float>& in, float gain, float offset) {
  std::vector<float> out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = gain * in[i] + offset;
  return out;
}
// [/calibrated]

constexpr int kVectorStage = 4;
/// Odd, so that a sample that was never calibrated or calibrated twice is not right by luck.
constexpr float kGain = 3, kOffset = 7;
/// |3 * sample + 7| stays far below 2^24.
constexpr std::int64_t kLargest = 1'000'000;

std::string about(std::size_t n, float gain, float offset) {
  std::ostringstream text;
  text << "for " << n << (n == 1 ? " sample" : " samples") << ", gain " << gain << ", offset "
       << offset;
  return text.str();
}

class Calibrate : public LabTest {
 protected:
  /// Runs the stage on `in` and compares all of its output.
  void check_values(const std::vector<float>& in, float gain, float offset) {
    DeviceArray<float> d_in(in);
    auto d_out = DeviceArray<float>::poisoned(in.size());
    SCOPED_TRACE(about(in.size(), gain, offset));
    ASSERT_TRUE(launch_once(d_out, d_in, gain, offset));
    ASSERT_TRUE(arrays_equal(d_out.to_host(), calibrated(in, gain, offset), shape(in.size())));
  }

  void check(std::size_t n, float gain = kGain, float offset = kOffset) {
    check_values(generate_integers<float>(n, -kLargest, kLargest, seed()), gain, offset);
  }

  void check_sizes(std::initializer_list<std::size_t> sizes) {
    for (const std::size_t n : sizes) {
      ASSERT_NO_FATAL_FAILURE(check(n));
    }
  }

  testing::AssertionResult launch_once(DeviceArray<float>& d_out, DeviceArray<float>& d_in,
                                       float gain, float offset) {
    const auto n = static_cast<long long>(d_in.size());
    const float* const in = d_in.data();
    return launch("", {n}, d_out.data(), in, n, gain, offset);
  }

  static Shape shape(std::size_t n) { return {{static_cast<std::int64_t>(n)}, {"sample"}}; }
};

LAB_TEST_WITH_HINT(Calibrate, CalibratesOneSample, "first-sample") { check(1); }

LAB_TEST_WITH_HINT(Calibrate, CalibratesOneBlock, "one-batch") { check(256); }

LAB_TEST_WITH_HINT(Calibrate, CalibratesOneBatch, "one-batch") {
  // 256 x 2, 256 x 16, 384 x 16: what a block of each stage takes at once.
  check_sizes({512, 4096, 6144});
}

LAB_TEST_WITH_HINT(Calibrate, OneMoreAndOneLessThanABatch, "rest") {
  check_sizes({255, 257, 511, 513, 4095, 4097, 6143, 6145});
}

LAB_TEST_WITH_HINT(Calibrate, EveryRemainderOfAVector, "rest") {
  check_sizes({2, 3, 5, 4093, 4094, 8191});
}

LAB_TEST_WITH_HINT(Calibrate, Primes, "rest") { check_sizes({127, 1021, 10007, 12289}); }

LAB_TEST_WITH_HINT(Calibrate, LeavesAnEmptyArrayAlone, "empty") { check(0); }

LAB_TEST_WITH_HINT(Calibrate, UsesGainAndOffset, "formula") {
  ASSERT_NO_FATAL_FAILURE(check(3001, -1, 0));
  ASSERT_NO_FATAL_FAILURE(check(3001, 0, 5));
  ASSERT_NO_FATAL_FAILURE(check(3001, 2, -11));
}

LAB_TEST_WITH_HINT(Calibrate, SeveralSweeps, "sweeps") {
  // Twice as much as a full device takes in one step: 2,048 threads an SM with one and two loads
  // each, 512 with sixteen. On the virtual GPU, which computes each sample, once as much, one more
  // batch of a block, and some samples after it.
  const int of_sm[] = {2048, 4096, 8192, 8192};
  const std::size_t step = std::size_t{1} * multiprocessors() * of_sm[stage().number - 1];
  check((on_virtual_gpu() ? 1 : 2) * step + 6147);
}

LAB_TEST_WITH_HINT(Calibrate, SecondLaunchGivesTheSame, "second-launch") {
  const auto in = generate_integers<float>(20'011, -kLargest, kLargest, seed());
  {
    DeviceArray<float> d_in(in);
    auto d_first = DeviceArray<float>::poisoned(in.size());
    auto d_second = DeviceArray<float>::poisoned(in.size());
    ASSERT_TRUE(launch_once(d_first, d_in, kGain, kOffset)) << "\nin the first of two launches";
    ASSERT_TRUE(launch_once(d_second, d_in, kGain, kOffset)) << "\nin the second of two launches";
    const std::vector<float> expected = calibrated(in, kGain, kOffset);
    ASSERT_TRUE(arrays_equal(d_first.to_host(), expected, shape(in.size())))
        << "\nin the first of two launches";
    ASSERT_TRUE(arrays_equal(d_second.to_host(), expected, shape(in.size())))
        << "\nin the second of two launches";
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check_values(generate_integers<float>(in.size(), -kLargest, kLargest, seed()), kGain, kOffset);
}

LAB_TEST_AFTER_TIMING(Calibrate, PositionsBeyond32Bits, "wide-index") {
  // More than 2^31 by two steps of a full device's grid: whichever block is looked at has samples
  // beyond.
  constexpr std::int64_t kSize[] = {(std::int64_t{1} << 31) + (std::int64_t{1} << 21) + 16'387};
  EXPECT_TRUE(far_blocks(kSize, "n may be up to 2^34"));
}

/// Every sample is read once and written once.
TimedCase timed_case(long long n) {
  const auto count = static_cast<std::size_t>(n);
  TimedCase timed;
  timed.label = std::to_string(n) + " samples";
  timed.sizes = {n};
  timed.useful_bytes = 2.0 * static_cast<double>(n) * sizeof(float);
  timed.inputs = {{.count = count, .integers = IntegerRange{-kLargest, kLargest}}};
  timed.output = {.count = count};
  timed.arguments = [n](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<float*>(d_output), static_cast<const float*>(d_inputs[0]),
                            n, kGain, kOffset);
  };
  timed.expected = [](std::span<const HostArray> inputs) {
    return bytes_of(calibrated(values_of<float>(inputs[0]), kGain, kOffset));
  };
  timed.expected_by_place = by_place<float>([](const DrawnInputs& in, std::size_t place) {
    return kGain * in.at<float>(0, place) + kOffset;
  });
  return timed;
}

/// What is fast only where n is a multiple of a vector's samples is not fast.
std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  std::vector<TimedCase> cases = {timed_case(size[0])};
  if (stage.number == kVectorStage && size[0] > 1) {
    cases.push_back(timed_case(size[0] - 1));
    cases.back().may_be_left_out = true;
  }
  return cases;
}

LAB_PROGRAM({.lab_id = "09-latency-hiding",
             .signature = {.parameters = "(float*, float const*, long long, float, float)"},
             .timed_cases = timed_cases});

}  // namespace
