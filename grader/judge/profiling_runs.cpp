// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/profiling_runs.hpp"

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/json_io.hpp"
#include "grader/judge/checker_rerun.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/judge/ncu_report.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;
using course::Cause;
using course::StageMeasurement;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostLaunches = 48;  // of a stage
constexpr std::uintmax_t kMostLogBytes = 16 << 20;

std::string counting_device(const CountingRuns& runs) {
  const auto name = runs.on_virtual.environment.find("MEMBOUND_DEVICE");
  return "virtual GPU" + (name == runs.on_virtual.environment.end() ? "" : ", " + name->second);
}

void add_note(std::string note, StageMeasurement& measurement) {
  measurement.notes.push_back(std::move(note));
}

void note_virtual(const std::string& why, StageMeasurement& measurement) {
  add_note("Counted on the " + measurement.counted_on + ", at its sizes: " + why +
               ". Gains are those of its clock.",
           measurement);
}

std::string in_short(const base::Error& error) {
  return error.where + ": " + error.found +
         (error.expected.empty() ? "" : ", expected " + error.expected);
}

/// Takes the size out that the harness told, for whoever runs the launches elsewhere: "2048x1024".
std::string take_size(json& counters) {
  std::string text;
  if (const auto size = counters.find("size"); size != counters.end()) {
    for (const json& extent : *size)
      if (extent.is_number_integer()) base::add_word(text, extent.dump(), "x");
    counters.erase(size);
  }
  return text;
}

class CountsOnVirtualGpu : public LaunchCounting {
 public:
  explicit CountsOnVirtualGpu(std::string why) : why_(std::move(why)) {}

  void count(const CountingRuns& runs, std::vector<StageMeasurement>& measurements) const override {
    for (StageMeasurement* counted :
         count_beside(runs.on_virtual, counting_device(runs), measurements)) {
      take_size(counted->counters);
      note_virtual(why_, *counted);
    }
  }

 private:
  std::string why_;
};

/// Removes ncu's log.
class NcuLog {
 public:
  explicit NcuLog(const fs::path& folder)
      : file_(folder / ("ncu-" + std::to_string(gettid()) + ".csv")) {}
  ~NcuLog() {
    std::error_code ignored;
    fs::remove(file_, ignored);
  }
  NcuLog(const NcuLog&) = delete;
  NcuLog& operator=(const NcuLog&) = delete;
  [[nodiscard]] const fs::path& file() const { return file_; }
  [[nodiscard]] base::Result<std::string> text() const {
    std::error_code error;
    if (fs::file_size(file_, error) > kMostLogBytes && !error)
      return base::Error{base::ErrorKind::kInput, "ncu", "printed too much", "", ""};
    return base::read_file(file_);
  }

 private:
  fs::path file_;
};

constexpr std::size_t kMostCases = 4;  // of a stage, timed one after the other

class CountsWithNcu : public LaunchCounting {
 public:
  explicit CountsWithNcu(Ncu ncu) : ncu_(std::move(ncu)) {}

  void count(const CountingRuns& runs, std::vector<StageMeasurement>& measurements) const override {
    CountingRuns telling = runs;
    telling.on_virtual.environment["MEMBOUND_WORK"] = "on";
    const auto all = count_beside(telling.on_virtual, counting_device(runs), measurements);
    const auto start = Clock::now();
    std::optional<std::string> gave_up;  // what fails once is not tried for every stage
    for (StageMeasurement* counted : all) {
      const std::string size = take_size(counted->counters);
      if (!gave_up && std::chrono::duration<double>(Clock::now() - start).count() > ncu_.seconds)
        gave_up = "ncu takes long, and the stages before this one used up its time";
      if (gave_up) {
        note_virtual(*gave_up, *counted);
        continue;
      }
      gave_up = count_stage(telling, size, *counted);
    }
  }

