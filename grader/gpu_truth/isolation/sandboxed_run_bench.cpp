// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What judging in three processes costs: a lab's reference answer run in one process and in three,
/// in turn, and the time of single calls to a runner. grader/gpu_truth/records/grading_strangers.md
/// shows the results.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <thread>

#include <CLI/CLI.hpp>

#include "grader/base/process.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/stage_runs.hpp"
#include "grader/sandbox/runner/client.hpp"

namespace {

using namespace membound;
namespace fs = std::filesystem;

struct Arguments {
  fs::path build, lab_json, reference, harness, runtime, runner, forward, program;
  std::string device = "gpu";
  int rounds = 3;
  bool scrub = false, three_only = false;
  std::vector<int> stages;
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::map<std::string, std::string> device_environment(const Arguments& arguments) {
  std::map<std::string, std::string> environment;
  if (arguments.device != "gpu") environment["MEMBOUND_DEVICE"] = arguments.device;
  return environment;
}

void time_calls(const Arguments& arguments) {
  auto pair = runner::make_socket_pair();
  if (!pair) return;
  std::vector<std::string> words = {arguments.runner.string(), "--socket",
                                    std::to_string(pair->second.get())};
  if (arguments.scrub) words.emplace_back("--scrub");
  auto environment = device_environment(arguments);
  environment["LD_LIBRARY_PATH"] = arguments.runtime.string();
  std::thread runner([&, socket = std::move(pair->second)] {
    const auto outcome = base::run_process(
        {.arguments = words, .environment = environment, .descriptors = {socket.get()}});
    if (outcome) std::printf("%s", outcome->output.c_str());
  });
  base::Result<std::unique_ptr<runner::Connection>> opened =
      base::Error{base::ErrorKind::kInternal, "", "", "", ""};
  std::printf("start of a runner: %.3f s\n",
              seconds_of([&] { opened = runner::Connection::open(std::move(pair->first)); }));
  if (!opened) {
    std::printf("%s\n", base::to_string(opened.error()).c_str());
    runner.join();
    return;
  }
  runner::Connection& connection = **opened;
  std::printf("device: %s%s, pageable memory access: %d\n",
              reinterpret_cast<const char*>(connection.device().properties.data()),
              connection.device().virtual_name.empty() ? "" : " (virtual)",
              connection.device().pageable_access);
  constexpr int kCalls = 5000;
  runner::EventAnswer event;
  static_cast<void>(connection.call(runner::CreateEvent{}, &event));
  const auto per_call = [&](const char* what, const std::function<void()>& call) {
    call();
    std::vector<double> times;
    for (int i = 0; i < kCalls; ++i) times.push_back(seconds_of(call));
    std::printf("%-34s %8.2f us (median of %d)\n", what, median(times) * 1e6, kCalls);
  };
  per_call("a wait for an idle device",
           [&] { static_cast<void>(connection.call(runner::Synchronize{})); });
  per_call("an event recorded",
           [&] { static_cast<void>(connection.call(runner::RecordEvent{event.event})); });
  per_call("a batch of 8 events", [&] {
    connection.begin_batch();
    for (int i = 0; i < 8; ++i)
      static_cast<void>(connection.call(runner::RecordEvent{event.event}));
    static_cast<void>(connection.end_batch());
  });
  constexpr std::uint64_t kBytes = std::uint64_t{256} << 20;
  runner::AddressAnswer memory;
  static_cast<void>(connection.call(runner::Allocate{kBytes}, &memory));
  std::vector<std::byte> host(kBytes);
  std::vector<double> up, down;
  for (int i = 0; i < 5; ++i) {
    up.push_back(seconds_of(
        [&] { static_cast<void>(connection.upload(memory.address, host.data(), kBytes)); }));
    down.push_back(seconds_of(
        [&] { static_cast<void>(connection.download(host.data(), memory.address, kBytes)); }));
  }
  std::printf("256 MiB to the runner's device %8.2f GB/s, back %.2f GB/s (median of 5)\n",
              static_cast<double>(kBytes) / median(up) / 1e9,
              static_cast<double>(kBytes) / median(down) / 1e9);
  *opened = nullptr;
  runner.join();
}

void print_ratios(const char* how, const judge::RunOutcome& outcome) {
  for (const course::StageMeasurement& stage : outcome.measurements) {
    std::printf("  %s stage %d %s:", how, stage.stage, std::string(to_string(stage.abort)).c_str());
    for (const course::Timing& timing : stage.timings)
      std::printf(
          " %s %.4f [%.4f, %.4f] student %.1f us reference %.1f us outside %.1f +- %.1f us%s%s;",
          timing.label.c_str(), timing.ratio, timing.ratio_low, timing.ratio_high,
          timing.student_median_ns / 1e3, timing.reference_median_ns / 1e3, timing.outside_ns / 1e3,
          timing.outside_tolerance_ns / 1e3, timing.suspicious ? " SUSPICIOUS " : "",
          timing.suspicion.c_str());
    for (const course::TestOutcome& test : stage.tests)
      if (test.failed()) std::printf(" FAILED %s: %s", test.name.c_str(), test.message.c_str());
    std::printf(" %.2f s\n", stage.seconds);
  }
  if (outcome.measurements.empty()) std::printf("%s\n", outcome.last_output.c_str());
}

/// The reference's ratio to itself, over all rounds: of each case, and how often a stage failed.
class Spread {
 public:
  void add(const judge::RunOutcome& outcome) {
    for (const course::StageMeasurement& stage : outcome.measurements) {
      for (const course::Timing& timing : stage.timings)
        ratios_["stage " + std::to_string(stage.stage) + ", " + timing.label].push_back(
            timing.ratio);
      ++stages_;
      const bool failed = std::any_of(stage.tests.begin(), stage.tests.end(),
                                      [](const auto& test) { return test.failed(); });
      if (failed || stage.abort != course::Cause::kNone) ++failed_;
    }
  }

