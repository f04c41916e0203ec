// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/stage_runs.hpp"

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/judge/check_device.hpp"

namespace membound::judge {

namespace {

namespace fs = std::filesystem;
using course::Cause;
using Clock = std::chrono::steady_clock;

/// The abort that a limit stands for which only the submission can have reached; kNone for one that
/// the machine may have set: what its runner is refused may also be what its driver asks for.
Cause abort_of(jail::LimitHit limit) {
  switch (limit) {
    case jail::LimitHit::kMemory:
      return Cause::kMemory;
    case jail::LimitHit::kWall:
    case jail::LimitHit::kCpu:
      return Cause::kTimeout;
    case jail::LimitHit::kOutput:
      return Cause::kOutput;
    default:
      return Cause::kNone;
  }
}

std::string limit_text(jail::LimitHit limit) {
  return "the submission's runner was ended at its limit of " + std::string(jail::to_string(limit));
}

/// Why a test program ended without telling of a stage: by its own end, or by a limit that the
/// submission's runner reached.
struct Loss {
  Cause abort;
  std::string text;
};
Loss loss_of(const base::ProcessOutcome& process, jail::LimitHit limit, double backstop_seconds) {
  Loss loss{Cause::kCrash, ""};
  if (const Cause abort = abort_of(limit); abort != Cause::kNone) {
    loss.abort = abort;
    loss.text = limit_text(limit);
  } else if (process.exit_code == course::test_exit::kNotLoadable) {
    loss.abort = Cause::kFault;
    loss.text = "kernel.cu compiled, but the device does not load what came of it";
  } else if (process.timed_out) {
    loss.abort = Cause::kTimeout;
    loss.text = "nothing was reported for " + std::to_string(static_cast<int>(backstop_seconds)) +
                " seconds";
  } else if (process.signal != 0) {
    loss.text = "the test program was ended by a signal: " + base::signal_text(process.signal);
  } else if (process.exit_code == course::test_exit::kAllPassed ||
             process.exit_code == course::test_exit::kSomeFailed) {
    loss.text = "the test program ended without a result for this stage";
  } else {
    loss.text = "the test program ended with exit code " + std::to_string(process.exit_code);
  }
  return loss;
}

/// Removes the file when the run is over.
class ResultFile {
 public:
  explicit ResultFile(std::filesystem::path path);
  ~ResultFile() { remove(); }
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void remove() const;
  /// How many stages have been reported so far. Asked all the time: it is read where it has grown.
  [[nodiscard]] std::size_t lines();

