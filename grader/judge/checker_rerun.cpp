// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/checker_rerun.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/json_io.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/device_code/checkers/checkers.hpp"
#include "grader/judge/findings.hpp"
#include "grader/judge/verdict.hpp"

namespace membound::judge {
namespace {

/// Of a rerun at a failure. The limits in instructions below end it long before on any machine, so
/// that what is found does not depend on how busy this one is; this is for host code without end.
constexpr double kMostSeconds = 300;
/// After so many warp instructions a launch is given up: some seconds, and, unlike a limit in
/// seconds, at the same place each time. The largest test of a lab has a fifth of it.
constexpr const char* kStepLimit = "50000000";
/// What may never end has gone round often enough by then for its barriers and races to show.
constexpr const char* kStepLimitOfEndless = "200000";
/// The largest timed launch of a lab has a twentieth of it.
constexpr const char* kStepLimitOfTimedLaunch = "1000000000";
/// Of one that was wrong, which is run whole and with all checkers.
constexpr const char* kStepLimitOfWrongTimedLaunch = "200000000";

/// Of a launch with more blocks, so many are checked where the results are right: what is wrong
/// in one is nearly always wrong in its neighbours and at the ends of the grid.
constexpr const char* kMostBlocks = "32";

constexpr int kNiceness = 10;  ///< a tenth of what the run gets where both want a processor
constexpr auto kTick = std::chrono::milliseconds(50);

bool has_chosen_tests(const RunRequest& run) {
  return std::ranges::any_of(run.more_arguments, [](const std::string& argument) {
    return argument.starts_with("--gtest_filter");
  });
}

/// On a thread of its own, whose priority the program inherits.
base::Result<RunOutcome> run_behind(const RunRequest& rerun) {
  // Where this is refused it competes; nothing else depends on it.
  static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness));
  return run_stages(rerun);
}

using Measurements = std::vector<course::StageMeasurement*>;

/// With checkers on and nothing else that costs time.
RunRequest checked_run(const RunRequest& run, std::vector<int> stages, const std::string& checkers,
                       const char* step_limit) {
  RunRequest again = run;
  again.stages = std::move(stages);
  again.stages_at_once = 1;
  again.environment["MEMBOUND_CHECK"] = checkers;
  again.environment["MEMBOUND_CACHES"] = "off";
  again.environment["MEMBOUND_STEP_LIMIT"] = step_limit;
  // In a graded run the checkers look on in the submission's runner.
  if (again.sandbox)
    for (const auto& [name, value] : again.environment)
      again.sandbox->runner_environment[name] = value;
  return again;
}

/// As above, with what is timed as well, and of a large grid some blocks only.
RunRequest with_timed_launch(const RunRequest& run, std::vector<ChosenTests> tests,
                             std::vector<int> stages, const std::string& checkers,
                             TimedRerun timed) {
  const char* const step_limit =
      timed == TimedRerun::kWhole ? kStepLimitOfWrongTimedLaunch : kStepLimitOfTimedLaunch;
  RunRequest again = checked_run(run, std::move(stages), checkers, step_limit);
  again.environment["MEMBOUND_CHECK_BLOCKS"] = kMostBlocks;
  if (again.sandbox) again.sandbox->runner_environment["MEMBOUND_CHECK_BLOCKS"] = kMostBlocks;
  for (ChosenTests& stage : tests) stage.names.emplace_back(to_string(course::BuiltInTest::kSpeed));
  again.backend->choose_tests(again, tests, timed);
  return again;
}

/// The first half of the lab's own tests. Tests stand in a lab from the easiest on, so
/// these have the small sizes and the first awkward ones; the large ones after them, with checkers
/// on, would take longer than all that was run before.
std::vector<std::string> easier_half(const course::StageMeasurement& measurement) {
  std::vector<std::string> own;
  for (const course::TestOutcome& test : measurement.tests) {
    const auto rows = course::built_in_tests();
    if (std::none_of(rows.begin(), rows.end(),
                     [&](const course::BuiltInTestRow& row) { return row.name == test.name; }))
      own.push_back(test.name);
  }
  own.resize((own.size() + 1) / 2);
  return own;
}

