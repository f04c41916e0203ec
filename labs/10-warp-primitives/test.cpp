// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 10: the tests of every stage, easiest first, and the runs that are timed. All is integers,
/// so all comparisons are exact. The kept numbers of stage 3 may stand in any order: the tests sort
/// them, and where a run is timed they are all the same number.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/10-warp-primitives/kernel_constants.hpp"

namespace {

using namespace membound::harness;
using namespace membound::kernel_constants;
// What each stage's result is.
namespace reference {

/// Numbers of a row.
constexpr std::int64_t kRow = kWarpLanes;

std::size_t end_of_row(std::size_t first, std::size_t n) { return std::min(n, first + kRow); }

int as_int(std::uint32_t word) { return static_cast<int>(word); }

/// For each row of 32, how many numbers are smaller than k.
std::vector<int> kept_of_rows(const std::vector<int>& in, std::int64_t k) {
  std::vector<int> out;
  for (std::size_t first = 0; first < in.size(); first += kRow) {
    int kept = 0;
    for (std::size_t i = first; i < end_of_row(first, in.size()); ++i) kept += in[i] < k ? 1 : 0;
    out.push_back(kept);
  }
  return out;
}

/// For each number below k, how many before it in its row equal it; -1 for the others.
std::vector<int> ranks(const std::vector<int>& in, std::int64_t k) {
  std::vector<int> out(in.size(), -1);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] >= k) continue;
    out[i] = 0;
    for (std::size_t before = i - i % kRow; before < i; ++before)
      out[i] += in[before] == in[i] ? 1 : 0;
  }
  return out;
}

/// kHead + in.size() words: how many numbers are smaller than k, from kHead on these numbers in
/// their order, and zeros.
std::vector<int> compacted(const std::vector<int>& in, std::int64_t k) {
  std::vector<int> out(kHead + in.size(), 0);
  std::size_t place = kHead;
  for (const int number : in)
    if (number < k) out[place++] = number;
  out[0] = static_cast<int>(place - kHead);
  return out;
}

/// Numbers l and l + 16 of each row after k exchanges; what overflows wraps.
std::vector<int> traded(const std::vector<int>& in, std::int64_t k) {
  std::vector<int> out = in;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i % kRow >= kRow / 2) continue;
    const bool has_partner = i + kRow / 2 < in.size();
    std::uint32_t first = static_cast<std::uint32_t>(in[i]);
    std::uint32_t second = has_partner ? static_cast<std::uint32_t>(in[i + kRow / 2]) : 0;
    for (std::int64_t round = 0; round < k; ++round) {
      first += second;
      second += first;
    }
    out[i] = as_int(first);
    if (has_partner) out[i + kRow / 2] = as_int(second);
  }
  return out;
}

/// k times each number less the sum of all; what overflows wraps.
std::vector<int> centered(const std::vector<int>& in, std::int64_t k) {
  std::uint32_t total = 0;
  for (const int number : in) total += static_cast<std::uint32_t>(number);
  std::vector<int> out;
  out.reserve(in.size());
  for (const int number : in)
    out.push_back(
        as_int(static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(number) - total));
  return out;
}

}  // namespace reference
using reference::kRow;

enum Number { kCount = 1, kRank, kCompact, kTrade, kCenter };

/// Words of `out`.
std::int64_t words_out(int stage, std::int64_t n) {
  if (stage == kCount) return (n + kRow - 1) / kRow;
  return stage == kCompact ? kHead + n : n;
}

std::vector<int> expected_of(int stage, const std::vector<int>& in, std::int64_t k) {
  if (stage == kCount) return reference::kept_of_rows(in, k);
  if (stage == kRank) return reference::ranks(in, k);
  if (stage == kCompact) return reference::compacted(in, k);
  return stage == kTrade ? reference::traded(in, k) : reference::centered(in, k);
}

/// Half of 1 to 20 is kept, or a few rounds; sums of a million numbers stay below 2^31.
constexpr std::int64_t kHalfKept = 11, kRounds = 3;
std::int64_t usual_k(int stage) { return stage <= kCompact ? kHalfKept : kRounds; }
IntegerRange usual_range(int stage) {
  return stage <= kCompact ? IntegerRange{1, 20} : IntegerRange{-999, 999};
}

Shape shape_of(int stage, std::int64_t n) {
  return {{words_out(stage, n)}, {stage == kCount ? "row" : stage == kCompact ? "word" : "number"}};
}

std::string about(std::int64_t n, std::int64_t k) {
  return "for n = " + std::to_string(n) + ", k = " + std::to_string(k);
}

