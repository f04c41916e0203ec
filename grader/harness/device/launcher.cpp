// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/launcher.hpp"

#include <algorithm>
#include <cstring>

#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/launch_validator.hpp"
#include "grader/harness/device/runtime_extensions.hpp"

namespace membound::harness {
namespace {

std::string launch_function(const std::string& kernel, bool is_plan) {
  return std::string(is_plan ? "LAUNCH_PLAN(" : "LAUNCH_SHAPE(") + kernel + ")";
}

Refusal illegal(base::Error error) { return {course::Cause::kIllegalLaunch, std::move(error)}; }

Refusal no_launch_function(const std::string& kernel) {
  return illegal({base::ErrorKind::kInput, "kernel.cu",
                  "there is no LAUNCH_SHAPE(" + kernel + ", …)",
                  "LAUNCH_SHAPE or LAUNCH_PLAN for the kernel " + kernel,
                  "the skeleton has it; `membound reset` brings the skeleton back"});
}

Refusal evaluation_failed(const std::string& kernel, cudaError_t code) {
  return illegal({base::ErrorKind::kInput, "LAUNCH_SHAPE(" + kernel + ")",
                  "evaluating it failed: " + cuda_error_text(code), "an answer",
                  "it runs on the GPU in one thread: does it divide by zero or follow a pointer?"});
}

Refusal from_match(const KernelMatch& match) {
  return {match.problem == KernelProblem::kMissing ? course::Cause::kMissingKernel
                                                   : course::Cause::kWrongSignature,
          match.error};
}

dim3 to_dim3(const PlanExtent& extent) {
  return {static_cast<unsigned>(extent.x), static_cast<unsigned>(extent.y),
          static_cast<unsigned>(extent.z)};
}

bool is_empty_size(const std::vector<std::int64_t>& sizes) {
  return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
}

/// Of the kernel's blocks, as many as the device runs at the same time; 0 where it does not say,
/// because the shape breaks another limit.
std::int64_t blocks_at_once(const ReadyStep& step, const Device& device) {
  const auto& [x, y, z] = step.shape.block;
  constexpr std::int64_t kMany = 1 << 16;  // of threads: no product of such numbers overflows
  if (x < 1 || y < 1 || z < 1 || x > kMany || y > kMany || z > kMany) return 0;
  int of_sm = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &of_sm, step.kernel->function, static_cast<int>(std::min(x * y * z, kMany)),
          static_cast<std::size_t>(std::max<std::int64_t>(0, step.shape.shared_bytes))) !=
      cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return std::int64_t{of_sm} * device.plan_gpu().sm_count;
}

KernelLimits limits_of(const ReadyStep& step, const Device& device) {
  return {shown_name(step.kernel->name), static_cast<std::int64_t>(step.attributes.sharedSizeBytes),
          step.attributes.maxThreadsPerBlock, step.attributes.numRegs,
          step.shape.cooperative != 0 ? blocks_at_once(step, device) : 0};
}

cudaError_t launch_step(const ReadyStep& step, void** arguments) {
  const auto call = step.shape.cooperative != 0 ? &cudaLaunchCooperativeKernel : &cudaLaunchKernel;
  return call(step.kernel->function, to_dim3(step.shape.grid), to_dim3(step.shape.block), arguments,
              static_cast<std::size_t>(step.shape.shared_bytes), nullptr);
}

}  // namespace

bool ReadyLaunch::prepares_little() const {
  const auto is_one_block = [](const ReadyStep& step) {
    return step.shape.grid.x == 1 && step.shape.grid.y == 1 && step.shape.grid.z == 1;
  };
  return !steps.empty() && std::all_of(steps.begin(), steps.end() - 1, is_one_block);
}

Launcher::Launcher(const Submission& submission, const Device& device, Watchdog& watchdog,
                   const Signature& signature, std::vector<std::string> size_names)
    : submission_(submission),
      device_(device),
      watchdog_(watchdog),
      signature_(signature),
      size_names_(std::move(size_names)) {}

