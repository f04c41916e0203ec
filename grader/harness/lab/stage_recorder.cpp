// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/stage_recorder.hpp"

#include <utility>

#include "grader/harness/cases/test_message.hpp"

namespace membound::harness {
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