 private:
  /// What is to be said where ncu is not worth another try.
  std::optional<std::string> count_stage(const CountingRuns& runs, const std::string& size,
                                         StageMeasurement& counted) const {
    const std::vector<const json*> launches = own_launches(counted.counters);
    if (launches.empty() || launches.size() > kMostLaunches || size.empty()) {
      note_virtual(std::to_string(launches.size()) + " launches are not for ncu to count", counted);
      return std::nullopt;
    }
    const auto log = run_ncu(runs, launches, size, counted);
    if (!log) {
      note_virtual(log.error().found, counted);
      return log.error().found;
    }
    auto table = read_ncu_table(*log);
    const auto machine =
        vgpu::timing::find_machine(course::text_or_empty(counted.counters, "machine"));
    if (!table || !machine) {
      const base::Error& error = table ? machine.error() : table.error();
      note_virtual("what ncu says is not understood (" + in_short(error) + ")", counted);
      return std::nullopt;
    }
    auto merged = with_ncu_counts(counted.counters, *table, *machine);
    if (!merged) {
      note_virtual("ncu saw something else (" + in_short(merged.error()) + ")", counted);
      return std::nullopt;
    }
    note_ncu(*table, size, counted);
    counted.counters = *std::move(merged);
    return std::nullopt;
  }

  /// Runs what was timed of a stage once under ncu; what it printed, or why that is no use.
  [[nodiscard]] base::Result<std::string> run_ncu(const CountingRuns& runs,
                                                  const std::vector<const json*>& launches,
                                                  const std::string& size,
                                                  const StageMeasurement& counted) const {
    const auto useless = [](std::string why) {
      return base::Error{base::ErrorKind::kMachine, "ncu", std::move(why), "", ""};
    };
    const NcuLog log(runs.on_gpu.scratch_folder);
    RunRequest run = runs.on_gpu;
    run.under = command(launches, log.file());
    run.environment["LC_ALL"] = "C";  // numbers without separators
    run.stages = {counted.stage};
    run.stages_at_once = 1;
    run.seconds_per_stage = ncu_.seconds_per_stage;
    run.more_arguments.clear();
    run.backend->choose_tests(
        run, {{counted.kernel, {std::string(to_string(course::BuiltInTest::kSpeed))}}},
        TimedRerun::kWhole);
    run.more_arguments.insert(run.more_arguments.end(),
                              {"--size", size, "--launch-seconds",
                               std::to_string(static_cast<int>(ncu_.seconds_per_stage))});
    run.on_tick = runs.on_virtual.on_tick;
    const auto outcome = run_stages(run);
    if (!outcome) return useless("ncu cannot be started");
    if (outcome->stopped) return useless("it was stopped");
    const auto text = log.text();
    if (!text) return useless("ncu left no table");
    if (const std::string problem = ncu_problem(*text); !problem.empty())
      return useless("ncu may not count here (" + problem + ")");
    if (!outcome->measurements.empty() &&
        outcome->measurements.front().abort == course::Cause::kTimeout)
      return useless("ncu takes longer than a check should");
    return *text;
  }

  [[nodiscard]] std::vector<std::string> command(const std::vector<const json*>& launches,
                                                 const fs::path& log) const {
    std::set<std::string> names;
    for (const json* launch : launches) names.insert(course::text_or_empty(*launch, "name"));
    std::string one_of;
    for (const std::string& name : names) {
      one_of += one_of.empty() ? "" : "|";
      for (const char c : name)
        one_of += c == '$' || c == '.' ? std::string("\\") + c : std::string(1, c);
    }
    return {ncu_.program.string(), "--csv", "--page", "raw", "--print-units", "base",
            "--print-kernel-base", "mangled", "--kernel-name-base", "mangled", "--kernel-name",
            "regex:^(" + one_of + ")$",
            // Each of a stage's timed cases, and two more that tell that something is amiss; a
            // thousand take too long.
            "--launch-count", std::to_string(kMostCases * launches.size() + 2), "--clock-control",
            "none",  // no rights needed
            "--metrics", ncu_metrics(), "--log-file", log.string()};
  }

