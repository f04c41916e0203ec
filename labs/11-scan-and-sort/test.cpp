// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 11: the tests of every stage, easiest first, and the runs that are timed. Each is a family
/// over n and k: k says which scan it is, or where the digit lies. All is integers, so all
/// comparisons are exact.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/11-scan-and-sort/kernel_constants.hpp"

namespace {

using namespace membound::harness;
using namespace membound::kernel_constants;

// What "scanned", "counted" and "ordered" mean.
namespace reference {

std::size_t digit_of(std::uint32_t key, int k) { return key >> k & (kBins - 1U); }

/// Element i is the sum of all before it in its run of `run` numbers; with `k` 1, and of itself.
// [scanned]
std::vector<std::int64_t> scanned(const std::vector<std::int32_t>& in, std::int64_t run, int k) {
  std::vector<std::int64_t> out(in.size());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (static_cast<std::int64_t>(i) % run == 0) sum = 0;
    out[i] = k == 0 ? sum : sum + in[i];
    sum += in[i];
  }
  return out;
}
// [/scanned]

/// How many keys have each of the kBins values of the 8 bits from bit k on.
std::vector<std::uint32_t> counted(const std::vector<std::uint32_t>& in, int k) {
  std::vector<std::uint32_t> counts(kBins);
  for (const std::uint32_t key : in) ++counts[digit_of(key, k)];
  return counts;
}

/// The keys ordered by these 8 bits; where those are equal, as they stand in `in`.
// [ordered]
std::vector<std::uint32_t> ordered(const std::vector<std::uint32_t>& in, int k) {
  std::size_t next[kBins + 1] = {};  // next[d]: where the next key with digit d goes
  for (const std::uint32_t key : in) ++next[digit_of(key, k) + 1];
  for (std::size_t d = 1; d < kBins; ++d) next[d] += next[d - 1];
  std::vector<std::uint32_t> out(in.size());
  for (const std::uint32_t key : in) out[next[digit_of(key, k)]++] = key;
  return out;
}
// [/ordered]

}  // namespace reference

enum Number { kWarpScan = 1, kBlockScan, kArrayScan, kHistogram, kRadixPass };

constexpr IntegerRange kAllBits = {std::numeric_limits<std::int32_t>::min(),
                                   std::numeric_limits<std::int32_t>::max()};

constexpr IntegerRange kSmall = {-999, 999};

bool is_scan(int stage) { return stage <= kArrayScan; }

/// Numbers of a run; of stage 3 all.
std::int64_t run_of(int stage) {
  if (stage == kWarpScan) return kLanes;
  return stage == kBlockScan ? kRun : std::numeric_limits<std::int64_t>::max();
}

std::vector<long long> scanned(int stage, const std::vector<std::int32_t>& in, int k) {
  const std::vector<std::int64_t> right = reference::scanned(in, run_of(stage), k);
  return {right.begin(), right.end()};
}

std::vector<unsigned> expected_of_keys(int stage, const std::vector<unsigned>& in, int k) {
  return stage == kHistogram ? reference::counted(in, k) : reference::ordered(in, k);
}

/// Of the output.
Shape shape_of(int stage, std::int64_t n) {
  if (stage == kHistogram) return {{static_cast<std::int64_t>(kBins)}, {"digit"}};
  return {{n}, {is_scan(stage) ? "element" : "key"}};
}

std::string about(std::size_t n, int k) {
  return "for n = " + std::to_string(n) + ", k = " + std::to_string(k);
}

