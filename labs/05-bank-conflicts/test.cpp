// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 05: the tests of every stage, easiest first, and the runs that are timed. All is integers,
/// small enough that no sum overflows, so all comparisons are exact.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "labs/05-bank-conflicts/kernel_constants.hpp"

namespace {

using namespace membound::harness;
using namespace membound::kernel_constants;

// What each stage computes; n and k are those of kernel.cuh.
namespace reference {

/// Byte `place` of `word`, the lowest first.
unsigned byte_of(int word, std::int64_t place) {
  return static_cast<unsigned>(word) >> (8 * place) & 255U;
}

/// Stage 1: n signals of k samples; each sample plus all before it in its signal.
std::vector<int> running_sums(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(in.size());
  for (std::int64_t signal = 0; signal < n; ++signal) {
    int so_far = 0;
    for (std::int64_t i = signal * k; i < (signal + 1) * k; ++i) out[i] = so_far += in[i];
  }
  return out;
}

/// Stage 2: kTableWords words of table and n words of data; the data with each byte b of word i
/// replaced k times by table[b ^ i % 256].
std::vector<int> looked_up(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    unsigned word = 0;
    for (std::int64_t place = 0; place < 4; ++place) {
      unsigned byte = byte_of(in[kTableWords + i], place);
      for (std::int64_t pass = 0; pass < k; ++pass) {
        const auto entry = static_cast<std::int64_t>(byte ^ static_cast<unsigned>(i % 256));
        byte = byte_of(in[entry / 4], entry % 4);
      }
      word |= byte << (8 * place);
    }
    out[i] = static_cast<int>(word);
  }
  return out;
}

/// Stage 3: n structs of k words; the sum of each one's products with the kWindow after it.
std::vector<int> correlated(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j <= i + kWindow && j < n; ++j)
      for (std::int64_t word = 0; word < k; ++word) out[i] += in[i * k + word] * in[j * k + word];
  return out;
}

/// Stage 4: n samples; each plus the k - 1 that are kDelay, 2 kDelay, … later.
std::vector<int> with_echoes(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t e = 0; e < k && i + e * kDelay < n; ++e) out[i] += in[i + e * kDelay];
  return out;
}

/// Stage 5: n tiles of k x k; for each the sums of its rows, then of its columns.
std::vector<int> tile_sums(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(static_cast<std::size_t>(n * 2 * k));
  for (std::int64_t tile = 0; tile < n; ++tile)
    for (std::int64_t row = 0; row < k; ++row)
      for (std::int64_t col = 0; col < k; ++col) {
        const int element = in[(tile * k + row) * k + col];
        out[tile * 2 * k + row] += element;
        out[tile * 2 * k + k + col] += element;
      }
  return out;
}

}  // namespace reference

enum Number { kRunningSums = 1, kLookUp, kCorrelate, kEchoes, kTileSums };

constexpr std::int64_t kKeys = 256;  // of stage 2: a word's is its number modulo this

/// Words of `in` and of `out`.
std::int64_t words_in(int stage, std::int64_t n, std::int64_t k) {
  if (stage == kLookUp) return kTableWords + n;
  if (stage == kEchoes) return n;
  return stage == kTileSums ? n * k * k : n * k;
}

std::int64_t words_out(int stage, std::int64_t n, std::int64_t k) {
  if (stage == kRunningSums) return n * k;
  return stage == kTileSums ? 2 * n * k : n;
}

/// The numbers that `in` holds: whole words for the bytes of stage 2, small ones where sums grow.
IntegerRange range_of(int stage) {
  if (stage == kLookUp) return {-2147483648LL, 2147483647};
  return {-999, 999};
}

std::vector<int> expected_of(int stage, const std::vector<int>& in, std::int64_t n,
                             std::int64_t k) {
  if (stage == kRunningSums) return reference::running_sums(in, n, k);
  if (stage == kLookUp) return reference::looked_up(in, n, k);
  if (stage == kCorrelate) return reference::correlated(in, n, k);
  return stage == kEchoes ? reference::with_echoes(in, n, k) : reference::tile_sums(in, n, k);
}

/// The coordinates of `out`.
Shape shape_of(int stage, std::int64_t n, std::int64_t k) {
  if (stage == kRunningSums) return {{n, k}, {"signal", "sample"}};
  if (stage == kTileSums) return {{n, 2, k}, {"tile", "rows, columns", "sum"}};
  return {{n}, {stage == kLookUp ? "word" : stage == kCorrelate ? "struct" : "sample"}};
}