class WarpPrimitives : public LabTest {
 protected:
  void check_values(const std::vector<int>& in, std::int64_t k) {
    const int number = stage().number;
    const auto n = static_cast<std::int64_t>(in.size());
    DeviceArray<int> d_in(in);
    const auto words = static_cast<std::size_t>(words_out(number, n));
    auto d_out =
        number == kCompact ? DeviceArray<int>::filled(words, 0) : DeviceArray<int>::poisoned(words);
    const int* const input = d_in.data();
    SCOPED_TRACE(about(n, k));
    ASSERT_TRUE(
        launch("", {n, k}, d_out.data(), input, static_cast<long long>(n), static_cast<int>(k)));
    std::vector<int> got = d_out.to_host(), expected = expected_of(number, in, k);
    if (number == kCompact) {
      ASSERT_TRUE(testing::AssertionResult(got[0] == expected[0])
                  << "out[0] is " << got[0] << ", and " << expected[0]
                  << " numbers are kept; it begins as 0, is counted up by atomicAdd alone, and the "
                     "kept numbers begin at out["
                  << kHead << "]");
      for (std::vector<int>* of : {&got, &expected})
        std::sort(of->begin() + kHead, of->begin() + kHead + expected[0]);
    }
    ASSERT_TRUE(arrays_equal(got, expected, shape_of(number, n)))
        << (number == kCompact ? "\nwith the kept numbers in order" : "");
  }

  void check(std::int64_t n, std::int64_t k) {
    const IntegerRange range = usual_range(stage().number);
    check_values(generate_integers<int>(static_cast<std::size_t>(n), range.low, range.high,
                                        seed() + static_cast<std::uint64_t>(n + 31 * k)),
                 k);
  }

  void check_sizes(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t n : sizes) {
      ASSERT_NO_FATAL_FAILURE(check(n, usual_k(stage().number)));
    }
  }

  /// Numbers 1, 2, 3, …: no two of them alike.
  static std::vector<int> counting(std::size_t n) {
    std::vector<int> in(n);
    for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<int>(i) + 1;
    return in;
  }
};

LAB_TEST_WITH_HINT(WarpPrimitives, OneRow, "one-row") { check_sizes({32}); }

LAB_TEST_WITH_HINT(WarpPrimitives, OneNumber, "last-row") {
  check_values({7}, usual_k(stage().number));
}

LAB_TEST_WITH_HINT(WarpPrimitives, NoTwoAlike, "one-row") {
  check_values(counting(64), stage().number <= kCompact ? 40 : 2);
}

LAB_TEST_WITH_HINT(WarpPrimitives, AllAlike, "one-row") {
  check_values(std::vector<int>(96, 5), usual_k(stage().number));
}

LAB_TEST_WITH_HINT(WarpPrimitives, OneLaneOfEachRow, "who-takes-part") {
  // Of row r lane r alone holds a number that differs: kept, and then the only one that is not.
  for (const int rare : {1, 90}) {
    std::vector<int> in(static_cast<std::size_t>(kRow * kRow), 91 - rare);
    for (std::size_t r = 0; r < static_cast<std::size_t>(kRow); ++r) in[r * kRow + r] = rare;
    ASSERT_NO_FATAL_FAILURE(check_values(in, stage().number <= kCompact ? 50 : kRounds));
  }
}

LAB_TEST_WITH_HINT(WarpPrimitives, LastRowIsCutOff, "last-row") {
  check_sizes({2, 15, 16, 17, 31, 33, 47, 49, 63});
}

LAB_TEST_WITH_HINT(WarpPrimitives, SeveralBlocks, "blocks") {
  check_sizes({256, 1024, 4096, 8192});
}

