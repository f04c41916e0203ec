// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// main() of the test program for stages about a program: for each stage the lab's tests, each
/// asked once more with other inputs while the next one runs, then the demands on the calls of the
/// last one's run, as one measurement; or with --clock its times alone. Exit codes:
/// course::test_exit.
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "grader/base/digest.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/contract.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/measurement.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/cases/failure_text.hpp"
#include "grader/harness/program/call_rule_checks.hpp"
#include "grader/harness/program/clocked_run.hpp"
#include "grader/harness/program/program_test.hpp"
#include "grader/harness/program/timeline.hpp"
#include "grader/sandbox/runner/runner_limits.hpp"

namespace membound::harness {
namespace {

struct Options {
  std::filesystem::path lab_json;
  std::filesystem::path submission;  ///< the student's program
  std::filesystem::path runner;
  std::filesystem::path forward;
  std::filesystem::path oracle;  ///< the lab's oracle.cpp, compiled; empty: it has tests of its own
  std::filesystem::path result;  ///< JSON lines are appended here; empty: no file
  std::vector<int> stages;       ///< empty: all
  std::vector<std::string> tests;  ///< empty: all, and the demands
  /// NAME=VALUE: told to the runner besides, so that checkers look on; empty: none do.
  std::vector<std::string> checked_with;
  std::uint64_t seed = 1;
  std::optional<harness::SeedKey> seed_key;
  bool jailed = false;
  std::filesystem::path clock;      ///< not empty: times the work of the stages, and nothing else
  std::filesystem::path reference;  ///< the program that it is held against; empty: none
};

/// Options, or what to print and how to exit (also for --help).
struct ParsedOptions {
  std::optional<Options> options;
  std::string text;
  int exit_code = 0;
};

ParsedOptions parse_options(int argc, const char* const* argv) {
  Options options;
  std::string seed_key;
  CLI::App app{"Tests the program of a lab's stages; normally started by membound."};
  const auto file = [&app](const char* name, std::filesystem::path& value, const char* text) {
    app.add_option(name, value, text)->required()->check(CLI::ExistingPath);
  };
  file("--lab", options.lab_json, "the lab's lab.json");
  file("--submission", options.submission, "the student's program, compiled");
  file("--runner", options.runner, "membound_runner");
  file("--forward", options.forward, "folder of the forwarding libcudart");
  app.add_option("--oracle", options.oracle, "the lab's oracle.cpp, compiled as a library")
      ->check(CLI::ExistingFile);
  app.add_option("--result", options.result, "append one JSON line per stage to this file");
  app.add_option("--stages", options.stages, "numbers of the stages, like 1,3; all if left out")
      ->delimiter(',');
  app.add_option("--tests", options.tests, "only these of each stage, and none of its demands")
      ->delimiter(',');
  app.add_option("--checked-with", options.checked_with,
                 "NAME=VALUE ...: told to the runner, so that checkers look on")
      ->excludes("--tests");
  app.add_option("--seed", options.seed, "all data follows from it");
  app.add_option("--seed-key", seed_key, "32 hexadecimal digits of a graded run");
  app.add_option("--clock", options.clock,
                 "the work clock's library: times the program's work on the device it finds by "
                 "itself, and runs no other test")
      ->check(CLI::ExistingFile);
  app.add_option("--reference", options.reference, "with --clock: a program to time beside it")
      ->needs("--clock")
      ->check(CLI::ExistingFile);
  app.add_flag("--jailed", options.jailed, "nobody trusts the program: both processes in jails");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    const bool asked = error.get_exit_code() == 0;
    app.exit(error, text, text);
    return {std::nullopt, text.str(), asked ? 0 : 2};
  }
  // The program runs in a folder of its own.
  for (std::filesystem::path* path :
       {&options.submission, &options.runner, &options.forward, &options.clock, &options.reference})
    if (!path->empty()) *path = std::filesystem::absolute(*path);
  if (!seed_key.empty()) {
    const auto key = harness::parse_seed_key(seed_key);
    if (!key) return {std::nullopt, base::to_string(key.error()) + "\n", 2};
    options.seed_key = *key;
  }
  return {std::move(options), "", 0};
}

/// How a program ended well although other words came with its copies; "" where it did not.
std::string why_not_noticed(const RunEnd& run, const std::string& test) {
  const jail::JailOutcome& program = run.program;
  const std::string changed =
      "In the test " + test + " every word of the results was changed on its way to the host, and ";
  if (program.limit != jail::LimitHit::kNone)
    return changed + "a limit (" + std::string(to_string(program.limit)) +
           ") ended the program before it had an exit code.";
  if (program.exit_code != 0) return "";
  return changed + "the program ended with exit code 0.";
}

using Clock = std::chrono::steady_clock;

/// The virtual GPU computes each thread on the CPU: so many times the program's own CPU time.
constexpr double kVirtualCpuFactor = 6;
constexpr double kRunnerSpareSeconds = 5;
constexpr std::size_t kRunnerMemoryMegabytes = 2048;
constexpr int kProgramProcesses = 32;
constexpr std::size_t kOutputFileMegabytes = 64;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// What chooses the runner's device: our own MEMBOUND_ variables and library path.
void take_environment(Setting& setting) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (text.starts_with("MEMBOUND_") && equals != std::string_view::npos)
      setting.runner_environment[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  const char* folders = std::getenv("LD_LIBRARY_PATH");
  std::istringstream text(folders == nullptr ? "" : folders);
  for (std::string folder; std::getline(text, folder, ':');)
    if (!folder.empty()) setting.runtime_folders.emplace_back(folder);
}

Setting setting_of(const Options& options, const course::ProgramLimits& code) {
  Setting setting;
  setting.program = options.submission;
  setting.runner = options.runner;
  setting.forward_folder = options.forward;
  setting.use_jail = options.jailed;
  take_environment(setting);
  jail::Limits& program = setting.program_limits;
  // A call on the virtual GPU is the program's wall clock, not its CPU time.
  program.wall_seconds = course::ProgramLimits::kWallSecondsPerCpuSecond * code.seconds;
  program.cpu_seconds = code.seconds;
  program.memory_bytes = static_cast<std::size_t>(code.memory_mb) * jail::kMegabyte;
  program.output_bytes = static_cast<std::size_t>(code.output_kb) * 1024;
  program.file_bytes = kOutputFileMegabytes * jail::kMegabyte;
  program.scratch_bytes = 2 * kOutputFileMegabytes * jail::kMegabyte;
  program.processes = kProgramProcesses;
  jail::Limits& runner = setting.runner_limits;
  runner.wall_seconds = program.wall_seconds + kRunnerSpareSeconds;
  runner.cpu_seconds = kVirtualCpuFactor * code.seconds;
  runner.memory_bytes = kRunnerMemoryMegabytes * jail::kMegabyte;
  runner.output_bytes = jail::kMegabyte;
  runner.processes = runner::most_runner_threads();
  runner.limit_address_space = false;  // the virtual GPU reserves far more than it uses
  return setting;
}

course::StageMeasurement empty_measurement(const Options& options, const course::Lab& lab,
                                           const course::Stage& stage, const Setting& setting) {
  course::StageMeasurement measurement;
  measurement.lab = lab.id;
  measurement.kernel = stage.kernel;
  measurement.stage = stage.number;
  measurement.seed = options.seed;
  const auto device = setting.runner_environment.find("MEMBOUND_DEVICE");
  measurement.device.name = device == setting.runner_environment.end() ? "gpu" : device->second;
  return measurement;
}

/// "5 x 601 (sound, sample)"
std::string label_of(const Shape& shape) {
  std::string extents, names;
  for (const std::int64_t extent : shape.extents)
    base::add_word(extents, std::to_string(extent), " x ");
  for (const std::string& name : shape.axis_names) base::add_word(names, name);
  return extents + " (" + names + ")";
}

/// The test that a timing stands for.
course::TestOutcome speed_outcome(const testing::AssertionResult& right,
                                  const std::optional<course::Timing>& timing, double bar) {
  course::TestOutcome outcome;
  outcome.name = to_string(course::BuiltInTest::kSpeed);
  outcome.passed = right && timing->ratio >= bar;
  if (!right) {
    outcome.hint_tag = to_string(course::Cause::kWrongInTimedRun);
    outcome.message = std::string("in a timed run, ") + right.message();
  } else if (!outcome.passed) {
    char text[120];
    std::snprintf(text, sizeof text, "%.3f of the reference program's speed; the bar is %.3f",
                  timing->ratio, bar);
    outcome.message = text;
  }
  return outcome;
}

bool demands(const course::Stage& stage, std::string_view rule) {
  return std::ranges::any_of(
      stage.calls, [&](const course::CallDemand& demand) { return demand.rule->name == rule; });
}

Timeline timeline_of(const course::Stage& stage) {
  if (demands(stage, "copies-overlap")) return Timeline::kCopiesBesideKernels;
  return demands(stage, "kernels-overlap") ? Timeline::kKernelsSideBySide : Timeline::kNone;
}

/// How long the program's own work takes, beside the reference program's.
course::StageMeasurement time_work(const Options& options, const course::Lab& lab,
                                   const course::Stage& stage, const Setting& setting) {
  const auto start = Clock::now();
  course::StageMeasurement measurement = empty_measurement(options, lab, stage, setting);
  if (kTimedTest.body == nullptr) return measurement;
  const ClockSetting clock{options.clock, options.reference, stage.pass_ratio,
                           course::is_virtual_device(measurement.device.name),
                           demands(stage, "copies-overlap")};
  ClockedProgram program(setting, clock);
  ProgramTest one([&](const Given& given) { return program.run(given); }, stage.number,
                  harness::Seeds(options.seed_key).derive(options.seed, stage.number));
  const testing::AssertionResult result = kTimedTest.body(one);
  measurement.notes = program.notes();
  measurement.abort = one.abort();
  if (measurement.abort != course::Cause::kNone)
    measurement.abort_text = std::string(result.message()) + ", in a timed run";
  else if (!result || program.timing())
    measurement.tests.push_back(speed_outcome(result, program.timing(), stage.pass_ratio));
  if (result && program.timing()) {
    measurement.timings.push_back(*program.timing());
    measurement.timings.back().label = label_of(one.shape());
  }
  measurement.seconds = seconds_since(start);
  return measurement;
}

/// What came of one test.
struct Tried {
  course::TestOutcome outcome;
  course::Cause abort = course::Cause::kNone;
  RunEnd end;
  nlohmann::json report;  ///< the virtual GPU's
  /// The test, for what is asked of a run that passed; else null.
  std::shared_ptr<const ProgramTest> passed;
};

Tried try_test(const HostTest& test, const Setting& setting, int stage, std::uint64_t seed) {
  const auto since = Clock::now();
  const auto test_run = std::make_shared<ProgramTest>(
      [&](const Given& given) { return run_program(setting, given); }, stage, seed);
  ProgramTest& one = *test_run;
  const testing::AssertionResult result = test.body(one);
  Tried tried;
  tried.outcome.name = test.name;
  tried.outcome.passed = static_cast<bool>(result);
  tried.outcome.message = result ? "" : result.message();
  tried.outcome.hint_tag = result ? "" : test.hint_tag;
  tried.abort = one.abort();
  if (tried.outcome.passed) tried.passed = test_run;
  tried.outcome.seconds = seconds_since(since);
  tried.end = one.end();
  tried.report = nlohmann::json::parse(tried.end.findings, nullptr, false);
  return tried;
}

Setting checked_setting(Setting setting, const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) {
    const auto equals = std::min(variable.find('='), variable.size() - 1);
    setting.runner_environment[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  return setting;
}

/// Did it pass, and the checkers find nothing?
bool is_clean(const Tried& tried) {
  nlohmann::json found;
  add_checks(tried.report, tried.outcome.name, found);
  return tried.outcome.passed && tried.abort == course::Cause::kNone && found.empty();
}

/// Did it reach a limit that it would reach without the checkers, too? They slow the runner alone.
bool reached_its_own_limit(const RunEnd& end) {
  constexpr double kLittle = 0.1;  // of the time that the program had
  const jail::LimitHit limit = end.program.limit;
  return limit == jail::LimitHit::kCpu ||
         (limit == jail::LimitHit::kWall && end.runner.cpu_seconds < kLittle * end.program.seconds);
}

/// The test came out right, but not in another order of turns.
void fail_for_its_order(course::TestOutcome& test) {
  test.passed = false;
  test.message =
      "The results are right in one order of turns alone: the same calls gave other results once "
      "warps, blocks and the lanes of atomic operations took their turns in another order. A GPU "
      "promises none.";
}

/// Whether checkers look on in the runner at all that is done there.
bool checkers_look_on(const Setting& setting) {
  const auto checks = setting.runner_environment.find("MEMBOUND_CHECK");
  return checks != setting.runner_environment.end() && checks->second != "none" &&
         !checks->second.empty();
}

/// How a test is tried: with checkers and without. `used` is what it was tried with in the end.
struct Ways {
  const Setting* checked = nullptr;  ///< null: no checker looks on
  const Setting* usual = nullptr;
  const Setting* used = nullptr;
};

/// A test in orders drawn from `orders`, unless that is 0. Where it does not come out right, in the
/// usual ones, too, in which a finding names who is first: what comes out right there alone, and
/// without a finding, depends on the order. Checkers lay memory out otherwise and take their time:
/// what fails with them, or has findings, is decided without them. When calls began and ended they
/// leave as it is. Adds what they found to `checks`.
Tried try_each_way(std::uint64_t orders, const HostTest& test, Ways& ways, int stage,
                   std::uint64_t seed, nlohmann::json& checks) {
  const auto is_open = [](const Tried& tried) {
    return !is_clean(tried) && !reached_its_own_limit(tried.end);
  };
  ways.used = ways.checked != nullptr ? ways.checked : ways.usual;
  Setting first = *ways.used;
  first.orders = orders;
  Tried tried = try_test(test, first, stage, seed);
  bool hangs_on_order = false;
  if (orders != 0 && is_open(tried)) {
    const bool came_out_right = tried.outcome.passed && tried.abort == course::Cause::kNone;
    // What does not end takes as long each time.
    if (tried.abort == course::Cause::kTimeout) ways.used = ways.usual;
    tried = try_test(test, *ways.used, stage, seed);
    hangs_on_order = !came_out_right && is_clean(tried);
  }
  add_checks(tried.report, test.name, checks);
  if (ways.used == ways.checked && is_open(tried))
    tried = try_test(test, *(ways.used = ways.usual), stage, seed);
  if (!hangs_on_order) return tried;
  fail_for_its_order(tried.outcome);
  tried.passed = nullptr;
  return tried;
}

/// Of the tests before the last one, a replay each would double what a check costs: one is
/// replayed, the first from the number `drawn` on that had results at all.
bool is_replayed_too(std::size_t number, bool is_first, const RunEnd& end, std::uint64_t drawn) {
  const bool has_results =
      std::ranges::any_of(end.outputs, [](const auto& output) { return !output.second.empty(); });
  return is_first && has_results && number >= drawn % std::max<std::size_t>(kTests.size() - 1, 1);
}

course::StageMeasurement measure(const Options& options, const course::Lab& lab,
                                 const course::Stage& stage, const Setting& setting) {
  const auto start = Clock::now();
  course::StageMeasurement measurement = empty_measurement(options, lab, stage, setting);
  const harness::Seeds seeds(options.seed_key);
  Setting usual = setting;
  usual.keeps_requests = options.tests.empty() && demands(stage, "device-results");
  const Setting checked = checked_setting(usual, options.checked_with);
  RunEnd last;
  std::vector<std::future<ReplayedTest>> replays;
  std::future<base::Result<RunEnd>> with_changed_copies;  // of the last test, where it is asked
  bool last_is_replayed = false;
  const std::uint64_t drawn =
      seeds.derive(options.seed, base::stable_hash(stage.kernel + ".drawn"));
  const auto& wanted = options.tests;
  const bool looks = !options.checked_with.empty();
  for (const HostTest& test : kTests) {
    if (!wanted.empty() && std::ranges::find(wanted, test.name) == wanted.end()) continue;
    const std::string id = stage.kernel + "." + test.name;
    const std::uint64_t seed = seeds.derive(options.seed, base::stable_hash(id));
    const auto number = static_cast<std::size_t>(&test - kTests.data());
    const bool is_last = number + 1 == kTests.size();
    const std::uint64_t of_replay = seeds.derive(options.seed, base::stable_hash(id + ".replay"));
    // The last test's calls and times are held against demands: a replay draws its orders. Of tests
    // that were asked for, whoever wants to know what depends on the order asks without checkers.
    const bool draws = wanted.empty() ? !is_last : !checkers_look_on(usual);
    Ways ways{.checked = looks ? &checked : nullptr, .usual = &usual};
    Tried tried =
        try_each_way(draws ? of_replay | 1 : 0, test, ways, stage.number, seed, measurement.checks);
    const Setting* const used = ways.used;
    const bool can_be_replayed = used->keeps_requests && tried.passed != nullptr;
    last_is_replayed = is_last && can_be_replayed;
    if (can_be_replayed && (is_last || is_replayed_too(number, replays.empty(), tried.end, drawn)))
      replays.push_back(begin_replay(test, tried.passed, *used, of_replay, !is_last));
    if (is_last && tried.passed != nullptr && wanted.empty() && demands(stage, "compares-results"))
      with_changed_copies =
          std::async(std::launch::async,
                     [first = tried.passed, used,
                      key = seeds.derive(options.seed, base::stable_hash(id + ".copies"))] {
                       return run_with_changed_copies(first->given(), *used, key);
                     });
    last = std::move(tried.end);
    measurement.abort = tried.abort;
    if (measurement.abort == course::Cause::kNone) {
      measurement.tests.push_back(std::move(tried.outcome));
      continue;
    }
    measurement.abort_text = tried.outcome.message + ", in the test " + tried.outcome.name;
    if (looks) measurement.checks = nullptr;
    measurement.seconds = seconds_since(start);
    return measurement;
  }
  Evidence evidence(last.calls);
  evidence.printed = last.program.output;
  for (std::future<ReplayedTest>& begun : replays) {
    ReplayedTest told = begun.get();
    if (told.abort != course::Cause::kNone) {
      measurement.abort = told.abort;
      measurement.abort_text = told.message + ", after the test " + told.name;
      return measurement;
    }
    if (told.hangs_on_order)
      fail_for_its_order(
          *std::ranges::find(measurement.tests, told.name, &course::TestOutcome::name));
    // The last one's says more: how the device came to what was handed in.
    if (!told.message.empty())
      evidence.not_the_devices = "In the test " + told.name + ": " + told.message;
    // Demands are held against the last run.
    if (!last_is_replayed || &begun != &replays.back()) continue;
    evidence.arrived = std::move(told.arrived);
    evidence.uses = std::move(told.uses);
  }
  if (with_changed_copies.valid()) {
    const auto run = with_changed_copies.get();
    if (!run) {
      measurement.abort = course::Cause::kCrash;
      measurement.abort_text = base::to_string(run.error());
      return measurement;
    }
    evidence.not_noticed = why_not_noticed(*run, kTests.back().name);
  }
  for (const course::CallDemand& demand : stage.calls) {
    if (!wanted.empty()) break;
    const auto breach = breach_of(demand, stage.kernel, evidence);
    course::TestOutcome outcome;
    outcome.name = demand.rule->test;
    outcome.passed = !breach;
    outcome.message = breach.value_or("");
    outcome.hint_tag = breach ? demand.rule->name : "";
    measurement.tests.push_back(std::move(outcome));
  }
  // What does not come out right is looked at as that.
  if (looks && std::ranges::any_of(measurement.tests, &course::TestOutcome::failed))
    measurement.checks = nullptr;
  measurement.notes =
      run_notes(last.calls, last.program.output, timeline_of(stage), last.program.exit_code == 0);
  if (wanted.empty())
    measurement.counters = {{"program", program_counts(stage.kernel, last.calls)}};
  measurement.seconds = seconds_since(start);
  return measurement;
}

int run_all(const Options& options) {
  const auto whole = course::read_lab(options.lab_json);
  if (!whole) {
    std::fprintf(stderr, "%s\n", base::to_string(whole.error()).c_str());
    return course::test_exit::kWrongUse;
  }
  if (!options.oracle.empty()) {
    auto oracle = LabOracle::load(options.oracle);
    if (!oracle) {
      std::fprintf(stderr, "%s\n", base::to_string(oracle.error()).c_str());
      return course::test_exit::kOurFault;
    }
    program_oracle() = *std::move(oracle);
  }
  const course::Lab lab = whole->with_stages_of(course::kProgramStage);
  bool all_passed = true;
  for (const course::Stage& stage : lab.stages) {
    const auto& asked = options.stages;
    if (!asked.empty() && std::find(asked.begin(), asked.end(), stage.number) == asked.end())
      continue;
    const auto observe = options.clock.empty() ? measure : time_work;
    const course::StageMeasurement measurement =
        observe(options, lab, stage, setting_of(options, stage.program));
    for (const course::TestOutcome& test : measurement.tests) {
      all_passed = all_passed && test.passed;
      std::printf("%s %s.%s %s\n", test.passed ? "passed" : "FAILED", stage.kernel.c_str(),
                  test.name.c_str(), test.message.c_str());
    }
    all_passed = all_passed && measurement.abort == course::Cause::kNone;
    if (!measurement.abort_text.empty()) std::printf("%s\n", measurement.abort_text.c_str());
    if (options.result.empty()) continue;
    if (const auto written = course::append_line(options.result, measurement); !written) {
      std::fprintf(stderr, "%s\n", base::to_string(written.error()).c_str());
      return base::exit_code_of(written.error().kind);
    }
  }
  return all_passed ? course::test_exit::kAllPassed : course::test_exit::kSomeFailed;
}

}  // namespace

}  // namespace membound::harness

int main(int argc, char** argv) {
  using namespace membound::harness;
  membound::base::keep_freed_memory(true);  // a replay begins when a test has ended
  const ParsedOptions parsed = parse_options(argc, argv);
  if (!parsed.options) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  try {
    return run_all(*parsed.options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return membound::course::test_exit::kOurFault;
  }
}