  void print() {
    for (auto& [label, ratios] : ratios_) {
      std::sort(ratios.begin(), ratios.end());
      const auto at = [&](double share) {
        return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))];
      };
      std::printf("%s: %zu ratios, least %.4f, p5 %.4f, median %.4f, p95 %.4f, most %.4f\n",
                  label.c_str(), ratios.size(), at(0), at(0.05), at(0.5), at(0.95), at(1));
    }
    std::printf("%zu of %zu stages failed\n", failed_, stages_);
  }

 private:
  std::map<std::string, std::vector<double>> ratios_;
  std::size_t stages_ = 0, failed_ = 0;
};

void compare(const Arguments& arguments) {
  const auto lab = course::read_lab(arguments.lab_json);
  if (!lab) {
    std::printf("%s\n", base::to_string(lab.error()).c_str());
    return;
  }
  judge::RunRequest request;
  request.program = arguments.program;
  request.lab_json = arguments.lab_json;
  request.submission = arguments.reference;
  request.parts = {.reference = arguments.reference, .harness_kernels = arguments.harness};
  request.lab = &*lab;
  request.stages = arguments.stages;
  if (request.stages.empty())
    for (const course::Stage& stage : lab->stages) request.stages.push_back(stage.number);
  request.scratch_folder = fs::temp_directory_path() / "membound-sandboxed-run-bench";
  request.environment = device_environment(arguments);
  judge::RunRequest graded = request;
  request.environment["LD_LIBRARY_PATH"] = arguments.runtime.string();
  graded.sandbox.emplace();
  graded.sandbox->runner = arguments.runner;
  graded.sandbox->forward_folder = arguments.forward;
  graded.sandbox->runtime_folders = {arguments.runtime};
  graded.sandbox->runner_environment = device_environment(arguments);
  graded.sandbox->limits.wall_seconds = 600;
  graded.sandbox->use_jail = false;
  graded.sandbox->scrub = arguments.scrub;
  std::vector<double> ratios;
  Spread spread;
  for (int round = 0; round < arguments.rounds; ++round) {
    graded.sandbox->seed_key = *judge::fresh_seed_key();
    base::Result<judge::RunOutcome> one = judge::RunOutcome{}, three = judge::RunOutcome{};
    const double one_s = seconds_of([&] {
      if (!arguments.three_only) one = judge::run_stages(request);
    });
    const double three_s = seconds_of([&] { three = judge::run_stages(graded); });
    ratios.push_back(three_s / one_s);
    if (arguments.three_only)
      std::printf("round %d: three processes %.2f s\n", round, three_s);
    else
      std::printf("round %d: one process %.2f s, three processes %.2f s, ratio %.3f\n", round,
                  one_s, three_s, three_s / one_s);
    // Each round's, since another pair of processes has other pages.
    if (three) print_ratios("three processes", *three);
    if (three) spread.add(*three);
    if (one && round == 0 && !arguments.three_only) print_ratios("one process   ", *one);
    if (!three) std::printf("%s\n", base::to_string(three.error()).c_str());
  }
  if (!ratios.empty() && !arguments.three_only)
    std::printf("median ratio of seconds %.3f\n", median(ratios));
  spread.print();
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"What judging in three processes costs."};
  app.add_option("--program", arguments.program, "the lab's test program")->required();
  app.add_option("--lab", arguments.lab_json, "its lab.json")->required();
  app.add_option("--reference", arguments.reference, "the compiled reference answer")->required();
  app.add_option("--harness-kernels", arguments.harness, "harness.fatbin")->required();
  app.add_option("--runner", arguments.runner, "membound_runner")->required();
  app.add_option("--forward", arguments.forward, "folder of the forwarding runtime")->required();
  app.add_option("--runtime", arguments.runtime, "folder of the runtime to run on")->required();
  app.add_option("--device", arguments.device, "gpu, or vgpu:h200");
  app.add_option("--rounds", arguments.rounds, "how often both are run");
  app.add_option("--stages", arguments.stages, "these only")->delimiter(',');
  app.add_flag("--three-only", arguments.three_only, "never one process");
  app.add_flag("--scrub", arguments.scrub, "runners overwrite the GPU's free memory");
  CLI11_PARSE(app, argc, argv);
  time_calls(arguments);
  compare(arguments);
  return 0;
}