/// The k that is timed, and the second one where the lesson has two sides.
std::vector<std::int64_t> timed_ks(int stage) {
  if (stage == kRunningSums) return {32, 24};
  if (stage == kCorrelate) return {2, 3};
  return {stage == kLookUp ? 8 : 32};
}

std::string about(std::int64_t n, std::int64_t k) {
  return "for n = " + std::to_string(n) + ", k = " + std::to_string(k);
}

class BankConflicts : public LabTest {
 protected:
  void check_values(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
    DeviceArray<int> d_in(in);
    auto d_out = DeviceArray<int>::poisoned(words_out(stage().number, n, k));
    const int* const input = d_in.data();
    SCOPED_TRACE(about(n, k));
    ASSERT_TRUE(launch("", {n, k}, d_out.data(), input, static_cast<int>(n), static_cast<int>(k)));
    ASSERT_TRUE(arrays_equal(d_out.to_host(), expected_of(stage().number, in, n, k),
                             shape_of(stage().number, n, k)));
  }

  /// Random numbers, another list for each k.
  void check(std::int64_t n, std::int64_t k) {
    const IntegerRange range = range_of(stage().number);
    const std::int64_t count = words_in(stage().number, n, k);
    check_values(generate_integers<int>(count, range.low, range.high, seed() + k), n, k);
  }

  /// With every k that the stage is timed with.
  void check_sizes(std::initializer_list<std::int64_t> sizes) {
    for (const std::int64_t n : sizes)
      for (const std::int64_t k : timed_ks(stage().number)) {
        ASSERT_NO_FATAL_FAILURE(check(n, k));
      }
  }

  /// The least and the largest k of the contract, and some between.
  [[nodiscard]] std::vector<std::int64_t> ks() const {
    if (stage().number == kRunningSums) return {1, 2, 3, 16, 31, 32, 33, 48, 63, 64};
    if (stage().number == kLookUp) return {0, 1, 2, 7, 16};
    if (stage().number == kCorrelate) return {2, 3};
    return {1, 2, 7, 16, 31, 32};
  }
};

LAB_TEST_WITH_HINT(BankConflicts, OneElement, "first-element") { check_sizes({1}); }

LAB_TEST_WITH_HINT(BankConflicts, OneWarp, "one-warp") { check_sizes({32}); }

LAB_TEST_WITH_HINT(BankConflicts, OneBlock, "one-block") { check_sizes({128, 256, 512}); }

LAB_TEST_WITH_HINT(BankConflicts, SeveralBlocks, "blocks") { check_sizes({1024}); }

LAB_TEST_WITH_HINT(BankConflicts, LastBlockIsCutOff, "edge-guard") {
  check_sizes({2, 31, 33, 127, 129, 255, 257, 511, 513, 1000});
}

LAB_TEST_WITH_HINT(BankConflicts, Primes, "edge-guard") { check_sizes({3, 7, 101, 1021}); }

LAB_TEST_WITH_HINT(BankConflicts, EveryKindOfK, "any-k") {
  for (const std::int64_t k : ks()) {
    ASSERT_NO_FATAL_FAILURE(check(300, k));
  }
}

LAB_TEST_WITH_HINT(BankConflicts, NothingToDo, "empty") { check_sizes({0}); }

LAB_TEST_WITH_HINT(BankConflicts, AllTheSame, "one-block") {
  const std::int64_t k = timed_ks(stage().number).back();
  check_values(std::vector<int>(words_in(stage().number, 600, k), 1), 600, k);
}

LAB_TEST_WITH_HINT(BankConflicts, EveryByte, "bytes") {
  // All 256 bytes in all four places, through a table that is no permutation. Small numbers in the
  // other stages.
  const std::int64_t k = timed_ks(stage().number).front();
  std::vector<int> in(words_in(stage().number, 1024, k));
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<int>(stage().number == kLookUp ? i * 0x9E3779B9U : i % 61);
  check_values(in, 1024, k);
}