  static void note_ncu(const std::vector<NcuLaunch>& launches, const std::string& size,
                       StageMeasurement& counted) {
    std::size_t given = 0;
    for (const auto& count : launches.front().counts) given += count.has_value();
    add_note("Counted by ncu on " + counted.device.name + " at " + size + ": " +
                 std::to_string(given) + " of " +
                 base::counted(launches.front().counts.size(), "counter") +
                 ". The others, and the lines of the source, come from the " + counted.counted_on +
                 ", and gains are those of its clock.",
             counted);
    counted.counted_on = "ncu and the " + counted.counted_on;
  }

  Ncu ncu_;
};

/// Number of the case, name of the kernel, how many of that name came before it in the case.
using KernelPlace = std::tuple<std::size_t, std::string, int>;

/// The kernels of a stage's counters, each with its place; the harness's own are left out.
template <typename Json>
std::vector<std::pair<KernelPlace, Json*>> placed_kernels(Json& counters) {
  std::vector<std::pair<KernelPlace, Json*>> all;
  if (!counters.is_object() || !counters.contains("kernels")) return all;
  std::vector<std::string> cases;
  std::map<std::pair<std::size_t, std::string>, int> seen;
  for (Json& kernel : counters["kernels"]) {
    const std::string name = kernel_name(kernel);
    if (is_harness_kernel(name)) continue;
    const std::string label = course::text_or_empty(kernel, "case");
    auto of_case = std::find(cases.begin(), cases.end(), label);
    if (of_case == cases.end()) of_case = cases.insert(of_case, label);
    const auto number = static_cast<std::size_t>(of_case - cases.begin());
    all.emplace_back(KernelPlace(number, name, seen[{number, name}]++), &kernel);
  }
  return all;
}

bool was_timed(const StageMeasurement& measurement) {
  return measurement.counters.is_object() && measurement.counters.contains("kernels");
}

bool passes(const StageMeasurement& measurement) {
  return measurement.abort == Cause::kNone &&
         std::none_of(measurement.tests.begin(), measurement.tests.end(),
                      [](const course::TestOutcome& test) { return test.failed(); });
}

/// Runs the timed cases again, as `run` says, of the stages that `takes` takes. Nothing where that
/// is none, or where they cannot be run: what only explains is left out then.
template <typename Takes>
std::vector<StageMeasurement> timed_again(RunRequest run,
                                          const std::vector<StageMeasurement>& measurements,
                                          const Takes& takes) {
  run.stages.clear();
  std::string tests;
  for (const StageMeasurement& measurement : measurements) {
    if (!takes(measurement)) continue;
    base::add_word(
        tests, measurement.kernel + "." + std::string(to_string(course::BuiltInTest::kSpeed)), ":");
    run.stages.push_back(measurement.stage);
  }
  if (run.stages.empty()) return {};
  run.more_arguments.push_back("--gtest_filter=" + tests);
  auto outcome = run_stages(run);
  if (!outcome) return {};
  return std::move(outcome->measurements);
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

void add(StageMeasurement& timed, StageMeasurement& to) {
  append(to.timings, timed.timings);
  append(to.notes, timed.notes);
  append(to.tests, timed.tests);
  to.seconds += timed.seconds;
  // Of our own programs: the stage was judged without it.
  if (timed.abort == Cause::kCrash) {
    to.notes.push_back("not timed: " + timed.abort_text);
  } else {
    to.abort = timed.abort;
    to.abort_text = timed.abort_text;
  }
}

}  // namespace

