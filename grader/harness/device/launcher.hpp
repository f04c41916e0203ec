// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From a stage and its sizes to launches: asks the module's LAUNCH_SHAPE or LAUNCH_PLAN, looks the
/// kernels up, checks the limits, launches.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/device.hpp"
#include "grader/harness/device/launch_validator.hpp"
#include "grader/harness/device/submission.hpp"
#include "grader/harness/device/watchdog.hpp"

namespace membound::harness {

/// One launch, looked up and checked.
struct ReadyStep {
  const Submission::Kernel* kernel = nullptr;
  PlanShape shape{};
  cudaFuncAttributes attributes{};
};

/// All launches of a stage for certain sizes; steps with an empty grid are left out.
struct ReadyLaunch {
  std::vector<ReadyStep> steps;
  bool is_plan = false;  ///< then every kernel takes the scratch pointer as its last argument
  std::size_t scratch_bytes = 0;
  bool samples_last = false;  ///< of the last launch some blocks run: nobody reads what it writes

  /// Whether all launches but the last are of one block, which is all of them.
  [[nodiscard]] bool prepares_little() const;
};

/// Why there is no launch.
struct Refusal {
  course::Cause cause;  ///< kMissingKernel, kWrongSignature or kIllegalLaunch
  base::Error error;
};

/// The launches, or the refusal.
struct Preparation {
  ReadyLaunch launch;
  std::optional<Refusal> refusal;
  bool is_plan = false;  ///< known as soon as the launch function has answered
};

/// Launches the kernels of one module.
class Launcher {
 public:
  /// What is asked for: a stage's kernel, its instance, the lab's signature and sizes.
  struct Request {
    std::string kernel;  ///< the stage's
    std::string instance;
    std::vector<std::int64_t> sizes;
  };

  /// `size_names` are the lab's, for messages. All references must outlive the launcher.
  Launcher(const Submission& submission, const Device& device, Watchdog& watchdog,
           const Signature& signature, std::vector<std::string> size_names);

  /// Evaluates the launch function and checks its answer. `seconds` bounds the evaluation, which
  /// runs code of the module.
  [[nodiscard]] Preparation prepare(const Request& request, double seconds) const;

  /// Only looks for the kernel itself (not for those of a plan): the error of a missing kernel or
  /// one with other parameters; nothing when all is well or the stage is a plan.
  [[nodiscard]] std::optional<Refusal> check_kernel(const Request& request) const;

  /// Queues all launches on the default stream. `scratch` is null unless scratch_bytes > 0. The
  /// code is that of the first cudaLaunchKernel that failed. The last is sampled as `last` says.
  [[nodiscard]] cudaError_t launch(const ReadyLaunch& launch, KernelArguments arguments,
                                   void* scratch, std::optional<Sampling> last = {}) const;

  /// As Submission::fill_variable().
  [[nodiscard]] cudaError_t fill_variable(const std::string& name,
                                          std::span<const std::byte> bytes) const {
    return submission_.fill_variable(name, bytes);
  }

  /// Registers, shared memory, shape and occupancy of every launch.
  [[nodiscard]] std::vector<course::KernelFacts> facts(const ReadyLaunch& launch) const;

 private:
  struct Evaluation {
    PlanRecord record{};
    std::optional<Refusal> refusal;
  };
  [[nodiscard]] Evaluation evaluate(const Request& request, double seconds) const;
  [[nodiscard]] std::string sizes_text(const std::vector<std::int64_t>& sizes) const;
  [[nodiscard]] std::optional<Refusal> look_up(const Request& request, const PlanRecord& record,
                                               int step_index, ReadyStep& step) const;

  const Submission& submission_;
  const Device& device_;
  Watchdog& watchdog_;
  const Signature& signature_;
  std::vector<std::string> size_names_;
};

}  // namespace membound::harness