/// Adds the reports that say something new of a line.
void add_new(const nlohmann::json& reports, nlohmann::json& all) {
  if (!reports.is_array()) return;
  if (!all.is_array()) all = nlohmann::json::array();
  const auto about = [](const nlohmann::json& report) {
    return std::tuple(course::text_or_empty(report, "kind"), course::text_or_empty(report, "file"),
                      course::number_or_zero(report, "line", 0, 1e9));
  };
  const std::size_t known = all.size();
  for (const nlohmann::json& report : reports)
    if (std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(known),
                     [&](const nlohmann::json& old) { return about(old) == about(report); }))
      all.push_back(report);
}

bool passes(const course::StageMeasurement& stage, const std::string& test) {
  const auto found = std::ranges::find(stage.tests, test, &course::TestOutcome::name);
  return found != stage.tests.end() && found->passed && !found->skipped;
}

/// Whether a test fails by itself too, without checkers, and with warps and lanes in their drawn
/// orders. `orders` says which of these are drawn: "lanes:12".
bool fails_alone(const RunRequest& run, const course::StageMeasurement& measurement,
                 const std::string& test, const std::string& orders = "all") {
  RunRequest again = run;
  again.environment["MEMBOUND_ORDERS"] = orders;
  again = checked_run(again, {measurement.stage}, "none", kStepLimit);
  again.backend->choose_tests(again, {{measurement.kernel, {test}}}, TimedRerun::kNone);
  const auto outcome = run_stages(again);
  return outcome && outcome->measurements.size() == 1 &&
         first_failed(outcome->measurements.front()) != nullptr;
}

int lines_of_submission(const RunRequest& run) {
  const auto text = course::read_submission(run.source, *run.lab);
  if (!text) return 0;
  const std::string kernel = course::split_submission(*text).kernel;
  return static_cast<int>(base::lines_of(kernel).size());
}

/// The last line whose orders alone make a test fail; 0: those of no line alone do. Where warps
/// come to a line in another order, so they do to what comes after it: the last one is nearest to
/// what goes wrong.
int line_of_order(int lines, const std::function<bool(const std::string& lines)>& fails) {
  int first = 1, last = std::max(lines, 1);
  const auto range = [](int from, int to) {
    return ":" + std::to_string(from) + "-" + std::to_string(to);
  };
  while (first < last) {
    const int middle = first + (last - first) / 2;
    if (fails(range(middle + 1, last)))
      first = middle + 1;
    else
      last = middle;
  }
  return fails(range(first, last)) ? first : 0;
}

/// Of a test whose result depends on an order: which one?
nlohmann::json report_of_order(const RunRequest& run, const course::StageMeasurement& suspect,
                               const std::string& test) {
  nlohmann::json report = {
      {"checker", "racecheck"},
      {"kind", "order of warps"},
      {"kernel", suspect.kernel},
      {"text",
       "the result is right when the warps of a block take their turns in the order of their "
       "numbers, and wrong in another order; a GPU promises none"},
      {"advice",
       "a mask of __activemask() may hold fewer lanes than come: ask all of them by "
       "__ballot_sync() before the branch. Memory that holds what earlier launches left is used "
       "as if it were 0: clear all of it. Else find what one warp writes and another reads, with "
       "atomics or volatile words too, and put __syncthreads() between, where every thread "
       "reaches it"}};
  const auto fails = [&](const std::string& orders) {
    return fails_alone(run, suspect, test, orders);
  };
  if (fails("none")) return report;
  const bool of_lanes = fails("lanes");
  if (of_lanes) {
    report["kind"] = "order of lanes";
    report["text"] =
        "the result is right when an atomic operation serves the lanes of a warp in the order of "
        "their numbers, and wrong in another order; a GPU promises none";
    report["advice"] =
        "the result of an atomic operation gives each lane a place of its own, and does not say "
        "whose is first. Where equals must keep their order, ask which lanes are alike "
        "(__match_any_sync() "
        "or __ballot_sync()) and count those before this one with __popc()";
  }
  const int line = line_of_order(lines_of_submission(run), [&](const std::string& lines) {
    return fails((of_lanes ? "lanes" : "warps") + lines);
  });
  if (line == 0) return report;
  report["file"] = run.source.string();
  report["line"] = line;
  if (!of_lanes)
    report["text"] =
        "the result is right when the warps of a block come to this line in the order of their "
        "numbers, and wrong when others go first; a GPU promises no order";
  return report;
}