std::string Launcher::sizes_text(const std::vector<std::int64_t>& sizes) const {
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string name = i < size_names_.size() ? size_names_[i] : "size";
    text += (i == 0 ? "" : ", ") + name + " = " + std::to_string(sizes[i]);
  }
  return text;
}

Launcher::Evaluation Launcher::evaluate(const Request& request, double seconds) const {
  const void* function = submission_.find_plain(evaluation_kernel_name(request.kernel));
  const std::size_t argument_sizes[] = {sizeof(void*), sizeof(PlanGpu), sizeof(PlanSizes)};
  if (function == nullptr || !parameters_match(function, argument_sizes))
    return {{}, no_launch_function(request.kernel)};
  const DeviceBuffer d_record(sizeof(PlanRecord));
  PlanSizes sizes{};
  std::copy(request.sizes.begin(), request.sizes.end(), sizes.value);
  void* record_pointer = d_record.data();
  PlanGpu gpu = device_.plan_gpu();
  void* arguments[] = {&record_pointer, &gpu, &sizes};
  PlanRecord record{};
  record.parameter_count = -1;
  cuda_check(cudaMemcpy(d_record.data(), &record, sizeof(record), cudaMemcpyHostToDevice),
             "preparing a launch record");
  const auto watch =
      watchdog_.watch(seconds, "the evaluation of " + launch_function(request.kernel, false));
  cudaError_t code = cudaLaunchKernel(function, dim3{1}, dim3{1}, arguments, 0, nullptr);
  if (code == cudaSuccess) code = cudaDeviceSynchronize();
  if (code != cudaSuccess) return {{}, evaluation_failed(request.kernel, code)};
  cuda_check(cudaMemcpy(&record, d_record.data(), sizeof(record), cudaMemcpyDeviceToHost),
             "reading a launch record");
  // The text comes from device memory that a student's code wrote.
  for (PlanStep& step : record.steps) step.kernel[sizeof(step.kernel) - 1] = '\0';
  return {record, std::nullopt};
}

std::optional<Refusal> Launcher::look_up(const Request& request, const PlanRecord& record,
                                         int step_index, ReadyStep& step) const {
  const PlanStep& planned = record.steps[step_index];
  const bool is_plan = record.is_plan == 1;
  const std::string base_name = is_plan ? planned.kernel : request.kernel;
  std::string parameters =
      instantiate_parameters(signature_.parameters_of(request.kernel), request.instance);
  if (is_plan) parameters = with_scratch(parameters);
  Submission::Lookup lookup = submission_.find(base_name, request.instance, parameters);
  // A plan may also name kernels that do not depend on the type.
  if (lookup.kernel == nullptr && is_plan && !request.instance.empty()) {
    const Submission::Lookup plain = submission_.find(base_name, "", parameters);
    if (plain.kernel != nullptr) lookup = plain;
  }
  if (lookup.kernel == nullptr) return from_match(lookup.match);
  const auto attributes = attributes_of(*lookup.kernel);
  if (!attributes) return illegal(attributes.error());
  step = {lookup.kernel, planned.shape, *attributes};
  return std::nullopt;
}

Preparation Launcher::prepare(const Request& request, double seconds) const {
  const DeviceScope on(device_.number());
  MEMBOUND_CHECK(request.sizes.size() <= PlanSizes::kMax);
  const Evaluation evaluation = evaluate(request, seconds);
  if (evaluation.refusal) return {{}, evaluation.refusal, false};
  const PlanRecord& record = evaluation.record;
  const DeviceLimits limits = device_.limits();
  const std::string where = launch_function(request.kernel, record.is_plan == 1);
  if (auto status = check_record(record, static_cast<int>(request.sizes.size()), limits, where);
      !status)
    return {{}, illegal(status.error()), record.is_plan == 1};
  ReadyLaunch launch{{}, record.is_plan == 1, static_cast<std::size_t>(record.scratch_bytes)};
  for (int i = 0; i < record.step_count; ++i) {
    ReadyStep step;
    if (auto refusal = look_up(request, record, i, step))
      return {{}, std::move(refusal), launch.is_plan};
    const std::string step_where = launch.is_plan ? where + ", launch " + std::to_string(i + 1) +
                                                        " (" + record.steps[i].kernel + ")"
                                                  : where;
    if (auto status =
            check_shape(step.shape, limits_of(step, device_), limits, is_empty_size(request.sizes),
                        step_where, sizes_text(request.sizes));
        !status)
      return {{}, illegal(status.error()), launch.is_plan};
    if (!is_empty_grid(step.shape)) launch.steps.push_back(step);
  }
  const bool is_plan = launch.is_plan;
  return {std::move(launch), std::nullopt, is_plan};
}

