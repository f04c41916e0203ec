// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one header that a lab's program_test.cpp includes. A test gives the program inputs, runs it,
/// and compares its outputs with what it works out itself; the table of tests is the whole file.
/// The harness brings main() and the demands of lab.json.
///
///   testing::AssertionResult adds(ProgramTest& test, std::size_t n) {
///     const auto a = test.give_integers<float>("a", n, 0, 9999, test.seed(1));
///     return test.expect("c", sums, {{n}, {"element"}});
///   }
///   const std::vector<HostTest> membound::harness::kTests = {{"AddsOne", "", …}, …};
///
/// Every test runs once a stage, in this order. The calls of the last one's run are those that the
/// demands are held against. Where lab.json demands results of the device (device-results), a test
/// that passed is asked once more, and gets other inputs: what it expects of them is held against
/// what the device makes of them in a replay (harness/program/replayed_run). So a test works out
/// what it expects from what give_integers() returned, and does nothing else that differs between
/// the two.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grader/course/contract.hpp"
#include "grader/harness/cases/compare.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/program/data_flow.hpp"
#include "grader/harness/program/program_run.hpp"

namespace membound::harness {

using harness::Fill;
using harness::generate;
using harness::generate_integers;
using harness::Shape;
using harness::Tolerance;

/// One test's talk with the student's program.
class ProgramTest {
 public:
  /// Runs a program on what a test gives it, and says how it ended.
  using Runs = std::function<base::Result<RunEnd>(const Given& given)>;

  /// Does the requests of a run once more, with other inputs.
  using Replays = std::function<base::Result<Replay>(const RunEnd& run, OtherInputs inputs)>;

  ProgramTest(Runs runs, int stage, std::uint64_t seed)
      : runs_(std::move(runs)), stage_(stage), seed_(seed) {}
  /// The same test once more, after `first`, which must outlive it: with other inputs, which `key`
  /// decides about, and a replay.
  ProgramTest(const ProgramTest& first, Replays replays, std::uint64_t key)
      : stage_(first.stage_),
        seed_(first.seed_),
        first_(&first),
        replays_(std::move(replays)),
        key_(key) {}

  [[nodiscard]] int stage() const { return stage_; }
  /// The `index`-th seed of this test: other numbers in every test, stage and graded run.
  [[nodiscard]] std::uint64_t seed(std::uint64_t index) const {
    return harness::random_bits(seed_, index);
  }

  /// The input of that name.
  template <typename T>
  void give(const std::string& name, const std::vector<T>& values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    given_.inputs[name] = std::move(bytes);
  }

  /// Draws `count` whole numbers from `low` to `high` and gives them as the input of that name.
  /// Other numbers of that range stand for them in a replay. A program may copy words of its own to
  /// the device, too, and one that equals a number drawn here would change with it: the wider the
  /// range, the less often.
  template <typename T>
  [[nodiscard]] std::vector<T> give_integers(const std::string& name, std::size_t count,
                                             std::int64_t low, std::int64_t high,
                                             std::uint64_t seed) {
    static_assert(sizeof(T) == sizeof(std::uint32_t), "copies are followed word by word");
    if (first_ == nullptr) {
      std::vector<T> values = generate_integers<T>(count, low, high, seed);
      give(name, values);
      return values;
    }
    const std::string& bytes = first_->given_.inputs.at(name);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    std::vector<std::uint32_t> given = words_of(values);
    for (T& value : values)
      value = static_cast<T>(other_integer(static_cast<std::int64_t>(value), low, high, key_));
    others_.add(std::move(given), words_of(values));
    return values;
  }

