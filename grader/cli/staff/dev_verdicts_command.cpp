// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound dev verdicts [LAB…]: whether what is handed in for a stage reaches its bar, a row of
/// CSV each timed case: its own answer, those of the lab's other stages, slow wrong answers. On a
/// GPU it measures, on the virtual one it predicts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>

#include "grader/authoring/claims.hpp"
#include "grader/authoring/turned_answer.hpp"
#include "grader/base/csv.hpp"
#include "grader/base/processors.hpp"
#include "grader/base/text_files.hpp"
#include "grader/cli/action.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/interrupt.hpp"
#include "grader/judge/judge.hpp"
#include "grader/report/progress.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

struct DevVerdictsOptions : judge::CheckOptions {
  std::vector<std::string> labs;
};

/// One file to time, and what its stages' answers are called in the table.
struct HandedIn {
  const course::Lab* lab;
  fs::path file;
  std::vector<int> stages;
  std::vector<std::string> answers;  ///< one each
};

std::string answer_of(int stage) { return "stage " + std::to_string(stage); }

/// Each stage's answer for itself, and for every other one where they do the same work.
base::Status add_stages(const Context& context, const course::Lab& lab,
                        std::vector<HandedIn>& all) {
  const fs::path reference = context.place.root / "solutions" / lab.id / "kernel.cu";
  std::vector<int> stages = lab.ladder;
  std::sort(stages.begin(), stages.end());
  std::vector<std::string> names, own;
  for (const int stage : stages) {
    names.push_back(lab.stage(stage)->kernel);
    own.push_back(answer_of(stage));
  }
  all.push_back({&lab, reference, stages, own});
  if (!lab.has_order) return base::Done{};
  const auto text = base::read_file(reference);
  if (!text) return text.error();
  for (std::size_t by = 1; by < stages.size(); ++by) {
    HandedIn turned{&lab, context.place.state / "turned" / lab.id / (std::to_string(by) + ".cu"),
                    stages, own};
    // The name at place i + by is now that of the answer at place i.
    std::rotate(turned.answers.begin(), turned.answers.end() - static_cast<std::ptrdiff_t>(by),
                turned.answers.end());
    const auto written =
        base::write_file(turned.file, authoring::with_names_turned(*text, names, by));
    if (!written) return written;
    all.push_back(std::move(turned));
  }
  return base::Done{};
}

/// The wrong answers that are right, but slow or over their budget.
base::Status add_slow_answers(const Context& context, const course::Lab& lab,
                              std::vector<HandedIn>& all) {
  const auto claims = authoring::claims_of(lab, context.place);
  if (!claims) return claims.error();
  for (const authoring::Claim& claim : *claims)
    if (claim.fails == to_string(course::BuiltInTest::kSpeed) ||
        claim.fails == to_string(course::BuiltInTest::kBudget))
      all.push_back({&lab, claim.file, claim.stages, {"wrong/" + claim.file.stem().string()}});
  return base::Done{};
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// One row each timed case: lab, stage, answer, case, size, speed in 10^9 a second, ratio, bar,
/// verdict. A matrix of floats and one of doubles are two cases: the slower one decides a check's
/// verdict, and which of two is slower may differ from device to device.
std::vector<std::vector<std::string>> rows_of(const course::Stage& asked,
                                              const course::StageResult& stage,
                                              const std::string& answer) {
  const auto is_right = [](const course::Timing& timing) { return timing.runs_wrong == 0; };
  const std::vector<std::string> begin = {stage.lab, std::to_string(stage.stage), answer};
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](std::vector<std::string> rest) {
    rows.push_back(begin);
    rows.back().insert(rows.back().end(), rest.begin(), rest.end());
  };
  if (!stage.ratio || !std::ranges::all_of(stage.timings, is_right)) {
    add({"1", "", "", "", number(asked.pass_ratio), "-"});
    return rows;
  }
  for (const course::Timing& timing : stage.timings) {
    const double work =
        stage.bound == course::Bound::kBandwidth ? timing.useful_bytes : timing.useful_operations;
    add({std::to_string(rows.size() + 1), timing.label, number(work / timing.student_median_ns),
         number(timing.ratio), number(asked.pass_ratio),
         timing.ratio >= asked.pass_ratio ? "reached" : "missed"});
  }
  return rows;
}

void print_row(std::vector<std::string> row) {
  const std::string text = base::write_csv({std::move(row), {}, ','}, base::CsvReader::kProgram);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

/// Timing waits for no compiler then: each finds its code in the cache.
void compile_all(const std::vector<judge::CheckRequest>& requests, const std::atomic<bool>* stop) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < base::processors(); ++i)
    workers.emplace_back([&] {
      for (std::size_t at = next++; at < requests.size() && !stop->load(); at = next++)
        (void)judge::compile_submission(requests[at]);  // an error comes again
    });
}

int run_dev_verdicts(DevVerdictsOptions options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  options.test = to_string(course::BuiltInTest::kSpeed);
  const auto tools = judge::choose_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  std::vector<const course::Lab*> labs;
  for (const std::string& word : options.labs) {
    const auto lab = context->course.find(word);
    if (!lab) return report_error(lab.error());
    labs.push_back(*lab);
  }
  if (labs.empty())
    for (const course::Lab& lab : context->course.labs) labs.push_back(&lab);
  std::vector<HandedIn> all;
  for (const course::Lab* lab : labs) {
    if (!lab->has_reference()) continue;  // nothing of it is timed
    if (!options.size.empty())
      if (const auto checked = check_size(options.size, {{lab, {1}}}); !checked)
        return report_error(checked.error());
    if (const auto added = add_stages(*context, *lab, all); !added)
      return report_error(added.error());
    if (const auto added = add_slow_answers(*context, *lab, all); !added)
      return report_error(added.error());
  }
  const std::atomic<bool>* const stop = catch_interrupts();
  std::vector<judge::CheckRequest> requests;
  for (const HandedIn& one : all) {
    options.submission = one.file.string();
    requests.push_back(
        judge::request_for(context->place, *tools, options, {one.lab, one.stages}, stop));
  }
  report::Progress progress("timing", static_cast<int>(all.size()), context->err,
                            context->err_is_terminal);
  progress.now("compiling", 0);
  compile_all(requests, stop);
  print_row({"lab", "stage", "answer", "case", "size", "speed", "ratio", "bar", "verdict"});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const HandedIn& one = all[i];
    progress.now(one.lab->id + ", " + one.file.stem().string(), static_cast<int>(i));
    const auto result = judge::check(requests[i]);
    if (stop->load()) return kExitInterrupted;
    if (!result) return report_error(result.error());
    for (std::size_t at = 0; at < result->stages.size(); ++at)
      for (auto& row :
           rows_of(*one.lab->stage(one.stages[at]), result->stages[at], one.answers[at]))
        print_row(std::move(row));
  }
  return kExitPassed;
}

}  // namespace

void add_dev_verdicts(CLI::App& dev, Action& chosen) {
  auto options = std::make_shared<DevVerdictsOptions>();
  CLI::App* const command = dev.add_subcommand("verdicts", "");
  command->add_option("LAB", options->labs);
  add_check_options(*command, *options);
  command->add_option("--size", options->size);
  command->callback(
      [options, &chosen] { chosen = [options] { return run_dev_verdicts(*options); }; });
}

}  // namespace membound::cli