std::vector<course::StageMeasurement*> count_beside(
    const RunRequest& run, const std::string& device,
    std::vector<course::StageMeasurement>& measurements) {
  std::vector<course::StageMeasurement*> with_counters;
  const auto by_luck = [&run](const StageMeasurement& measurement) {
    return may_be_right_by_luck(*run.lab, measurement);
  };
  for (const course::StageMeasurement& counted : timed_again(run, measurements, by_luck))
    for (course::StageMeasurement& measurement : measurements)
      if (measurement.stage == counted.stage && counted.counters.is_object()) {
        measurement.counters = counted.counters;
        measurement.counted_on = device;
        with_counters.push_back(&measurement);
      }
  return with_counters;
}

Ncu find_ncu(const std::string& path, const compilers::CompilerInfo& compiler) {
  fs::path found = base::find_in_path("ncu", path);
  if (found.empty()) found = base::find_in_path("ncu", compiler.program.parent_path().string());
  return {std::move(found)};
}

std::unique_ptr<LaunchCounting> choose_counting(bool is_graded, Ncu ncu) {
  if (is_graded)
    return std::make_unique<CountsOnVirtualGpu>("what is graded runs under no profiler");
  if (ncu.program.empty())
    return std::make_unique<CountsOnVirtualGpu>(
        "a GPU's own counters are ncu's to read, which is not installed");
  return std::make_unique<CountsWithNcu>(std::move(ncu));
}

void put_traces(const json& traced, json& counters) {
  std::map<KernelPlace, const json*> traces;
  for (const auto& [place, kernel] : placed_kernels(traced))
    if (kernel->contains("accesses")) traces.emplace(place, kernel);
  for (const auto& [place, kernel] : placed_kernels(counters)) {
    const auto found = traces.find(place);
    if (found == traces.end()) continue;
    for (const char* field : {"accesses", "traced_block", "traced_warp"})
      if (found->second->contains(field)) (*kernel)[field] = (*found->second)[field];
    (*kernel)["traced_case"] = course::text_or_empty(*found->second, "case");
  }
}

void add_traces(const RunRequest& run, std::vector<StageMeasurement>& measurements) {
  RunRequest again = run;
  again.environment["MEMBOUND_TRACE"] = "on";
  again.environment["MEMBOUND_CACHES"] = "off";  // sectors and wavefronts are told without them
  for (const StageMeasurement& seen : timed_again(std::move(again), measurements, was_timed))
    for (StageMeasurement& measurement : measurements)
      if (measurement.stage == seen.stage) put_traces(seen.counters, measurement.counters);
}

void add_profiles(const CountingRuns& runs, ProfilingRuns wanted, bool is_graded, Ncu ncu,
                  std::vector<StageMeasurement>& measurements) {
  if (wanted.counters) choose_counting(is_graded, std::move(ncu))->count(runs, measurements);
  if (wanted.pictures) add_traces(runs.on_virtual, measurements);
}

base::Status time_programs(const RunRequest& run, std::vector<StageMeasurement>& measurements) {
  RunRequest timing = run;
  timing.stages.clear();
  timing.stages_at_once = 1;  // a clock's times
  for (const StageMeasurement& measurement : measurements)
    if (passes(measurement)) timing.stages.push_back(measurement.stage);
  if (timing.stages.empty()) return base::Done{};
  if (std::error_code ignored; !std::filesystem::exists(run.parts.work_clock, ignored)) {
    for (StageMeasurement& measurement : measurements)
      measurement.notes.push_back("not timed: " + run.parts.work_clock.string() + " is not built");
    return base::Done{};
  }
  timing.more_arguments = {"--clock", run.parts.work_clock.string()};
  if (!run.parts.reference.empty())
    timing.more_arguments.insert(timing.more_arguments.end(),
                                 {"--reference", run.parts.reference.string()});
  auto outcome = run_stages(timing);
  if (!outcome) return outcome.error();
  for (StageMeasurement& timed : outcome->measurements)
    for (StageMeasurement& measurement : measurements)
      if (measurement.stage == timed.stage) add(timed, measurement);
  return base::Done{};
}

}  // namespace membound::judge