LAB_TEST_WITH_HINT(WarpPrimitives, LastBlockIsCutOff, "last-row") {
  check_sizes({255, 257, 1000, 4095, 4097, 12'289});
}

LAB_TEST_WITH_HINT(WarpPrimitives, Primes, "last-row") { check_sizes({3, 7, 101, 1021, 10'007}); }

LAB_TEST_WITH_HINT(WarpPrimitives, EveryKindOfK, "any-k") {
  // Nothing is kept, one of twenty, all; no round, one, several.
  for (const std::int64_t k : {0, 1, 2, 20, 21, 1000}) {
    ASSERT_NO_FATAL_FAILURE(check(1000, stage().number <= kCompact ? k : k % 9));
  }
}

LAB_TEST_WITH_HINT(WarpPrimitives, NothingToDo, "empty") { check_sizes({0}); }

LAB_TEST_WITH_HINT(WarpPrimitives, SeveralWavesOfBlocks, "cover") { check_sizes({700'001}); }

LAB_TEST_WITH_HINT(WarpPrimitives, SecondLaunchGivesTheSame, "second-launch") {
  ASSERT_NO_FATAL_FAILURE(check_sizes({20'011}));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check_sizes({20'011}));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check_sizes({777, 20'011});
}

LAB_TEST_AFTER_TIMING(WarpPrimitives, PlacesBeyond24Bits, "many-kept") {
  if (stage().number != kCompact) return;
  // All are kept, and all alike, so that any order of them is the right one.
  constexpr std::int64_t kNumbers = (std::int64_t{1} << 24) + 70'001;
  check_values(std::vector<int>(static_cast<std::size_t>(kNumbers), 5), kHalfKept);
}

LAB_TEST_AFTER_TIMING(WarpPrimitives, PositionsBeyond24Bits, "far-position") {
  if (stage().number != kCenter) return;
  // Their sum is more than a float or 24 bits hold, and less than 2^31.
  constexpr std::size_t kNumbers = (std::size_t{1} << 24) + 70'001;
  check_values(generate_integers<int>(kNumbers, 1, 100, seed()), kRounds);
}

LAB_TEST_AFTER_TIMING(WarpPrimitives, PositionsBeyond32Bits, "wide-index") {
  if (stage().number == kCompact || stage().number == kCenter) return;
  constexpr std::int64_t kSize[] = {(std::int64_t{1} << 32) + 16'387};
  EXPECT_TRUE(far_blocks(kSize, "n may be up to 2^33"));
}

/// The k that is timed, and the numbers: about half of them are kept in stages 1 and 3, and three
/// quarters of eight different ones in stage 2. All that stage 3 keeps are 1.
std::int64_t timed_k(int stage) {
  constexpr std::int64_t kOf[] = {0, 51, 7, 2, 4, 3};
  return kOf[stage];
}
IntegerRange timed_range(int stage) {
  constexpr IntegerRange kOf[] = {{}, {1, 100}, {1, 8}, {1, 2}, {-999, 999}, {-999, 999}};
  return kOf[stage];
}

/// The words [first, first + count) of the output, of the rows that they hang on.
std::vector<int> expected_part(int stage, const DrawnInputs& inputs, std::size_t first,
                               std::size_t count, std::int64_t n, std::int64_t k) {
  const std::size_t each = stage == kCount ? 1 : kRow;  // words of a row
  const std::size_t row = first / each, end = (first + count + each - 1) / each;
  std::vector<int> part;
  for (std::size_t i = row * kRow; i < std::min(static_cast<std::size_t>(n), end * kRow); ++i)
    part.push_back(inputs.at<int>(0, i));
  const std::vector<int> all = expected_of(stage, part, k);
  const auto right = all.begin() + static_cast<std::ptrdiff_t>(first - row * each);
  return {right, right + static_cast<std::ptrdiff_t>(count)};
}

TimedCase timed_case(int stage, std::int64_t n) {
  const std::int64_t k = timed_k(stage);
  // Stage 3 writes half of what it reads.
  const std::int64_t written = stage == kCompact ? n / 2 : words_out(stage, n);
  TimedCase timed;
  timed.label = std::to_string(n) + " numbers";
  timed.sizes = {n, k};
  timed.useful_bytes = static_cast<double>(n + written) * sizeof(int);
  timed.inputs = {{.type = ElementType::kInt32,
                   .count = static_cast<std::size_t>(n),
                   .integers = timed_range(stage)}};
  timed.output = {.type = ElementType::kInt32,
                  .count = static_cast<std::size_t>(words_out(stage, n)),
                  .initial = stage == kCompact ? Initial::kZero : Initial::kPoison};
  timed.arguments = [n, k](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<int*>(d_output), static_cast<const int*>(d_inputs[0]),
                            static_cast<long long>(n), static_cast<int>(k));
  };
  timed.expected = [stage, k](std::span<const HostArray> inputs) {
    return bytes_of(expected_of(stage, values_of<int>(inputs[0]), k));
  };
  if (stage != kCompact && stage != kCenter) {
    timed.expected_by_place = [stage, n, k](const DrawnInputs& inputs, std::size_t first,
                                            std::size_t count, HostArray& right) {
      right = bytes_of(expected_part(stage, inputs, first, count, n, k));
    };
  }
  return timed;
}

std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  return {timed_case(stage.number, size[0])};
}

LAB_PROGRAM({.lab_id = "10-warp-primitives",
             .signature = {.parameters = "(int*, int const*, long long, int)"},
             .timed_cases = timed_cases});

}  // namespace