 private:
  std::filesystem::path path_;
  std::uintmax_t counted_bytes_ = 0;  ///< the size of the file that has
  std::size_t lines_ = 0;             ///< so many lines
};

ResultFile::ResultFile(std::filesystem::path path) : path_(std::move(path)) { remove(); }

void ResultFile::remove() const {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::size_t ResultFile::lines() {
  std::error_code error;
  std::uintmax_t bytes = std::filesystem::file_size(path_, error);
  if (error) bytes = 0;
  if (bytes != counted_bytes_) {
    const auto text = base::read_file(path_);
    counted_bytes_ = text ? text->size() : 0;
    lines_ = text ? static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
  }
  return lines_;
}

constexpr std::size_t kOutputLimit = 1 << 20;
constexpr std::size_t kOutputShown = 4000;
/// With less of a budget left nothing can be found out.
constexpr double kLeastDeviceSeconds = 0.5;

std::string numbers(const std::vector<int>& stages) {
  std::string text;
  for (const int stage : stages) base::add_word(text, std::to_string(stage), ",");
  return text;
}

std::string last_part(const std::string& text) {
  if (text.size() <= kOutputShown) return text;
  const auto start = text.find('\n', text.size() - kOutputShown);
  return "[…]" + text.substr(start == std::string::npos ? text.size() - kOutputShown : start);
}

/// A runner whose judge leaves while it works ends itself by SIGKILL.
bool ended_by_itself_and_badly(const jail::JailOutcome& end) {
  if (end.limit != jail::LimitHit::kNone || end.stopped) return false;
  return end.signal != 0 ? end.signal != SIGKILL : end.exit_code != 0;
}

/// One start of the program after the other until every stage has a measurement.
class ProgramStarts {
 public:
  explicit ProgramStarts(const RunRequest& request)
      : request_(request),
        file_(request.scratch_folder /
              ("run-" + request.lab->id + "-" + std::to_string(gettid()) + ".jsonl")),
        left_(request.stages) {
    if (request_.sandbox && request_.sandbox->device_seconds > 0)
      device_seconds_left_ = request_.sandbox->device_seconds;
  }

  base::Result<RunOutcome> run() {
    while (!left_.empty() && !outcome_.stopped) {
      if (device_seconds_left_ && *device_seconds_left_ < kLeastDeviceSeconds) {
        out_of_device_time();
        break;
      }
      const auto status = start_once();
      if (!status) return status.error();
    }
    sort();
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] std::vector<std::string> command() const {
    std::vector<std::string> all = request_.under;
    all.insert(all.end(),
               {request_.program.string(), "--lab", request_.lab_json.string(), "--submission",
                request_.submission.string(), "--stages", numbers(asked_), "--result",
                file_.path().string(), "--seed", std::to_string(request_.seed)});
    if (request_.sandbox) all.insert(all.end(), {"--seed-key", request_.sandbox->seed_key});
    if (!request_.oracle.empty()) all.insert(all.end(), {"--oracle", request_.oracle.string()});
    const auto of_backend = request_.backend->arguments(request_);
    all.insert(all.end(), of_backend.begin(), of_backend.end());
    return all;
  }

  /// What is left is not tried: the device is others' from here on.
  void out_of_device_time() {
    for (const int stage : left_) {
      course::StageMeasurement measurement = empty_measurement(stage);
      measurement.abort = Cause::kTimeout;
      measurement.abort_text = "not run: the stages before it used up the submission's " +
                               std::to_string(static_cast<int>(request_.sandbox->device_seconds)) +
                               " s of device time";
      outcome_.measurements.push_back(std::move(measurement));
    }
    left_.clear();
  }

  base::Status start_once() {
    file_.remove();
    asked_ = one_at_a_time_ ? std::vector<int>{left_.front()} : left_;
    if (device_seconds_left_)
      request_.sandbox->limits.cpu_seconds =
          std::min(request_.sandbox->limits.cpu_seconds, *device_seconds_left_);
    std::unique_ptr<RunnerPair> runners;
    std::map<std::string, std::string> environment = request_.environment;
    if (request_.sandbox) {
      auto started = request_.backend->start_runners(request_);
      if (!started) return started.error();
      runners = *std::move(started);
      if (runners) {
        environment = runners->environment();
        // Whether checkers look on in the submission's runner: the program collects what they find.
        if (const auto checks = request_.environment.find("MEMBOUND_CHECK");
            checks != request_.environment.end())
          environment.insert(*checks);
      }
    }
    if (!request_.preload.empty()) environment["LD_PRELOAD"] = request_.preload.string();
    ++outcome_.starts;
    std::size_t done = 0;
    Clock::time_point since = Clock::now();
    const auto keep_going = [&] {
      if (const std::size_t lines = file_.lines(); lines > done) {
        done = lines;
        since = Clock::now();
      }
      const int stage = asked_[std::min(done, asked_.size() - 1)];
      if (request_.on_tick) request_.on_tick(stage);
      const std::chrono::duration<double> waited = Clock::now() - since;
      return waited.count() < backstop_seconds(stage);
    };
    const auto process =
        base::run_process({.arguments = command(),
                           .environment = environment,
                           .output_limit_bytes = kOutputLimit,
                           .stop = request_.stop,
                           .keep_going = keep_going,
                           .descriptors = runners ? runners->descriptors() : std::vector<int>{}});
    if (!process) return process.error();
    outcome_.last_output = last_part(process->output);
    const std::size_t before = left_.size();
    const auto collected = collect();
    if (!collected) return collected.error();
    jail::LimitHit limit = jail::LimitHit::kNone;
    bool crashed = false;
    if (runners) {
      const auto end = runners->finish();
      if (!end) return end.error();
      limit = end->limit;
      crashed = ended_by_itself_and_badly(*end);
      if (device_seconds_left_) *device_seconds_left_ -= end->cpu_seconds;
      outcome_.last_output += runners->story();
    }
    outcome_.stopped = process->stopped;
    if (process->stopped) return base::Done{};
    if (left_.size() < before) blame_limit(limit);
    explain_missing(*process, before, limit);
    if (crashed) doubt_what_it_said();
    return base::Done{};
  }

  /// What had broken the runner may have broken it long before, and made up whatever it said since:
  /// each stage that came to its end is run once more in a runner of its own, where that may not
  /// happen.
  void doubt_what_it_said() {
    auto& all = outcome_.measurements;
    for (course::StageMeasurement& measurement : all) {
      const bool is_of_this_start =
          std::find(asked_.begin(), asked_.end(), measurement.stage) != asked_.end();
      if (!is_of_this_start || measurement.abort != Cause::kNone) continue;
      if (asked_.size() > 1) {
        left_.push_back(measurement.stage);
        continue;
      }
      measurement = empty_measurement(measurement.stage);
      measurement.abort = Cause::kFault;
      measurement.abort_text = "the submission's runner crashed, so that nothing it said counts";
    }
    std::erase_if(all, [&](const course::StageMeasurement& measurement) {
      return is_left(measurement.stage);
    });
    one_at_a_time_ = true;
  }

  /// A limit of the jail says more than what the test program saw of it: a connection that ended.
  void blame_limit(jail::LimitHit limit) {
    course::StageMeasurement& last = outcome_.measurements.back();
    if (limit == jail::LimitHit::kNone || last.abort == Cause::kNone) return;
    if (const Cause abort = abort_of(limit); abort != Cause::kNone) last.abort = abort;
    last.abort_text = limit_text(limit) + "; " + last.abort_text;
    // The test that the program made up for the loss tells less than the limit does.
    if (!last.tests.empty() && last.abort != Cause::kCrash) {
      last.tests.back().message = last.abort_text;
      last.tests.back().hint_tag = std::string(to_string(last.abort));
    }
  }

  [[nodiscard]] double backstop_seconds(int stage) const {
    const course::Stage* const entry = request_.lab->stage(stage);
    return request_.seconds_per_stage + (entry == nullptr ? 0 : entry->timeout_seconds);
  }

  /// Takes over what the program reported.
  base::Status collect() {
    const auto text = base::read_file(file_.path());
    if (!text) return base::Done{};  // it wrote nothing
    auto lines = course::measurements_from_text(*text, request_.program.string());
    if (!lines) return lines.error();
    for (course::StageMeasurement& measurement : *lines) {
      const auto place = std::find(left_.begin(), left_.end(), measurement.stage);
      if (place == left_.end()) continue;
      left_.erase(place);
      outcome_.measurements.push_back(std::move(measurement));
    }
    return base::Done{};
  }

  /// Gives a measurement to stages that the program owes one.
  void explain_missing(const base::ProcessOutcome& process, std::size_t before,
                       jail::LimitHit limit) {
    std::vector<int> lost;
    for (const int stage : asked_)
      if (is_left(stage)) lost.push_back(stage);
    if (lost.empty()) return;
    const bool said_why = process.exit_code == course::test_exit::kTimeout ||
                          process.exit_code == course::test_exit::kFault;
    if (said_why && left_.size() < before)
      return;  // it reported the culprit: go on with the others
    const bool all_alike =
        process.exit_code >= 0 && !said_why && !process.timed_out;  // another start ends no better
    if (!all_alike) lost.resize(1);
    for (const int stage : lost) {
      outcome_.measurements.push_back(crash_of(stage, process, limit));
      std::erase(left_, stage);
    }
  }

  [[nodiscard]] bool is_left(int stage) const {
    return std::find(left_.begin(), left_.end(), stage) != left_.end();
  }

  [[nodiscard]] course::StageMeasurement empty_measurement(int stage) const {
    course::StageMeasurement measurement;
    measurement.lab = request_.lab->id;
    measurement.stage = stage;
    measurement.kernel = request_.lab->stage(stage)->kernel;
    measurement.seed = request_.seed;
    return measurement;
  }

  [[nodiscard]] course::StageMeasurement crash_of(int stage, const base::ProcessOutcome& process,
                                                  jail::LimitHit limit) const {
    course::StageMeasurement measurement = empty_measurement(stage);
    Loss loss = loss_of(process, limit, backstop_seconds(stage));
    if (!outcome_.last_output.empty()) loss.text += "\n" + outcome_.last_output;
    measurement.abort = loss.abort;
    measurement.abort_text = std::move(loss.text);
    return measurement;
  }

  void sort() {
    const auto position = [&](const course::StageMeasurement& measurement) {
      return std::find(request_.stages.begin(), request_.stages.end(), measurement.stage);
    };
    std::sort(outcome_.measurements.begin(), outcome_.measurements.end(),
              [&](const auto& a, const auto& b) { return position(a) < position(b); });
  }

  RunRequest request_;
  std::optional<double> device_seconds_left_;  // nothing: no budget
  ResultFile file_;
  std::vector<int> left_;
  std::vector<int> asked_;      // by the current start
  bool one_at_a_time_ = false;  // a stage a start
  RunOutcome outcome_;
};

/// Takes one stage after the other with several threads. Their outcomes, as if one had done it all.
base::Result<RunOutcome> run_side_by_side(const RunRequest& request) {
  std::vector<std::optional<base::Result<RunOutcome>>> parts(request.stages.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < parts.size(); i = next++) {
      RunRequest part = request;
      part.stages = {request.stages[i]};
      parts[i] = ProgramStarts(part).run();
      if (!*parts[i] || (*parts[i])->stopped) next = parts.size();
    }
  };
  {
    std::vector<std::jthread> threads;
    const auto most = static_cast<std::size_t>(request.stages_at_once);
    for (std::size_t i = 0; i < std::min(most, parts.size()); ++i) threads.emplace_back(work);
  }
  RunOutcome whole;
  for (auto& part : parts) {
    if (!part) continue;
    if (!*part) return part->error();
    RunOutcome& one = **part;
    whole.stopped = whole.stopped || one.stopped;
    whole.starts += one.starts;
    if (!one.last_output.empty()) whole.last_output = std::move(one.last_output);
    for (course::StageMeasurement& measurement : one.measurements)
      whole.measurements.push_back(std::move(measurement));
  }
  return whole;
}

/// The test program loads the submission's device code and launches it beside the reference.
class KernelBackend : public StageBackend {
 public:
  [[nodiscard]] BackendParts parts(const Workplace& place,
                                   const std::filesystem::path& reference) const override {
    return {.reference = reference, .harness_kernels = harness_kernels(place)};
  }