class ScanAndSort : public LabTest {
 protected:
  /// The same bits as numbers or as keys.
  void check_values(const std::vector<std::int32_t>& in, int k) {
    const int number = stage().number;
    const auto n = static_cast<int>(in.size());
    SCOPED_TRACE(about(in.size(), k));
    if (is_scan(number)) {
      DeviceArray<std::int32_t> d_in(in);
      auto d_out = DeviceArray<long long>::poisoned(in.size());
      const int* const input = d_in.data();
      ASSERT_TRUE(launch("", {n, k}, d_out.data(), input, n, k));
      ASSERT_TRUE(arrays_equal(d_out.to_host(), scanned(number, in, k), shape_of(number, n)));
      return;
    }
    const std::vector<unsigned> keys(in.begin(), in.end());
    DeviceArray<unsigned> d_in(keys);
    auto d_out = number == kHistogram ? DeviceArray<unsigned>::filled(kBins, 0)
                                      : DeviceArray<unsigned>::poisoned(keys.size());
    const unsigned* const input = d_in.data();
    ASSERT_TRUE(launch("", {n, k}, d_out.data(), input, n, k));
    ASSERT_TRUE(
        arrays_equal(d_out.to_host(), expected_of_keys(number, keys, k), shape_of(number, n)));
  }

  /// The least and the largest k of the contract, and of digits some between.
  [[nodiscard]] std::vector<int> ks() const {
    if (is_scan(stage().number)) return {0, 1};
    return {0, 8, 24};
  }

  /// Another list for each k: keys of all bits, and numbers whose sums fit into an int; of others
  /// see LargestNumbers.
  void check_random(std::int64_t n, int k) {
    const IntegerRange range = is_scan(stage().number) ? kSmall : kAllBits;
    check_values(generate_integers<std::int32_t>(static_cast<std::size_t>(n), range.low, range.high,
                                                 seed() + static_cast<std::uint64_t>(k)),
                 k);
  }

  void check_sizes(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t n : sizes)
      for (const int k : ks()) {
        ASSERT_NO_FATAL_FAILURE(check_random(n, k));
      }
  }

  /// Keys whose digit is one of a few, with all other bits drawn.
  [[nodiscard]] std::vector<std::int32_t> few_digits(std::size_t n, unsigned digits, int k) const {
    auto keys = generate_integers<std::int32_t>(n, kAllBits.low, kAllBits.high, seed());
    for (std::int32_t& key : keys) {
      const auto bits = static_cast<unsigned>(key);
      const unsigned digit = (bits >> k & 255U) % digits * 85U;  // 0, 85, 170, 255
      key = static_cast<std::int32_t>((bits & ~(255U << k)) | digit << k);
    }
    return keys;
  }
};

LAB_TEST_WITH_HINT(ScanAndSort, OneElement, "edge-guard") { check_sizes({1}); }

LAB_TEST_WITH_HINT(ScanAndSort, OneWarp, "one-warp") {
  // 1, 2, 3, …: each sum and each place is another one.
  std::vector<std::int32_t> in(kLanes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i + 1);
  for (const int k : {0, 1}) {
    ASSERT_NO_FATAL_FAILURE(check_values(in, k));
  }
}

LAB_TEST_WITH_HINT(ScanAndSort, OneBlock, "one-block") { check_sizes({256, 384}); }

LAB_TEST_WITH_HINT(ScanAndSort, OneTile, "one-block") { check_sizes({kRun, kScanTile, kSortTile}); }

LAB_TEST_WITH_HINT(ScanAndSort, LastWarpIsCutOff, "edge-guard") {
  check_sizes({2, 31, 33, 255, 257, 383, 385});
}

LAB_TEST_WITH_HINT(ScanAndSort, LastTileIsCutOff, "edge-guard") {
  for (const std::int64_t tile : {kRun, kScanTile, kSortTile}) check_sizes({tile - 1, tile + 1});
}