/// A test of the lab's own that failed on the virtual GPU, where warps and the lanes of atomic
/// operations take drawn turns, and passed in the checker rerun, where they take those of their
/// numbers: what the checkers have no word for is the order.
nlohmann::json reports_of_order(const RunRequest& run, const course::StageMeasurement& suspect,
                                const course::StageMeasurement& seen) {
  const course::TestOutcome* const failed = first_failed(suspect);
  // A program's kernels are run on a virtual GPU wherever the check is.
  const bool is_virtual = run.backend->checks_at_once() || !suspect.device.virtual_name.empty();
  if (!is_virtual || failed == nullptr || suspect.abort != course::Cause::kNone ||
      !seen.checks.empty())
    return seen.checks;
  const auto rows = course::built_in_tests();
  if (std::ranges::any_of(rows, [&](const auto& row) { return row.name == failed->name; }))
    return seen.checks;
  if (!passes(seen, failed->name)) return seen.checks;
  // Without the tests before it, too: what one launch leaves for the next is another mistake.
  if (!fails_alone(run, suspect, failed->name)) return seen.checks;
  return nlohmann::json::array({report_of_order(run, suspect, failed->name)});
}

/// False: it was stopped. What the checker rerun itself ends in says nothing new of a failure. One
/// at right results that does not come to its end has not said that they are no luck: it is taken
/// once more, and a note says so where that is no better. `early` is one at these, or null.
bool look_at(const RunRequest& run, const Measurements& suspects, EarlyRerun* early) {
  if (suspects.empty()) return true;
  std::map<int, nlohmann::json> checks;  // by stage
  std::set<int> ended;                   // stages
  bool stopped = false;
  const bool failed = suspects.size() == 1 && !may_be_right_by_luck(*run.lab, *suspects.front());
  const auto add = [&](const base::Result<RunOutcome>& outcome) {
    stopped = outcome && outcome->stopped;
    if (!outcome) return;
    for (const course::StageMeasurement& seen : outcome->measurements) {
      add_new(failed ? reports_of_order(run, *suspects.front(), seen) : seen.checks,
              checks[seen.stage]);
      if (seen.abort == course::Cause::kNone) ended.insert(seen.stage);
    }
  };
  if (early != nullptr)
    add(early->take(run));
  else if (suspects.size() == 1)
    add(run_stages(checker_rerun(run, *suspects.front())));
  else
    add(run_stages(rerun_at_right_results(run, {suspects.begin(), suspects.end()})));
  for (course::StageMeasurement* const suspect : suspects) {
    const auto is_open = [&] {
      return !stopped && !ended.contains(suspect->stage) && checks[suspect->stage].empty() &&
             may_be_right_by_luck(*run.lab, *suspect);
    };
    if (is_open()) add(run_stages(checker_rerun(run, *suspect)));
    if (is_open())
      suspect->notes.emplace_back(
          "the checkers' rerun of these right results did not come to its end, so that nothing "
          "says "
          "that they are no luck");
    if (!run.with_red_zones.empty() && !stopped)
      add(run_stages(rerun_with_red_zones(run, *suspect)));
    if (nlohmann::json& of_stage = checks[suspect->stage]; !of_stage.is_null())
      suspect->checks = std::move(of_stage);
  }
  return !stopped;
}

}  // namespace

bool deserves_checker_rerun(const course::Lab& lab, const course::StageMeasurement& measurement) {
  const course::Stage* const stage = lab.stage(measurement.stage);
  if (stage == nullptr) return false;
  switch (judge_stage(lab, *stage, measurement).verdict) {
    case course::Verdict::kWrong:
    case course::Verdict::kFault:
      return true;
    case course::Verdict::kTimeout:
      // Where host code loops, no checker of kernels finds more, and it would take as long again.
      return measurement.abort_text.find("its host code was running line") == std::string::npos;
    default:
      return false;
  }
}

bool may_be_right_by_luck(const course::Lab& lab, const course::StageMeasurement& measurement) {
  const course::Stage* const stage = lab.stage(measurement.stage);
  return stage != nullptr && !measurement.tests.empty() &&
         judge_stage(lab, *stage, measurement).correct;
}

std::map<std::string, std::string> environment_at_right_results() {
  return {{"MEMBOUND_CHECK", checkers::checker_names_at_right_results()},
          {"MEMBOUND_CHECK_BLOCKS", kMostBlocks},
          {"MEMBOUND_STEP_LIMIT", kStepLimitOfTimedLaunch}};
}