  [[nodiscard]] std::vector<std::filesystem::path> needed(
      const BackendParts& parts) const override {
    return {parts.reference, parts.harness_kernels};
  }

  [[nodiscard]] std::vector<std::string> arguments(const RunRequest& request) const override {
    std::vector<std::string> all = {"--reference", request.parts.reference.string(),
                                    "--harness-kernels", request.parts.harness_kernels.string()};
    if (request.sandbox) {
      const int device = RunnerPair::student_device(*request.sandbox);
      all.insert(all.end(), {"--student-device", std::to_string(device)});
      if (const auto seed = request.sandbox->sample_seed)
        all.insert(all.end(), {"--sample-seed", std::to_string(*seed)});
      if (!request.sandbox->reference_times.empty())
        all.insert(all.end(), {"--reference-times", request.sandbox->reference_times.string()});
    }
    all.insert(all.end(), request.more_arguments.begin(), request.more_arguments.end());
    return all;
  }

  void choose_tests(RunRequest& rerun, const std::vector<ChosenTests>& of_stages,
                    TimedRerun timed) const override {
    // Without the timed launch its size is dropped, and the times of the reference, which are of
    // it.
    const bool none = timed == TimedRerun::kNone;
    if (none) rerun.more_arguments.clear();
    if (none && rerun.sandbox) rerun.sandbox->reference_times.clear();
    rerun.more_arguments.emplace_back(none ? "--quick" : "--look");
    if (timed == TimedRerun::kSomeBlocks) rerun.more_arguments.emplace_back("--some-blocks");
    std::string filter;
    for (const ChosenTests& stage : of_stages)
      for (const std::string& test : stage.names)
        filter += (filter.empty() ? "--gtest_filter=" : ":") + stage.kernel + "." + test;
    if (!filter.empty()) rerun.more_arguments.push_back(std::move(filter));
  }