  /// Runs the program and compares the output of that name.
  template <typename T>
  [[nodiscard]] testing::AssertionResult expect(const std::string& name,
                                                const std::vector<T>& expected, const Shape& shape,
                                                Tolerance tolerance = {}) {
    shape_ = shape;
    if (first_ != nullptr) return expect_of_device(name, expected, tolerance);
    if (auto ended = run(name); !ended) return ended;
    const std::string& bytes = end_.outputs.at(name);
    if (bytes.size() != expected.size() * sizeof(T))
      return testing::AssertionFailure() << "the output \"" << name << "\" has " << bytes.size()
                                         << " bytes, expected " << expected.size() * sizeof(T);
    std::vector<T> got(expected.size());
    if (!bytes.empty()) std::memcpy(got.data(), bytes.data(), bytes.size());
    return harness::arrays_equal(got, expected, shape, tolerance);
  }

  [[nodiscard]] const Given& given() const { return given_; }
  /// Of the run: empty before.
  [[nodiscard]] const RunEnd& end() const { return end_; }
  /// Of the output that was expected.
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// How the program ended where that was not by itself: else kNone.
  [[nodiscard]] course::Cause abort() const { return abort_; }
  /// Of a replay that gave what was expected: of each call that has_worked(), whether anything it
  /// did came into the output.
  [[nodiscard]] const std::vector<bool>& arrived() const { return arrived_; }
  [[nodiscard]] const std::vector<runner::Call>& replayed_calls() const { return replay_.calls; }

 private:
  template <typename T>
  [[nodiscard]] static std::vector<std::uint32_t> words_of(const std::vector<T>& values) {
    std::vector<std::uint32_t> words(values.size() * sizeof(T) / sizeof(std::uint32_t));
    if (!words.empty())
      std::memcpy(words.data(), values.data(), words.size() * sizeof(std::uint32_t));
    return words;
  }

  /// The output of the first run, as it would be for the other inputs.
  template <typename T>
  [[nodiscard]] testing::AssertionResult expect_of_device(const std::string& name,
                                                          const std::vector<T>& expected,
                                                          Tolerance tolerance) {
    const std::vector<std::uint32_t> words = words_of(expected);
    if (words.empty()) return testing::AssertionSuccess();
    if (auto replayed = replay(name, words); !replayed) return replayed;
    std::vector<T> got(expected.size());
    std::memcpy(got.data(), handed_.words.data(), handed_.words.size() * sizeof(std::uint32_t));
    if (handed_.strangers > 0 || !harness::arrays_equal(got, expected, shape_, tolerance))
      return testing::AssertionFailure() << why_not_the_devices(replay_, handed_, words, name);
    arrived_ = follow_data(replay_.calls, handed_.copies).arrived;
    return testing::AssertionSuccess();
  }
  /// Fills in replay_ and handed_.
  [[nodiscard]] testing::AssertionResult replay(const std::string& name,
                                                const std::vector<std::uint32_t>& expected);

  [[nodiscard]] testing::AssertionResult run(const std::string& output);
  [[nodiscard]] testing::AssertionResult explain_end();

  Runs runs_;
  int stage_;
  std::uint64_t seed_;
  Given given_;
  Shape shape_;
  RunEnd end_;
  course::Cause abort_ = course::Cause::kNone;

  const ProgramTest* first_ = nullptr;  // of a test that is asked once more
  Replays replays_;
  std::uint64_t key_ = 0;
  OtherInputs others_;
  Replay replay_;
  HandedInAgain handed_;
  std::vector<bool> arrived_;
};

/// One row of a lab's table.
struct HostTest {
  const char* name;
  const char* hint_tag;  ///< "" for none
  testing::AssertionResult (*body)(ProgramTest& test);
};

/// What the tests of oracle_program.cpp hold a lab's programs against; null where a lab has tests
/// of its own.
[[nodiscard]] std::shared_ptr<const LabOracle>& program_oracle();

/// The lab's.
extern const std::vector<HostTest> kTests;
/// Where a check has a GPU: the work of a program that passes its stage is timed there on what this
/// test gives it. No body: it is not. The name says nothing.
extern const HostTest kTimedTest;

}  // namespace membound::harness