RunRequest rerun_at_right_results(
    const RunRequest& run, const std::vector<const course::StageMeasurement*>& measurements) {
  std::vector<ChosenTests> tests;
  std::vector<int> stages;
  for (const course::StageMeasurement* measurement : measurements) {
    tests.push_back({measurement->kernel, easier_half(*measurement)});
    stages.push_back(measurement->stage);
  }
  // What is found at right results shall not depend on how busy the machine is: no limit in
  // seconds.
  return with_timed_launch(run, std::move(tests), std::move(stages),
                           checkers::checker_names_at_right_results(), TimedRerun::kSomeBlocks);
}

RunRequest rerun_before_results(const RunRequest& run) {
  RunRequest again = with_timed_launch(
      run, {}, run.stages, checkers::checker_names_at_right_results(), TimedRerun::kSomeBlocks);
  again.more_arguments.emplace_back("--easier-half");
  return again;
}

RunRequest checker_rerun(const RunRequest& run, const course::StageMeasurement& measurement) {
  if (may_be_right_by_luck(*run.lab, measurement))
    return rerun_at_right_results(run, {&measurement});
  const std::string all = checkers::checker_names(true);
  const course::TestOutcome* const failed = first_failed(measurement);
  const bool by_test = measurement.abort == course::Cause::kNone && failed != nullptr;
  if (by_test && failed->cause() == course::Cause::kWrongInTimedRun)
    return with_timed_launch(run, {{measurement.kernel, {}}}, {measurement.stage}, all,
                             TimedRerun::kWhole);
  const bool endless = measurement.abort == course::Cause::kTimeout;
  RunRequest again =
      checked_run(run, {measurement.stage}, all, endless ? kStepLimitOfEndless : kStepLimit);
  // A fault has no test of its own.
  ChosenTests tests{measurement.kernel, {}};
  if (by_test) tests.names.push_back(failed->name);
  again.backend->choose_tests(again, {tests}, TimedRerun::kNone);
  again.seconds_per_stage = kMostSeconds;
  return again;
}

RunRequest rerun_with_red_zones(const RunRequest& run,
                                const course::StageMeasurement& measurement) {
  RunRequest again = run;
  if (may_be_right_by_luck(*run.lab, measurement)) {
    again = checked_run(run, {measurement.stage}, "memcheck", kStepLimit);
    again.backend->choose_tests(again, {{measurement.kernel, easier_half(measurement)}},
                                TimedRerun::kNone);
  } else {
    again = checker_rerun(run, measurement);
    again.environment["MEMBOUND_CHECK"] = "memcheck";
    if (again.sandbox) again.sandbox->runner_environment["MEMBOUND_CHECK"] = "memcheck";
  }
  again.submission = run.with_red_zones;
  return again;
}

void rerun_with_checkers(const RunRequest& run, CheckerReruns reruns,
                         std::vector<course::StageMeasurement>& measurements, EarlyRerun* early) {
  if (base::switched_off("judge.checker-rerun")) return;
  const auto most = static_cast<std::size_t>(std::max(1, run.stages_at_once));
  const bool at_right_results = reruns.at_right_results && !run.backend->checks_at_once();
  // A start of the test program costs as much as many a stage's rerun: right ones share theirs.
  std::vector<Measurements> suspects(most);
  std::size_t right = 0;
  for (course::StageMeasurement& measurement : measurements)
    if (at_right_results && may_be_right_by_luck(*run.lab, measurement))
      suspects[right++ % most].push_back(&measurement);
  for (course::StageMeasurement& measurement : measurements)
    if (reruns.at_failures && deserves_checker_rerun(*run.lab, measurement))
      suspects.push_back({&measurement});
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < suspects.size(); i = next++)
      if (!look_at(run, suspects[i], i == 0 && right == 1 ? early : nullptr))
        next = suspects.size();
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < most; ++i) threads.emplace_back(work);
}

std::unique_ptr<EarlyRerun> EarlyRerun::begin(const RunRequest& run, CheckerReruns reruns,
                                              const DeviceKind& device) {
  const bool helps = run.stages.size() == 1 && base::processors() > 1;
  const bool is_the_same = !run.sandbox && !run.backend->checks_at_once() &&
                           !has_chosen_tests(run) && device.has_checkers();
  if (!helps || !is_the_same || !reruns.at_right_results ||
      base::switched_off("judge.checker-rerun"))
    return nullptr;
  return std::make_unique<EarlyRerun>(rerun_before_results(run));
}