  [[nodiscard]] bool checks_at_once() const override { return false; }

  [[nodiscard]] base::Result<std::unique_ptr<RunnerPair>> start_runners(
      const RunRequest& request) const override {
    return RunnerPair::start(*request.sandbox, request.stop);
  }
};

/// The test program starts the submission, a whole program, and the runner that holds its device.
class ProgramBackend : public StageBackend {
 public:
  [[nodiscard]] BackendParts parts(const Workplace& place,
                                   const std::filesystem::path& reference) const override {
    return {.reference = reference,
            .runner = place.build / "libexec" / "membound_runner",
            .forward_folder = place.build / "forward",
            .work_clock = place.build / "libexec" / "libmembound_work_clock.so"};
  }

  [[nodiscard]] std::vector<std::filesystem::path> needed(
      const BackendParts& parts) const override {
    return {parts.runner, parts.forward_folder / "libcudart.so.13"};
  }

  [[nodiscard]] std::vector<std::string> arguments(const RunRequest& request) const override {
    std::vector<std::string> all = {"--runner", request.parts.runner.string(), "--forward",
                                    request.parts.forward_folder.string()};
    if (request.sandbox && request.sandbox->use_jail) all.emplace_back("--jailed");
    all.insert(all.end(), request.more_arguments.begin(), request.more_arguments.end());
    if (request.checked_with.empty()) return all;
    all.emplace_back("--checked-with");
    for (const auto& [name, value] : request.checked_with) all.push_back(name + "=" + value);
    return all;
  }