LAB_TEST_WITH_HINT(ScanAndSort, Primes, "edge-guard") { check_sizes({3, 7, 101, 1021, 20'011}); }

LAB_TEST_WITH_HINT(ScanAndSort, NothingToDo, "empty") { check_sizes({0}); }

LAB_TEST_WITH_HINT(ScanAndSort, EveryKindOfK, "any-k") {
  if (is_scan(stage().number)) return check_sizes({777});
  for (const int k : {0, 1, 3, 8, 15, 16, 23, 24}) {
    ASSERT_NO_FATAL_FAILURE(check_random(777, k));
  }
}

LAB_TEST_WITH_HINT(ScanAndSort, LargestNumbers, "overflow") {
  // Two of them already add up to more than an int holds. As keys: all equal, in each digit.
  for (const std::int64_t value : {kAllBits.high, kAllBits.low, std::int64_t{-1}}) {
    for (const int k : ks()) {
      ASSERT_NO_FATAL_FAILURE(
          check_values(std::vector<std::int32_t>(100'003, static_cast<std::int32_t>(value)), k));
    }
  }
}

LAB_TEST_WITH_HINT(ScanAndSort, OneDigitAlone, "contention") {
  // The longest queue, and, as all other bits differ, the one order that is stable.
  for (const int k : ks()) {
    ASSERT_NO_FATAL_FAILURE(check_values(few_digits(20'011, 1, k), k));
  }
}

LAB_TEST_WITH_HINT(ScanAndSort, FewDigits, "contention") {
  for (const int k : ks()) {
    ASSERT_NO_FATAL_FAILURE(check_values(few_digits(30'011, 4, k), k));
  }
}

LAB_TEST_WITH_HINT(ScanAndSort, ManyTiles, "many-tiles") {
  // Tiles look back over more than 32 others.
  check_sizes({stage().number == kArrayScan ? 1'000'003 : 300'007});
}

LAB_TEST_WITH_HINT(ScanAndSort, MoreBlocksThanFit, "block-order") {
  // More tiles than 132 multiprocessors have places for: 8 blocks of 256 threads each, 5 of 384. A
  // block that waits keeps its place, so those that it waits for must be there already.
  std::int64_t n = 1'000'003;
  if (stage().number == kArrayScan) n = 8'700'011;
  if (stage().number == kRadixPass) n = 4'600'003;
  check_random(n, ks().back());
}

LAB_TEST_WITH_HINT(ScanAndSort, SecondLaunchGivesTheSame, "second-launch") {
  ASSERT_NO_FATAL_FAILURE(check_sizes({50'021}));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check_sizes({50'021}));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check_sizes({50'021});
}

LAB_TEST_AFTER_TIMING(ScanAndSort, CountsBeyond24Bits, "large-count") {
  if (stage().number != kHistogram) return;
  // All keys have one digit: its count is odd, and more than a float holds exactly.
  constexpr std::size_t kKeys = (std::size_t{1} << 24) + 70'001;
  check_values(std::vector<std::int32_t>(kKeys, 0x5A5A5A5A), 8);
}

LAB_TEST_AFTER_TIMING(ScanAndSort, PositionsBeyond24Bits, "far-position") {
  if (stage().number != kArrayScan && stage().number != kRadixPass) {
    // No block waits for another: some of them run alone, of an array as long as there is.
    constexpr std::int64_t kSize[] = {(std::int64_t{1} << 30) - 4'099, 1};
    EXPECT_TRUE(far_blocks(kSize, "n may be almost 2^30"));
    return;
  }
  // With all blocks. Of stage 5 one digit has more keys than 2^24, and others come after it.
  constexpr std::size_t kNumbers = (std::size_t{1} << 24) + 70'001;
  constexpr std::size_t kRare = 997;
  constexpr int kDigit = 8;
  std::vector<std::int32_t> in =
      generate_integers<std::int32_t>(kNumbers, kAllBits.low, kAllBits.high, seed());
  if (stage().number == kRadixPass)
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = (in[i] & ~0xFF00) | (i % kRare == 0 ? 0xF000 : 0x5A00);
  check_values(in, stage().number == kRadixPass ? kDigit : 1);
}

/// The sums [first, first + count) of stages 1 and 2: the runs that they hang on, cut out.
void sums_at(int stage, const DrawnInputs& inputs, std::size_t first, std::size_t count, int k,
             HostArray& right) {
  const std::size_t from = first - first % static_cast<std::size_t>(run_of(stage));
  std::vector<std::int32_t> part;
  part.reserve(first + count - from);
  for (std::size_t i = from; i < first + count; ++i) part.push_back(inputs.at<std::int32_t>(0, i));
  const std::vector<long long> sums = scanned(stage, part, k);
  right.resize(count * sizeof(long long));
  if (count != 0) std::memcpy(right.data(), sums.data() + (first - from), right.size());
}

TimedCase timed_scan(int stage, std::int64_t n, int k) {
  TimedCase timed;
  timed.label = "n = " + std::to_string(n) + ", k = " + std::to_string(k);
  timed.sizes = {n, k};
  timed.useful_bytes = static_cast<double>(n) * (sizeof(std::int32_t) + sizeof(long long));
  timed.inputs = {
      {.type = ElementType::kInt32, .count = static_cast<std::size_t>(n), .integers = kAllBits}};
  timed.output = {.type = ElementType::kInt64, .count = static_cast<std::size_t>(n)};
  timed.arguments = [n, k](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<long long*>(d_output), static_cast<const int*>(d_inputs[0]),
                            static_cast<int>(n), k);
  };
  timed.expected = [stage, k](std::span<const HostArray> inputs) {
    return bytes_of(scanned(stage, values_of<std::int32_t>(inputs[0]), k));
  };
  if (stage != kArrayScan) {
    timed.expected_by_place = [stage, k](const DrawnInputs& inputs, std::size_t first,
                                         std::size_t count, HostArray& right) {
      sums_at(stage, inputs, first, count, k, right);
    };
  }
  return timed;
}

/// `range`: the keys.
TimedCase timed_keys(int stage, std::int64_t n, int k, IntegerRange range) {
  TimedCase timed;
  timed.label = "n = " + std::to_string(n) + ", k = " + std::to_string(k);
  timed.sizes = {n, k};
  const bool counts = stage == kHistogram;
  timed.useful_bytes = static_cast<double>(n) * sizeof(unsigned) * (counts ? 1 : 2);
  timed.inputs = {
      {.type = ElementType::kInt32, .count = static_cast<std::size_t>(n), .integers = range}};
  timed.output = {.type = ElementType::kInt32,
                  .count = counts ? kBins : static_cast<std::size_t>(n),
                  .initial = counts ? Initial::kZero : Initial::kPoison};
  timed.arguments = [n, k](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<unsigned*>(d_output),
                            static_cast<const unsigned*>(d_inputs[0]), static_cast<int>(n), k);
  };
  timed.expected = [stage, k](std::span<const HostArray> inputs) {
    return bytes_of(expected_of_keys(stage, values_of<unsigned>(inputs[0]), k));
  };
  if (counts) {
    timed.expected_of_read = [k](const DrawnInputs& in, std::span<const ElementRange> read) {
      std::vector<unsigned> bins(kBins);
      for (const auto& [first, count] : read)
        for (std::size_t i = first; i < first + count; ++i)
          ++bins[static_cast<unsigned>(in.at<std::int32_t>(0, i)) >> k & (kBins - 1)];
      return bytes_of(bins);
    };
  }
  return timed;
}

std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  const std::int64_t n = size[0];
  const auto k = static_cast<int>(size[1]);
  if (is_scan(stage.number)) return {timed_scan(stage.number, n, k)};
  std::vector<TimedCase> cases = {timed_keys(stage.number, n, k, kAllBits)};
  if (stage.number == kHistogram) {
    // Two digits share all keys: every warp's lanes meet in two words.
    cases.push_back(timed_keys(stage.number, n, k, {0, (std::int64_t{2} << k) - 1}));
    cases.back().label += ", two digits";
  }
  return cases;
}

constexpr const char* kOfKeys = "(unsigned int*, unsigned int const*, int, int)";

LAB_PROGRAM({.lab_id = "11-scan-and-sort",
             .signature = {.parameters = "(long long*, int const*, int, int)",
                           .of_kernel = {{"histogram", kOfKeys}, {"radix_pass", kOfKeys}}},
             .timed_cases = timed_cases});

}  // namespace