std::optional<Refusal> Launcher::check_kernel(const Request& request) const {
  const Submission::Lookup lookup = submission_.find(
      request.kernel, request.instance,
      instantiate_parameters(signature_.parameters_of(request.kernel), request.instance));
  if (lookup.kernel != nullptr) return std::nullopt;
  return from_match(lookup.match);
}

cudaError_t Launcher::launch(const ReadyLaunch& launch, KernelArguments arguments, void* scratch,
                             std::optional<Sampling> last) const {
  const DeviceScope on(device_.number());
  if (launch.is_plan) arguments.add(scratch);
  std::vector<void*> addresses = arguments.addresses();
  for (const ReadyStep& step : launch.steps) {
    if (!parameters_match(step.kernel->function, arguments.sizes())) return cudaErrorInvalidValue;
    const auto shared_bytes = static_cast<std::size_t>(step.shape.shared_bytes);
    if (step.shape.shared_bytes + static_cast<std::int64_t>(step.attributes.sharedSizeBytes) >
        device_.shared_bytes_without_opt_in()) {
      const cudaError_t code =
          cudaFuncSetAttribute(step.kernel->function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes));
      if (code != cudaSuccess) return code;
    }
    const bool is_last = &step == &launch.steps.back();
    std::optional<Sampling> how = last;
    if (how && !is_last) how = Sampling{how->seed, true, !how->only};
    if (launch.samples_last && is_last) how = Sampling{1};
    const SampledLaunches sampled(device_, how);
    const cudaError_t code = launch_step(step, addresses.data());
    if (code != cudaSuccess) return code;
  }
  return cudaSuccess;
}

std::vector<course::KernelFacts> Launcher::facts(const ReadyLaunch& launch) const {
  std::vector<course::KernelFacts> all;
  for (const ReadyStep& step : launch.steps) {
    const auto threads =
        static_cast<int>(step.shape.block.x * step.shape.block.y * step.shape.block.z);
    course::KernelFacts facts;
    facts.name = shown_name(step.kernel->name);
    facts.registers = step.attributes.numRegs;
    facts.local_bytes = static_cast<std::int64_t>(step.attributes.localSizeBytes);
    facts.static_shared_bytes = static_cast<std::int64_t>(step.attributes.sharedSizeBytes);
    facts.dynamic_shared_bytes = step.shape.shared_bytes;
    facts.constant_bytes = static_cast<std::int64_t>(step.attributes.constSizeBytes);
    facts.max_threads_per_block = step.attributes.maxThreadsPerBlock;
    const auto& [grid, block] = std::tie(step.shape.grid, step.shape.block);
    facts.grid = {grid.x, grid.y, grid.z};
    facts.block = {static_cast<int>(block.x), static_cast<int>(block.y), static_cast<int>(block.z)};
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &facts.blocks_per_sm, step.kernel->function, threads,
            static_cast<std::size_t>(step.shape.shared_bytes)) == cudaSuccess) {
      const int warps = facts.blocks_per_sm * ((threads + 31) / 32);
      facts.occupancy = static_cast<double>(warps) / device_.warps_per_sm();
    } else {
      static_cast<void>(cudaGetLastError());
    }
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace membound::harness
