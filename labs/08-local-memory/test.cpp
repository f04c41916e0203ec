// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 08: the tests of every stage, easiest first, and the run that is timed. Every stage has its
/// own result, of its own number of rows, for the same samples.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/08-local-memory/kernel_constants.hpp"

namespace {

using namespace membound::harness;
using namespace membound::kernel_constants;
using membound::course::Stage;

// What each stage computes, where an index costs nothing.

/// `in` is m rows of n samples, as the results of the first two are.
std::vector<int> window_maxima(const std::vector<int>& in, std::int64_t n, int m) {
  std::vector<int> out(in.size());
  for (std::int64_t series = 0; series < n; ++series) {
    // [ring]
    std::array<int, kWindow> window{};
    for (int j = 0; j < m; ++j) {
      window[j % kWindow] = in[j * n + series];
      out[j * n + series] = *std::max_element(window.begin(), window.end());
    }
    // [/ring]
  }
  return out;
}

std::vector<int> previous_of_level(const std::vector<int>& in, std::int64_t n, int m) {
  std::vector<int> out(in.size());
  for (std::int64_t series = 0; series < n; ++series) {
    // [previous]
    std::array<int, kLevels> last{};
    for (int j = 0; j < m; ++j) {
      const int sample = in[j * n + series];
      out[j * n + series] = last[sample & 7];
      last[sample & 7] = sample;
    }
    // [/previous]
  }
  return out;
}

/// kLevels rows of n counts.
std::vector<int> level_counts(const std::vector<int>& in, std::int64_t n, int m) {
  std::vector<int> out(static_cast<std::size_t>(n) * kLevels, 0);
  for (int j = 0; j < m; ++j)
    for (std::int64_t series = 0; series < n; ++series)
      ++out[(in[j * n + series] & 7) * n + series];
  return out;
}

/// Of both signs; their last three bits are any of the levels.
constexpr std::int64_t kLargest = 1'000'000;

std::string about(std::int64_t n, int m) {
  return "for " + std::to_string(n) + " series of " + std::to_string(m) + " samples";
}

int rows_of_result(const Stage& stage, int m) { return stage.number == 3 ? kLevels : m; }

std::vector<int> expected_of(const Stage& stage, const std::vector<int>& in, std::int64_t n,
                             int m) {
  if (stage.number == 1) return window_maxima(in, n, m);
  return stage.number == 2 ? previous_of_level(in, n, m) : level_counts(in, n, m);
}

class Series : public LabTest {
 protected:
  /// Runs the stage on m rows of n samples and compares all of its output.
  void check_values(const std::vector<int>& in, std::int64_t n, int m) {
    std::vector<int> out;
    SCOPED_TRACE(about(n, m));
    ASSERT_TRUE(launch_once(in, n, m, out));
    ASSERT_TRUE(arrays_equal(out, expected_of(stage(), in, n, m), shape(n, m)));
  }

  void check(std::int64_t n, int m) { check_values(samples(n, m), n, m); }

  [[nodiscard]] std::vector<int> samples(std::int64_t n, int m) const {
    return generate_integers<int>(static_cast<std::size_t>(n * m), -kLargest, kLargest, seed());
  }

  testing::AssertionResult launch_once(const std::vector<int>& in, std::int64_t n, int m,
                                       std::vector<int>& out) {
    DeviceArray<int> d_in(in);
    auto d_out =
        DeviceArray<int>::poisoned(static_cast<std::size_t>(n * rows_of_result(stage(), m)));
    const int* const first = d_in.data();
    const auto launched = launch("", {n, m}, d_out.data(), first, static_cast<long long>(n), m);
    out = d_out.to_host();
    return launched;
  }

  [[nodiscard]] Shape shape(std::int64_t n, int m) const {
    return {{rows_of_result(stage(), m), n}, {stage().number == 3 ? "level" : "sample", "series"}};
  }
};

LAB_TEST_WITH_HINT(Series, OneSampleOfOneSeries, "first-sample") { check_values({13}, 1, 1); }

LAB_TEST_WITH_HINT(Series, OneSeries, "one-series") {
  // Rising and falling, all levels, the largest one first in many windows.
  std::vector<int> in;
  for (int j = 0; j < 40; ++j) in.push_back(j % 2 == 0 ? 100 + 3 * j : 400 - 5 * j);
  check_values(in, 1, 40);
}

LAB_TEST_WITH_HINT(Series, OneBlockOfSeries, "one-series") { check(256, 20); }

LAB_TEST_WITH_HINT(Series, FewerSamplesThanAWindow, "start") {
  for (int m = 1; m <= 9; ++m) ASSERT_NO_FATAL_FAILURE(check(33, m));
}

LAB_TEST_WITH_HINT(Series, NegativeSamples, "negative") {
  std::vector<int> in(std::size_t{40} * 30);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = -1 - static_cast<int>(i * 37 % 1000);
  check_values(in, 40, 30);
}

LAB_TEST_WITH_HINT(Series, AlwaysTheSameLevel, "one-level") {
  std::vector<int> in(std::size_t{70} * 25);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i) * kLevels + 5;
  check_values(in, 70, 25);
}

LAB_TEST_WITH_HINT(Series, EveryLaneAnotherLevel, "one-level") {
  std::vector<int> in(std::size_t{64} * 24);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i % 64 + i / 64);
  check_values(in, 64, 24);
}

