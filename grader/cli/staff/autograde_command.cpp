// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound autograde FOLDER --results FILE: one submission inside of a platform's container.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "grader/base/files.hpp"
#include "grader/classroom/exchange/exchange.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/classroom/queue/batch.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/staff/grade_options.hpp"
#include "grader/judge/student_progress.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

/// The stages together may use this share of the time; the rest is for compiling and for us.
constexpr double kShareForStages = 0.8;
constexpr double kMostSecondsPerStage = 300;
constexpr const char* kStudent = "submission";

struct AutogradeOptions : judge::CheckOptions {
  std::string folder, results, metadata, lab;
  int seconds = 540;
  bool has_seed = false;
};

/// Sets a flag when the time is up or Ctrl-C came; ends with the object.
class Deadline {
 public:
  Deadline(int seconds, const std::atomic<bool>* interrupted)
      : until_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)),
        interrupted_(interrupted),
        thread_([this] { watch(); }) {}
  ~Deadline() {
    {
      const std::lock_guard guard(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  [[nodiscard]] const std::atomic<bool>* flag() const { return &over_; }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    while (!done_ && !over_) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      if (interrupted_->load() || std::chrono::steady_clock::now() >= until_) over_ = true;
    }
  }

  const std::chrono::steady_clock::time_point until_;
  const std::atomic<bool>* const interrupted_;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

/// What the platform says of the assignment; empty where it says nothing.
nlohmann::json assignment_of(const AutogradeOptions& options) {
  if (options.metadata.empty()) return nlohmann::json::object();
  const auto text = base::read_file(options.metadata);
  if (!text) return nlohmann::json::object();
  const auto all = nlohmann::json::parse(*text, nullptr, false);
  if (!all.is_object() || !all.contains("assignment") || !all["assignment"].is_object())
    return nlohmann::json::object();
  return all["assignment"];
}

/// The lab that is asked for, or the only one whose name stands in the assignment's title.
base::Result<std::optional<std::string>> lab_for(const AutogradeOptions& options,
                                                 const Context& context,
                                                 const nlohmann::json& assignment) {
  if (!options.lab.empty()) {
    const auto lab = context.course.find(options.lab);
    if (!lab) return lab.error();
    return std::optional((*lab)->id);
  }
  if (context.course.labs.size() == 1) return std::optional(context.course.labs.front().id);
  const auto title = assignment.find("title");
  std::optional<std::string> found;
  if (title == assignment.end() || !title->is_string()) return found;
  const std::string words = intake::folded(title->get<std::string>());
  for (const course::Lab& lab : context.course.labs) {
    const std::string name = lab.id.substr(lab.id.find('-') + 1);
    if (words.find(name) == std::string::npos && words.find(lab.id) == std::string::npos) continue;
    if (found) return std::optional<std::string>();
    found = lab.id;
  }
  return found;
}

/// What to grade, where, and with which limits; `confinement` says what is in force.
base::Result<queue::BatchRequest> batch_request(const AutogradeOptions& options,
                                                const Context& context,
                                                const std::optional<std::string>& lab,
                                                const fs::path& work, std::string& confinement) {
  const bool jailed = jail::probe().untrusted_ok();
  auto settings = grading_settings(context, options, !jailed);
  if (!settings) return settings.error();
  settings->hold_policy = true;
  const jail::Enforcement& here = jail::probe();
  confinement = jailed
                    ? "in a jail: " + here.describe()
                    : "without a jail, confined by the container alone; the policy holds. Why: " +
                          (here.problem.empty() ? here.describe() : here.problem);
  std::size_t stages = 1;
  for (const course::Lab& one : context.course.labs)
    if (!lab || one.id == *lab) stages = std::max(stages, one.stages.size());
  settings->seconds_per_stage = std::min(
      kMostSecondsPerStage, kShareForStages * options.seconds / static_cast<double>(stages));
  queue::BatchRequest request;
  request.out = work / "batch";
  request.settings = *std::move(settings);
  if (options.has_seed) request.seed = options.seed;
  request.intake.sources = {options.folder};
  request.intake.student = kStudent;
  request.intake.lab = lab;
  return request;
}

/// The first hint for each stage that is not passed, behind what the stage says.
void add_hints(const Context& context, const course::Grade& grade, nlohmann::json& results) {
  const auto lab = context.course.find(grade.lab);
  if (!lab || !results.contains("tests")) return;
  for (const course::StageResult& stage : grade.result.stages) {
    const auto hints = (*lab)->hints.find(judge::hint_tag(stage));
    if (stage.passed() || hints == (*lab)->hints.end() || hints->second.empty()) continue;
    for (nlohmann::json& test : results["tests"])
      if (test["number"] == std::to_string(stage.stage))
        test["output"] = test["output"].get<std::string>() + "\nHint: " + hints->second.front();
  }
}

/// Facts for instructors, who alone see a hidden test; without points.
void add_facts(const course::Grade& grade, const nlohmann::json& assignment,
               const std::string& confinement, nlohmann::json& results) {
  const std::string& compiler = grade.result.compiler;
  std::string text = "Compiled " + (compiler.empty() ? "" : "by " + compiler + " ") + confinement +
                     "\nseed " + std::to_string(grade.seed);
  const auto total = assignment.find("total_points");
  if (total != assignment.end() && !total->is_null()) {
    const std::string points = total->is_string() ? total->get<std::string>() : total->dump();
    if (std::strtod(points.c_str(), nullptr) != grade.max_score)
      text += "\nThe assignment has " + points + " points and the lab " +
              exchange::two_decimals(grade.max_score) +
              ": set the assignment's points to the lab's";
  }
  results["tests"].push_back({{"name", "For instructors"},
                              {"output", text},
                              {"visibility", "hidden"},
                              {"score", 0},
                              {"max_score", 0},
                              {"status", "passed"}});
}

/// Results of what could be graded, or of why it could not.
nlohmann::json results_of(const base::Result<queue::BatchSummary>& summary, const Context& context,
                          const nlohmann::json& assignment, const std::string& confinement) {
  if (!summary) {
    const base::Error& error = summary.error();
    std::printf("%s\n", base::to_string(error).c_str());
    if (error.kind == base::ErrorKind::kInput)
      return exchange::gradescope_refusal(
          "Nothing that could be graded was handed in: hand in one kernel.cu.");
    return exchange::gradescope_failure("The autograder could not start.");
  }
  if (summary->stopped || !summary->grades.open.empty())
    return exchange::gradescope_failure("The autograder was not done in time.");
  const auto& grades = summary->grades.grades;
  if (grades.empty())
    return exchange::gradescope_refusal(
        "There is no kernel.cu for this lab: hand in one kernel.cu.");
  if (grades.size() > 1)
    return exchange::gradescope_refusal(
        "These are submissions for several labs: hand in the one kernel.cu of this assignment.");
  const course::Grade& grade = grades.front();
  std::printf("%s: %s%s%s\n", grade.lab.c_str(),
              std::string(course::to_string(*grade.verdict)).c_str(),
              grade.note.empty() ? "" : "; ", grade.note.c_str());
  std::printf("compiled %s\n", confinement.c_str());
  auto results = exchange::gradescope_results(grade);
  if (grade.withheld()) return results;
  add_hints(context, grade, results);
  add_facts(grade, assignment, confinement, results);
  return results;
}

nlohmann::json grade_it(const AutogradeOptions& options) {
  const auto context = make_context();
  if (!context) {
    report_error(context.error());
    return exchange::gradescope_failure("The autograder could not start.");
  }
  const nlohmann::json assignment = assignment_of(options);
  const base::ScratchFolder work("autograde");
  const auto lab = lab_for(options, *context, assignment);
  std::string confinement;
  auto request = lab ? batch_request(options, *context, *lab, work.path(), confinement)
                     : base::Result<queue::BatchRequest>(lab.error());
  if (!request) {
    report_error(request.error());
    return exchange::gradescope_failure("The autograder could not start.");
  }
  const Deadline deadline(options.seconds, catch_interrupts());
  request->stop = deadline.flag();
  return results_of(queue::run_batch(*request), *context, assignment, confinement);
}

int run_autograde(const AutogradeOptions& options) {
  const auto written =
      base::write_durably(options.results, exchange::json_text(grade_it(options)), "report");
  return written ? kExitPassed : report_error(written.error());
}

}  // namespace

void add_autograde(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<AutogradeOptions>();
  CLI::App* const command = app.add_subcommand("autograde", "");
  command->add_option("FOLDER", options->folder)->required();
  command->add_option("--results", options->results)->required();
  command->add_option("--metadata", options->metadata);
  command->add_option("--lab", options->lab);
  takes_whole(*command->add_option("--seconds", options->seconds), 10, 36000);
  add_check_options(*command, *options);
  command->callback([options, command, &chosen] {
    options->has_seed = command->count("--seed") > 0;
    chosen = [options] { return run_autograde(*options); };
  });
}

}  // namespace membound::cli