LAB_TEST_WITH_HINT(BankConflicts, SeveralWavesOfBlocks, "cover") {
  check_sizes({stage().number == kTileSums ? 601 : 60'001});
}

LAB_TEST_WITH_HINT(BankConflicts, SecondLaunchGivesTheSame, "second-launch") {
  ASSERT_NO_FATAL_FAILURE(check_sizes({777}));
  {
    SCOPED_TRACE("in the second of two launches; the first was right");
    ASSERT_NO_FATAL_FAILURE(check_sizes({777}));
  }
  draw_anew();
  SCOPED_TRACE("in a launch on other numbers in the same arrays");
  check_sizes({777});
}

LAB_TEST_AFTER_TIMING(BankConflicts, PositionsBeyond32Bits, "wide-index") {
  // Of words; in stages 2 and 4 there are never as many as 2^31.
  constexpr std::int64_t kWords = std::int64_t{1} << 32;
  const std::int64_t n = stage().number == kRunningSums ? kWords / 24 + 3
                         : stage().number == kCorrelate ? (std::int64_t{1} << 30) - 1
                         : stage().number == kTileSums  ? kWords / (32 * 32) + 3
                                                        : 0;
  if (n == 0) return;
  EXPECT_TRUE(far_blocks(std::span(&n, 1), "n * k may pass 2^31"));
}

/// Signals, words, structs, samples or tiles after one that its result depends on as well.
std::int64_t reach(int stage, std::int64_t k) {
  if (stage == kCorrelate) return kWindow;
  return stage == kEchoes ? (k - 1) * kDelay : 0;
}

/// The words [first, first + count) of the output: those of the input that they depend on, cut out
/// and taken for a whole input.
std::vector<int> expected_part(int stage, const DrawnInputs& in, std::size_t first,
                               std::size_t count, std::int64_t n, std::int64_t k) {
  const std::int64_t each = words_out(stage, 1, k);
  const auto begin = static_cast<std::int64_t>(first),
             end = begin + static_cast<std::int64_t>(count);
  std::int64_t from = begin / each;
  if (stage == kLookUp) from -= from % kKeys;  // a word's key is its number
  const std::int64_t to = std::min(n, (end + each - 1) / each + reach(stage, k));
  std::vector<int> part;
  const auto add = [&](std::int64_t word, std::int64_t past) {
    for (; word < past; ++word) part.push_back(in.at<int>(0, static_cast<std::size_t>(word)));
  };
  if (stage == kLookUp) add(0, kTableWords);
  add(words_in(stage, from, k), words_in(stage, to, k));
  const std::vector<int> all = expected_of(stage, part, to - from, k);
  const auto right = all.begin() + (begin - from * each);
  return {right, right + (end - begin)};
}

/// Every word is read once and written once; the work is in between.
TimedCase timed_case(int stage, std::int64_t n, std::int64_t k) {
  const auto count_in = static_cast<std::size_t>(words_in(stage, n, k));
  const auto count_out = static_cast<std::size_t>(words_out(stage, n, k));
  TimedCase timed;
  timed.label = "n = " + std::to_string(n) + ", k = " + std::to_string(k);
  timed.sizes = {n, k};
  timed.useful_bytes = static_cast<double>(count_in + count_out) * sizeof(int);
  timed.inputs = {{.type = ElementType::kInt32, .count = count_in, .integers = range_of(stage)}};
  timed.output = {.type = ElementType::kInt32, .count = count_out};
  timed.arguments = [n, k](std::span<void* const> d_inputs, void* d_output) {
    return kernel_arguments(static_cast<int*>(d_output), static_cast<const int*>(d_inputs[0]),
                            static_cast<int>(n), static_cast<int>(k));
  };
  timed.expected = [stage, n, k](std::span<const HostArray> inputs) {
    return bytes_of(expected_of(stage, values_of<int>(inputs[0]), n, k));
  };
  timed.expected_by_place = [stage, n, k](const DrawnInputs& inputs, std::size_t first,
                                          std::size_t count, HostArray& right) {
    right = bytes_of(expected_part(stage, inputs, first, count, n, k));
  };
  return timed;
}

std::vector<TimedCase> timed_cases(const membound::course::Stage& stage,
                                   std::span<const std::int64_t> size) {
  std::vector<TimedCase> cases;
  for (const std::int64_t k : timed_ks(stage.number))
    cases.push_back(timed_case(stage.number, size[0], k));
  return cases;
}

LAB_PROGRAM({.lab_id = "05-bank-conflicts",
             .signature = {.parameters = "(int*, int const*, int, int)"},
             .timed_cases = timed_cases});

}  // namespace