LAB_TEST_WITH_HINT(Series, BlocksCutOff, "edge-guard") {
  for (const int n : {2, 31, 255, 257, 1000}) ASSERT_NO_FATAL_FAILURE(check(n, 11));
}

LAB_TEST_WITH_HINT(Series, PrimesInBothDirections, "edge-guard") {
  ASSERT_NO_FATAL_FAILURE(check(127, 101));
  ASSERT_NO_FATAL_FAILURE(check(1021, 17));
}

LAB_TEST_WITH_HINT(Series, NoSeries, "empty") { check(0, 5); }

LAB_TEST_WITH_HINT(Series, NoSamples, "empty") { check(300, 0); }

LAB_TEST_WITH_HINT(Series, LongSeries, "one-series") { check(3, 5000); }

LAB_TEST_WITH_HINT(Series, SeveralWavesOfBlocks, "edge-guard") {
  // Of more series than a GPU has places for threads: twice as many, on the virtual GPU, which
  // computes each of them, half as many again.
  const std::int64_t places = std::int64_t{multiprocessors()} * 2048;
  if (on_virtual_gpu())
    check(places + 77, 1);
  else
    check(places * 2 + 77, 9);
}

LAB_TEST_WITH_HINT(Series, SecondLaunchGivesTheSame, "second-launch") {
  const std::int64_t n = 600;
  const int m = 19;
  const std::vector<int> in = samples(n, m), expected = expected_of(stage(), in, n, m);
  std::vector<int> first, second;
  ASSERT_TRUE(launch_once(in, n, m, first)) << "\nin the first of two launches";
  ASSERT_TRUE(launch_once(in, n, m, second)) << "\nin the second of two launches";
  ASSERT_TRUE(arrays_equal(first, expected, shape(n, m))) << "\nin the first of two launches";
  ASSERT_TRUE(arrays_equal(second, expected, shape(n, m))) << "\nin the second of two launches";
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check(n, m);
}

LAB_TEST_AFTER_TIMING(Series, CountsBeyond16Bits, "narrow-count") {
  // A count of 8 or 16 bits wraps where one level has all samples of a series. Four series, so that
  // four bytes that share a word are all in use.
  constexpr int kSamples = (1 << 16) + 77;
  std::vector<int> in(std::size_t{4} * kSamples);
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<int>(i / 4 % 1000) * kLevels + static_cast<int>(i % 4);
  check_values(in, 4, kSamples);
}

LAB_TEST_AFTER_TIMING(Series, PositionsBeyond32Bits, "wide-index") {
  // 2^32 and 67,109,059 samples.
  constexpr std::int64_t kSize[] = {(std::int64_t{1} << 26) + 3, 65};
  EXPECT_TRUE(far_blocks(kSize, "n * m may pass 2^31"));
}

/// The elements [first, first + count) of the result: their series cut out of the input, some at a
/// time, and taken for a whole one.
HostArray expected_part(const Stage& stage, const DrawnInputs& in, std::size_t first,
                        std::size_t count, std::int64_t n, int m) {
  constexpr std::int64_t kTogether = 128;
  HostArray right(count * sizeof(int));
  for (std::size_t i = 0; i < count;) {
    const auto place = static_cast<std::int64_t>(first + i);
    const std::int64_t row = place / n, series = place % n, from = series / kTogether * kTogether;
    const std::int64_t together = std::min(kTogether, n - from);
    const HostArray& of_all = in.once(from, [&] {
      std::vector<int> part;
      for (std::int64_t j = 0; j < m; ++j)
        for (std::int64_t s = from; s < from + together; ++s)
          part.push_back(in.at<int>(0, static_cast<std::size_t>(j * n + s)));
      return bytes_of(expected_of(stage, part, together, m));
    });
    const std::size_t run = std::min(count - i, static_cast<std::size_t>(from + together - series));
    std::memcpy(&right[i * sizeof(int)],
                &of_all[static_cast<std::size_t>(row * together + series - from) * sizeof(int)],
                run * sizeof(int));
    i += run;
  }
  return right;
}

/// Every sample is read once, and every element of the result is written once.
std::vector<TimedCase> timed_cases(const Stage& stage, std::span<const std::int64_t> size) {
  const long long n = size[0];
  const int m = static_cast<int>(size[1]);
  const auto read = static_cast<std::size_t>(n * m);
  const auto written = static_cast<std::size_t>(n * rows_of_result(stage, m));
  TimedCase timed;
  timed.label = std::to_string(n) + " series of " + std::to_string(m) + " samples";
  timed.sizes = {n, m};
  timed.useful_bytes = static_cast<double>(read + written) * sizeof(int);
  timed.inputs = {
      {.type = ElementType::kInt32, .count = read, .integers = IntegerRange{-kLargest, kLargest}}};
  timed.output = {.type = ElementType::kInt32, .count = written};
  timed.arguments = [n, m](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<int*>(d_output), static_cast<const int*>(d_inputs[0]), n,
                            m);
  };
  timed.expected = [stage, n, m](std::span<const HostArray> inputs) {
    return bytes_of(expected_of(stage, values_of<int>(inputs[0]), n, m));
  };
  timed.expected_by_place = [stage, n, m](const DrawnInputs& inputs, std::size_t first,
                                          std::size_t count, HostArray& right) {
    right = expected_part(stage, inputs, first, count, n, m);
  };
  return {timed};
}

LAB_PROGRAM({.lab_id = "08-local-memory",
             .signature = {.parameters = "(int*, int const*, long long, int)"},
             .timed_cases = timed_cases});

}  // namespace