EarlyRerun::EarlyRerun(RunRequest rerun) : rerun_(std::move(rerun)) {
  rerun_.stop = &ended_;
  rerun_.on_tick = nullptr;
  outcome_ = std::async(std::launch::async, [this] { return run_behind(rerun_); });
}

EarlyRerun::~EarlyRerun() {
  ended_ = true;
  if (outcome_.valid()) outcome_.wait();
}

base::Result<RunOutcome> EarlyRerun::take(const RunRequest& waiting) {
  while (outcome_.wait_for(kTick) != std::future_status::ready) {
    if (waiting.stop != nullptr && *waiting.stop) ended_ = true;
    if (waiting.on_tick) waiting.on_tick(rerun_.stages.front());
  }
  return outcome_.get();
}

std::filesystem::path find_compute_sanitizer(const std::string& path,
                                             const std::filesystem::path& compiler) {
  constexpr const char* kName = "compute-sanitizer";
  if (auto found = base::find_in_path(kName, path); !found.empty()) return found;
  std::error_code ignored;
  const auto beside = std::filesystem::weakly_canonical(compiler, ignored).parent_path() / kName;
  return std::filesystem::exists(beside, ignored) ? beside : std::filesystem::path();
}

namespace {

/// The lines of a log that are the sanitizer's, without what all of them begin with.
std::vector<std::string> lines_of_sanitizer(std::string_view log) {
  constexpr std::string_view kMark = "=========";
  constexpr std::size_t kLongest = 4096;  // std::regex recurses over what it matches
  std::vector<std::string> lines;
  for (const std::string_view line : base::lines_of(log))
    if (line.starts_with(kMark))
      lines.emplace_back(base::trimmed(line.substr(kMark.size(), kLongest)));
  return lines;
}

/// "kernel.cu 12" of "at reverse(int *)+0x90 in kernel.cu:12"; empty for a line of no kernel.cu.
std::string place_in(const std::string& line) {
  static const std::regex kPlace(R"(kernel\.cu:(\d+))");
  std::smatch found;
  return std::regex_search(line, found, kPlace) ? "kernel.cu " + found[1].str() : "";
}

}  // namespace

std::string sanitizer_words(const std::string& tool, std::string_view log) {
  static const std::regex kSummary(R"((\w+) SUMMARY: (\d+) (\w+).*)");
  static const std::regex kThread(R"(by thread (\([\d,]+\) in block \([\d,]+\)).*)");
  std::string first, count, kind;
  bool is_first = true;  // its lines go on
  for (const std::string& line : lines_of_sanitizer(log)) {
    std::smatch found;
    if (std::regex_match(line, found, kSummary)) {
      count = found[2].str();
      kind = found[3].str();
    } else if (first.empty()) {
      if (!line.empty() && !line.starts_with("COMPUTE-SANITIZER")) first = line;
    } else if (line.empty()) {
      is_first = false;
    } else if (is_first && std::regex_match(line, found, kThread)) {
      first += ", thread " + found[1].str();
    } else if (const std::string place = place_in(line);
               is_first && !place.empty() && first.find("kernel.cu") == std::string::npos) {
      first += ", " + place;
    }
  }
  if (count.empty())
    return tool + ": it did not come to its end" + (first.empty() ? "" : ", " + first);
  if (count == "0") return tool + ": nothing";
  return tool + ": " + first + "; " + count + " " + kind + " in all";
}

void add_sanitizer_reports(const RunRequest& run, const std::filesystem::path& sanitizer,
                           std::vector<course::StageMeasurement>& measurements) {
  for (course::StageMeasurement& measurement : measurements) {
    std::string said;
    for (const char* tool : {"memcheck", "racecheck", "synccheck", "initcheck"}) {
      RunRequest one = run;
      const auto log = run.scratch_folder / ("sanitizer-" + std::to_string(getpid()) + ".log");
      one.stages = {measurement.stage};
      one.under = {sanitizer.string(), "--tool",        tool, "--log-file",
                   log.string(),       "--print-limit", "100"};
      one.more_arguments = {"--quick"};
      const auto outcome = run_stages(one);
      const auto text = base::read_file(log);
      std::error_code ignored;
      std::filesystem::remove(log, ignored);
      said += "\n  " + (outcome && text ? sanitizer_words(tool, *text)
                                        : std::string(tool) + ": it could not be run");
      if (outcome && outcome->stopped) return;
    }
    measurement.remarks.push_back("compute-sanitizer, on the tests of this stage:" + said);
  }
}

}  // namespace membound::judge