  void choose_tests(RunRequest& rerun, const std::vector<ChosenTests>& of_stages,
                    TimedRerun /*timed*/) const override {
    std::string names;
    for (const ChosenTests& stage : of_stages)
      for (const std::string& test : stage.names) base::add_word(names, test, ",");
    if (!names.empty()) rerun.more_arguments = {"--tests", names};
  }

  /// Checkers change neither calls nor when they began and ended: one run does for both.
  [[nodiscard]] bool checks_at_once() const override { return true; }

  [[nodiscard]] base::Result<std::unique_ptr<RunnerPair>> start_runners(
      const RunRequest& /*request*/) const override {
    return std::unique_ptr<RunnerPair>();
  }
};

}  // namespace

const StageBackend& kernel_backend() {
  static const KernelBackend backend;
  return backend;
}

const StageBackend& program_backend() {
  static const ProgramBackend backend;
  return backend;
}

const StageBackend& backend_of(const course::StageKind& kind) {
  return &kind == &course::kProgramStage ? program_backend() : kernel_backend();
}

Device device_of(const course::StageKind& kind, const Device& device, const Workplace& place) {
  if (!kind.needs_timeline || device.kind->tells_timeline()) return device;
  return virtual_gpu(kDefaultModel, place.build);
}

base::Result<RunOutcome> run_stages(const RunRequest& request) {
  std::error_code error;
  fs::create_directories(request.scratch_folder, error);
  if (error) {
    return base::Error{base::ErrorKind::kMachine, request.scratch_folder.string(),
                       "cannot be made: " + error.message(), "a folder to write results to",
                       "check the rights of the course's folder and that the disk is not full"};
  }
  if (request.stages_at_once > 1 && request.stages.size() > 1) return run_side_by_side(request);
  return ProgramStarts(request).run();
}

}  // namespace membound::judge
