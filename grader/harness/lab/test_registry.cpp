// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/test_registry.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "grader/base/result.hpp"
#include "grader/harness/cases/failure_text.hpp"
#include "grader/harness/lab/stage_run.hpp"

namespace membound::harness {
namespace {

class HasTheRightSignature : public LabTest {
  void TestBody() override { EXPECT_TRUE(run().check_signatures()); }
};

class LaunchesWithinLimits : public LabTest {
  void TestBody() override { EXPECT_TRUE(run().check_launches()); }
};

class ReachesItsBar : public LabTest {
  void TestBody() override {
    if (!run().all_passed()) GTEST_SKIP() << "not timed, because a test before it failed";
    EXPECT_TRUE(run().session().options().look ? run().look_at_timed_launches()
                                               : run().check_speed());
  }
};

template <typename Test>
detail::LabTestEntry entry(course::BuiltInTest test) {
  // The names are literals: a zero ends them.
  return {to_string(test).data(), "", "", 0, []() -> LabTest* { return new Test; }};
}

}  // namespace

std::vector<detail::LabTestEntry> tests_before_the_labs() {
  return {entry<HasTheRightSignature>(course::BuiltInTest::kSignature),
          entry<LaunchesWithinLimits>(course::BuiltInTest::kLaunch)};
}

detail::LabTestEntry test_after_the_labs() {
  return entry<ReachesItsBar>(course::BuiltInTest::kSpeed);
}

namespace {

// Filled before main() by the macros' static objects; function-local, so that they exist by then.
std::vector<detail::LabTestEntry>& entries() {
  static std::vector<detail::LabTestEntry> list;
  return list;
}

std::optional<LabProgram>& program() {
  static std::optional<LabProgram> one;
  return one;
}

void register_one(StageRun& run, const detail::LabTestEntry& entry) {
  testing::RegisterTest(run.stage().kernel.c_str(), entry.name, nullptr, nullptr, entry.file,
                        entry.line, [&run, make = entry.make]() -> LabTest* {
                          LabTest* test = make();
                          test->attach(run);
                          return test;
                        });
}

}  // namespace

namespace detail {

bool add_lab_test(const LabTestEntry& entry) {
  entries().push_back(entry);
  return true;
}

bool set_lab_program(LabProgram lab_program) {
  MEMBOUND_CHECK(!program());
  program() = std::move(lab_program);
  return true;
}

}  // namespace detail

const std::vector<detail::LabTestEntry>& lab_tests() { return entries(); }

const LabProgram* lab_program() { return program() ? &*program() : nullptr; }

std::vector<detail::LabTestEntry> tests_in_turn(const Options& options) {
  std::vector<detail::LabTestEntry> tests;
  if (!options.easier_half) tests = tests_before_the_labs();
  std::vector<detail::LabTestEntry> own = lab_tests();
  const auto last = std::stable_partition(own.begin(), own.end(),
                                          [](const auto& test) { return !test.after_timing; });
  const std::ptrdiff_t before_timing = last - own.begin();
  const std::ptrdiff_t count = options.easier_half ? (before_timing + 1) / 2 : before_timing;
  tests.insert(tests.end(), own.begin(), own.begin() + count);
  if (!options.quick) tests.push_back(test_after_the_labs());
  if (!options.easier_half) tests.insert(tests.end(), last, own.end());
  const char* const file = own.empty() ? "" : own.front().file;
  int line = 0;
  for (detail::LabTestEntry& test : tests) {
    test.file = file;
    test.line = line = std::max(test.line, line + 1);
  }
  return tests;
}

std::map<std::string, std::string> register_stage(StageRun& run) {
  std::map<std::string, std::string> hint_tags;
  for (const detail::LabTestEntry& test : tests_in_turn(run.session().options())) {
    register_one(run, test);
    hint_tags[test.name] = test.hint_tag;
  }
  return hint_tags;
}

namespace {

std::string messages_of(const testing::TestResult& result) {
  std::string text;
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (!part.failed() && !part.skipped()) continue;
    text += (text.empty() ? "" : "\n") + unwrap_message(part.message());
  }
  return text;
}

}  // namespace

void StageRecorder::add(StageRun& run, std::map<std::string, std::string> hint_tags) {
  entries_[run.stage().kernel] = {&run, std::move(hint_tags)};
}

void StageRecorder::OnTestSuiteStart(const testing::TestSuite& suite) {
  current_ = entries_.at(suite.name()).run;
  entries_.at(suite.name()).run->begin_stage();
}

void StageRecorder::OnTestStart(const testing::TestInfo& info) {
  entries_.at(info.test_suite_name()).run->begin_test(info.name());
}

void StageRecorder::OnTestEnd(const testing::TestInfo& info) {
  const Entry& entry = entries_.at(info.test_suite_name());
  const testing::TestResult& result = *info.result();
  course::TestOutcome outcome;
  outcome.name = info.name();
  outcome.skipped = result.Skipped();
  outcome.passed = result.Passed() && !outcome.skipped;
  outcome.message = messages_of(result);
  outcome.seconds = static_cast<double>(result.elapsed_time()) / 1e3;
  if (result.Failed()) {
    const auto tag = entry.hint_tags.find(outcome.name);
    outcome.hint_tag =
        choose_tag(tag == entry.hint_tags.end() ? "" : tag->second, entry.run->cause());
  }
  entry.run->end_test(std::move(outcome));
}

void StageRecorder::OnTestSuiteEnd(const testing::TestSuite& suite) {
  entries_.at(suite.name()).run->end_stage();
}

}  // namespace membound::harness
