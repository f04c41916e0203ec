// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/device_health.hpp"

#include <chrono>
#include <thread>

#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"

namespace membound::queue {
namespace {

constexpr std::size_t kOutputLimit = 4096;

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return base::printable(text);
}

/// Which of several it is.
std::string named(const judge::Device& device) {
  return device.name +
         (device.gpu_number < 0 ? "" : " (/dev/nvidia" + std::to_string(device.gpu_number) + ")");
}

}  // namespace

base::Status probe_device(const Settings& settings, const judge::Device& device,
                          const ProbeTries& probe) {
  std::string last;
  for (int i = 0; i < probe.tries; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::duration<double>(probe.seconds_between));
    const auto run = base::run_process(
        {.arguments = {(settings.place.build / "libexec" / "membound_runner").string(), "--probe",
                       judge::harness_kernels(settings.place).string()},
         .environment = device.environment,
         .timeout_seconds = probe.seconds_per_try,
         .output_limit_bytes = kOutputLimit});
    if (!run) return run.error();
    if (!run->timed_out && run->exit_code == 0) return base::Done{};
    last = run->timed_out
               ? "no answer in " + std::to_string(static_cast<int>(probe.seconds_per_try)) + " s"
               : trimmed(run->output);
  }
  return base::Error{base::ErrorKind::kMachine, named(device),
                     "does not work any more since the last submission: " + last,
                     "a device that runs one small kernel; nobody else is judged on it as it is",
                     "look at nvidia-smi and the machine's log; then membound grade --resume"};
}

}  // namespace membound::queue
