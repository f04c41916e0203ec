// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one header that a lab's program_test.cpp includes. A test gives the program inputs, runs
/// it, and compares its outputs with what it works out itself; the table of tests is the whole
/// file. The harness brings main() and the demands of lab.json.
/// Place in the chain: a lab's program_test.cpp -> [program_test] -> program_run, compare, data.
///
///   testing::AssertionResult adds(ProgramTest& test, std::size_t n) {
///     const auto a = generate<float>(n, Fill::kUniform, test.seed(1));
///     test.give("a", a);
///     return test.expect("c", sums, {{n}, {"element"}});
///   }
///   const std::vector<HostTest> membound::harness::kTests = {{"AddsOne", "", …}, …};
///
/// Every test runs once a stage, in this order. The calls of the last one's run are those that the
/// demands are held against.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "grader/course/contract.hpp"
#include "grader/harness/cases/compare.hpp"
#include "grader/harness/cases/data.hpp"
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

  ProgramTest(Runs runs, int stage, std::uint64_t seed)
      : runs_(std::move(runs)), stage_(stage), seed_(seed) {}

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

  /// Runs the program and compares the output of that name.
  template <typename T>
  [[nodiscard]] testing::AssertionResult expect(const std::string& name,
                                                const std::vector<T>& expected, const Shape& shape,
                                                Tolerance tolerance = {}) {
    shape_ = shape;
    if (auto ended = run(name); !ended) return ended;
    const std::string& bytes = end_.outputs.at(name);
    if (bytes.size() != expected.size() * sizeof(T))
      return testing::AssertionFailure() << "the output \"" << name << "\" has " << bytes.size()
                                         << " bytes, expected " << expected.size() * sizeof(T);
    std::vector<T> got(expected.size());
    if (!bytes.empty()) std::memcpy(got.data(), bytes.data(), bytes.size());
    return harness::arrays_equal(got, expected, shape, tolerance);
  }

  /// Of the run: empty before.
  [[nodiscard]] const RunEnd& end() const { return end_; }
  /// Of the output that was expected.
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// How the program ended where that was not by itself: else kNone.
  [[nodiscard]] course::Cause abort() const { return abort_; }

 private:
  [[nodiscard]] testing::AssertionResult run(const std::string& output);
  [[nodiscard]] testing::AssertionResult explain_end();

  Runs runs_;
  int stage_;
  std::uint64_t seed_;
  Given given_;
  Shape shape_;
  RunEnd end_;
  course::Cause abort_ = course::Cause::kNone;
};

/// One row of a lab's table.
struct HostTest {
  const char* name;
  const char* hint_tag;  ///< "" for none
  testing::AssertionResult (*body)(ProgramTest& test);
};

/// The lab's.
extern const std::vector<HostTest> kTests;
/// Where a check has a GPU: the work of a program that passes its stage is timed there on what this
/// test gives it. No body: it is not. The name says nothing.
extern const HostTest kTimedTest;

}  // namespace membound::harness
