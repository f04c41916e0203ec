// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// main() of membound_experiment: times the points of one experiment, as kernels of labs are timed,
/// and writes a line of JSON as each point is done. Exit codes: 0, 2 for a kernel that cannot be
/// launched, 3 for the machine's faults and ours.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "grader/course/experiment.hpp"
#include "grader/harness/cases/statistics.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/launcher.hpp"

namespace {

using namespace membound;
using namespace membound::harness;

constexpr double kSecondsToEvaluate = 20, kSecondsALaunch = 120;
constexpr int kRefused = 2, kOurFault = 3;

struct Options {
  std::string root, experiment, code, kernels, result;
  std::int64_t size = 0;
};

/// Whether the arrays of every point fit. A virtual GPU's memory is the machine's.
std::optional<base::Error> room_problem(const course::Experiment& experiment, const Device& device,
                                        std::int64_t n) {
  double bytes = 0, room = static_cast<double>(device.limits().free_bytes);
  if (device.computes_on_the_host())
    room = std::min(room, static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                              static_cast<double>(sysconf(_SC_PAGESIZE)));
  for (const course::ExperimentPoint& point : experiment.points)
    bytes = std::max(bytes, 2 * experiment.array_bytes(n, point));
  if (bytes <= room) return std::nullopt;
  const auto gigabytes = [](double value) {
    return std::to_string(std::llround(value / 1e9)) + " GB";
  };
  return base::Error{base::ErrorKind::kInput, "n = " + std::to_string(n),
                     "the two arrays take " + gigabytes(bytes),
                     "at most the " + gigabytes(room) + " that there are", "a smaller --size"};
}

/// What all points share.
class Runs {
 public:
  Runs(const course::Experiment& experiment, const Device& device, const DeviceKernels& kernels,
       const Launcher& launcher, Watchdog& watchdog)
      : experiment_(experiment),
        device_(device),
        kernels_(kernels),
        launcher_(launcher),
        watchdog_(watchdog) {}

  /// Nanoseconds of a launch: the median of several, where times differ.
  base::Result<double> time(const course::ExperimentPoint& point, std::int64_t n) {
    const Preparation prepared =
        launcher_.prepare({experiment_.kernel, "<" + std::to_string(point.x) + ">", {n, point.x}},
                          kSecondsToEvaluate);
    if (prepared.refusal) return of_experiment(prepared.refusal->error);
    const TimedBuffer form{
        .type = ElementType::kFloat,
        .count = static_cast<std::size_t>(experiment_.array_bytes(n, point)) / sizeof(float)};
    const DeviceBuffer in(form.size_bytes()), out(form.size_bytes());
    kernels_.fill_when_touched(form, in.data(), 1);
    kernels_.prepare_when_touched(form, out.data());
    const TimingRules& rules = device_.timing_rules();
    std::vector<double> times;
    for (int i = 0; i < rules.ceiling_warm_up + rules.ceiling_samples; ++i) {
      const auto watch = watchdog_.watch(kSecondsALaunch, "one launch of " + experiment_.kernel);
      kernels_.settle();
      timer_.start();
      cuda_check(launcher_.launch(
                     prepared.launch,
                     kernel_arguments(static_cast<float*>(out.data()),
                                      static_cast<const float*>(in.data()), static_cast<int>(n)),
                     nullptr),
                 "launching");
      timer_.stop();
      cuda_check(timer_.wait(), experiment_.kernel.c_str());
      if (i >= rules.ceiling_warm_up) times.push_back(timer_.nanoseconds());
    }
    return median(times);
  }

 private:
  /// The launcher speaks of a lab's kernel.cu, which `membound reset` can bring back; an
  /// experiment's file has no skeleton.
  [[nodiscard]] base::Error of_experiment(base::Error error) const {
    if (error.where != course::kKernelFile) return error;
    const auto handout = experiment_.file.parent_path();
    error.where = experiment_.file.lexically_relative(handout.parent_path().parent_path()).string();
    error.advice =
        "the file as the course has it, or its row in experiments.json beside it, which "
        "names the kernel";
    return error;
  }

  const course::Experiment& experiment_;
  const Device& device_;
  const DeviceKernels& kernels_;
  const Launcher& launcher_;
  Watchdog& watchdog_;
  EventTimer timer_;
};

/// A line about the device, then one a point: who started us reads them while we work.
base::Status run_all(const Options& options) {
  const auto all = course::read_experiments(options.root);
  if (!all) return all.error();
  const auto experiment = course::find_experiment(*all, options.experiment);
  if (!experiment) return experiment.error();
  const auto device = Device::open(0);
  if (!device) return device.error();
  const auto kernels = (*device)->load_kernels(options.kernels);
  if (!kernels) return kernels.error();
  const auto module = Submission::load(options.code);
  if (!module) return module.error();
  // The thread that waits in CUDA cannot go on; the one who started us says what it was told.
  Watchdog watchdog([](const std::string& what, double seconds) {
    std::fprintf(stderr, "%s takes longer than %.0f s\n  try: a smaller --size\n", what.c_str(),
                 seconds);
    _exit(kRefused);
  });
  const bool is_virtual = (*device)->computes_on_the_host();
  const std::int64_t n = options.size > 0 ? options.size
                         : is_virtual     ? experiment->vgpu_size
                                          : experiment->gpu_size;
  if (auto problem = room_problem(*experiment, **device, n)) return *std::move(problem);
  const Signature signature{{""}, "(float*, float const*, int)"};
  const Launcher launcher(*module, **device, watchdog, signature, {"n", "x"});
  Runs runs(*experiment, **device, **kernels, launcher, watchdog);
  std::ofstream result(options.result);
  result << nlohmann::json{{"device", (*device)->info().name},
                           {"predicted", is_virtual},
                           {"size", n}}
         << std::endl;
  for (const course::ExperimentPoint& point : experiment->points) {
    const auto time_ns = runs.time(point, n);
    if (!time_ns) return time_ns.error();
    result << nlohmann::json(*time_ns) << std::endl;
  }
  if (result) return base::Done{};
  return base::Error{base::ErrorKind::kMachine, options.result, "cannot be written", "room for it",
                     ""};
}

int fail(const base::Error& error) {
  std::fprintf(stderr, "%s\n", base::to_string(error).c_str());
  return base::exit_code_of(error.kind) == kRefused ? kRefused : kOurFault;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("times the points of one experiment");
  app.add_option("--root", options.root)->required();
  app.add_option("--experiment", options.experiment)->required();
  app.add_option("--size", options.size);
  app.add_option("--code", options.code)->required();
  app.add_option("--harness-kernels", options.kernels)->required();
  app.add_option("--result", options.result)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    const auto done = run_all(options);
    return done ? 0 : fail(done.error());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kOurFault;
  }
}
