// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/kernel_launch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "grader/base/strings.hpp"
#include "grader/vgpu/program/kept_variables.hpp"
#include "grader/vgpu/program/machine_accesses.hpp"
#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"
#include "grader/vgpu/timing/occupancy.hpp"
#include "grader/vgpu/trace/trace.hpp"

namespace membound::vgpu::runtime {

bool DeviceServices::print(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (output_.size() + text.size() > print_limit_bytes_) {
    ++dropped_lines_;
    return false;
  }
  output_ += text;
  return true;
}

std::uint64_t DeviceServices::allocate(std::uint64_t bytes, const exec::Place* where) {
  const std::scoped_lock lock(mutex_);
  if (bytes == 0 || heap_used_bytes_ + bytes > heap_limit_bytes_) return 0;
  const auto address = memory_.allocate(
      bytes, 16, {memory::AllocationKind::kDeviceHeap, "malloc in a kernel", false});
  if (!address) return 0;
  heap_used_bytes_ += bytes;
  heap_.emplace(*address, where == nullptr ? exec::Place() : *where);
  return *address;
}

bool DeviceServices::release(std::uint64_t address) {
  const std::scoped_lock lock(mutex_);
  if (address == 0) return true;
  if (heap_.erase(address) == 0) return false;
  if (const auto allocation = memory_.find(address)) heap_used_bytes_ -= allocation->size_bytes;
  return memory_.free(address);
}

void DeviceServices::flush_output() {
  const std::scoped_lock lock(mutex_);
  if (output_.empty()) return;
  std::fwrite(output_.data(), 1, output_.size(), stdout);
  std::fflush(stdout);
  output_.clear();
  if (const std::size_t lines = std::exchange(dropped_lines_, 0); lines > 0)
    messages::print(messages::dropped_output(lines, print_limit_bytes_));
}

std::size_t DeviceServices::waiting_bytes() const {
  const std::scoped_lock lock(mutex_);
  return output_.size();
}

std::vector<exec::CheckReport> DeviceServices::leaks() const {
  const std::scoped_lock lock(mutex_);
  std::vector<exec::CheckReport> found;
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> by_line;
  std::vector<std::uint64_t> bytes;
  for (const auto& [address, where] : heap_) {
    const auto [place, added] = by_line.try_emplace({where.file, where.line}, found.size());
    if (added) {
      found.push_back({"leakcheck", "device heap never freed", where, address, 0, 0, ""});
      found.back().place.instruction = "malloc";
      found.back().advice = "call free() in the kernel, or in a later one, for each malloc()";
      bytes.push_back(0);
    }
    ++found[place->second].count;
    if (const auto held = memory_.find(address)) bytes[place->second] += held->size_bytes;
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].size_bytes = static_cast<std::uint32_t>(bytes[i]);
    found[i].text = base::counted(bytes[i], "byte") + " in " +
                    base::counted(found[i].count, "allocation") + " of the device's heap " +
                    (bytes[i] == 1 ? "was" : "were") + " never freed";
    found[i].count = 1;
  }
  return found;
}

void DeviceServices::reset() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [address, where] : heap_) memory_.free(address);
  heap_.clear();
  heap_used_bytes_ = 0;
  output_.clear();
  dropped_lines_ = 0;
}

namespace {

/// A limit's instruction in CPU time. What right answers execute in the tests of the labs takes 10
/// to 180 ns each on a busy machine, and a tenth of their limit in all.
constexpr std::uint32_t kCpuNsPerInstruction = 75;

cudaError_t code_of(exec::FaultKind kind) {
  switch (kind) {
    case exec::FaultKind::kIllegalAddress:
      return cudaErrorIllegalAddress;
    case exec::FaultKind::kMisalignedAddress:
      return cudaErrorMisalignedAddress;
    case exec::FaultKind::kAssert:
      return cudaErrorAssert;
    case exec::FaultKind::kTrap:
      return cudaErrorLaunchFailure;
    case exec::FaultKind::kDeadlock:
    case exec::FaultKind::kStepLimit:
    case exec::FaultKind::kStopped:
      return cudaErrorLaunchTimeout;
    case exec::FaultKind::kUnsupportedInstruction:
      return cudaErrorIllegalInstruction;
    case exec::FaultKind::kStackOverflow:
      return cudaErrorHardwareStackError;
  }
  return cudaErrorLaunchFailure;
}

exec::LaunchRequest request_for(Context& context, const KernelOperation& operation,
                                const timing::Occupancy& occupancy) {
  const Settings& settings = context.settings;
  exec::LaunchRequest request;
  request.program = &operation.kernel->module->program();
  request.kernel = operation.kernel->kernel;
  request.grid = operation.grid;
  request.block = operation.block;
  request.dynamic_shared_bytes = operation.dynamic_shared_bytes;
  // A lab's tests would pass by luck what its checkers then find.
  if (context.is_judged) request.shared_reach_bytes = 0;
  request.parameters = operation.parameters;
  request.memory = &context.memory;
  request.textures = &context.arrays;
  request.cooperative = operation.cooperative;
  request.limits.warp_instructions =
      settings.step_limit != 0 ? settings.step_limit : context.limits.warp_instructions;
  // The caller's limit is the time that those instructions take, with room for slow machines.
  // MEMBOUND_STEP_LIMIT stops at the same place each time.
  if (settings.step_limit == 0 && context.limits.warp_instructions != 0)
    request.limits.cpu_ns_per_instruction = kCpuNsPerInstruction;
  request.limits.worker_threads = settings.workers;
  request.limits.stack_bytes = context.limits.stack_bytes;
  request.checks = settings.checks;
  request.scheduling = settings.scheduling;
  request.shuffle_seed = settings.shuffle_seed;
  // Checkers need no luck, and name who is first in the usual order.
  if (context.draws_beside_checkers || !settings.checks.of_kernels()) {
    if (settings.orders.lanes) request.lane_order_seed = context.order_seed;
    if (settings.orders.warps) request.warp_order_seed = context.order_seed;
    request.order_lines = settings.orders.at_lines;
  }
  request.keeps_block_order = !settings.orders.warps;
  request.stop = &context.stop;
  request.sm_count = context.machine.sm_count;
  request.registers = {context.machine.max_threads_per_sm / 32, context.machine.shared_unit_bytes,
                       context.machine.shared_reserved_bytes};
  request.number = ++context.launches;
  request.clock_ghz = context.machine.clock_ghz;
  request.costs = &context.machine.costs;
  request.device_calls = &context.services;
  request.sample = context.sample;
  request.only = context.only;
  if (request.sample && request.sample->some_warps) request.sample->l1_kept = context.l1_kept;
  request.lists_opcodes = !settings.opcodes_file.empty();
  request.counts = context.counts();
  request.caches.enabled = settings.model_caches && request.counts;
  request.caches.l1_bytes = context.machine.l1_bytes;
  request.caches.plain_loads_pass_l1 = context.machine.plain_loads_pass_l1 != 0;
  request.caches.l2_bytes = context.machine.l2_bytes;
  request.caches.stored_l2_bytes = static_cast<std::uint64_t>(context.machine.stored_l2_bytes);
  request.caches.dirty_l2_bytes = context.machine.dirty_l2_bytes;
  request.caches.resident_blocks_per_sm = std::max(1u, occupancy.blocks);
  return request;
}

/// One kernel at a time may be stopped by Ctrl-C.
exec::LaunchReport run_watched(Context& context, const exec::LaunchRequest& request) {
  if (request.sample && !context.not_sampled.empty()) {
    exec::LaunchReport none;
    none.unsampled = context.not_sampled;
    return none;
  }
  context.stop = false;
  context.kernel_runs = true;
  exec::LaunchReport report = exec::launch(request);
  context.kernel_runs = false;
  context.not_sampled = report.unsampled;
  if (request.sample) context.l1_kept = report.l1_kept;
  return report;
}

void print_findings(Context& context, const exec::LaunchReport& report) {
  for (const exec::CheckReport& finding : report.checks) {
    context.log.add_report(to_json(finding), finding.is_remark);
    messages::print(messages::finding(finding));
  }
  if (!report.fault) return;
  context.log.add_report(to_json(*report.fault));
  // What memcheck has reported is not reported again.
  const bool printed = std::any_of(
      report.checks.begin(), report.checks.end(),
      [&](const auto& found) { return !found.text.empty() && found.text == report.fault->text; });
  if (!printed) messages::print(messages::fault(*report.fault));
}

/// Appends the opcodes that no earlier kernel executed: a later one may end the process.
void list_opcodes(Context& context, const exec::LaunchReport& report) {
  if (report.opcodes.empty()) return;
  std::ofstream file(context.settings.opcodes_file, std::ios::app);
  for (const exec::ExecutedOpcode& opcode : report.opcodes) {
    if (context.opcodes.insert(opcode).second)
      file << opcode.name << to_string(opcode.type) << "\n";
  }
}

std::uint64_t constant_bytes(const program::Program& program) {
  std::uint64_t bytes = 0;
  for (const program::GlobalVariable& variable : program.globals())
    if (variable.is_constant) bytes += variable.size_bytes;
  return bytes;
}

/// A launch that has ended, however.
struct EndedLaunch {
  const KernelOperation& operation;
  const timing::LaunchShape& shape;
  const timing::Occupancy& occupancy;
  const exec::LaunchReport& report;
  const trace::Trace& tracer;
  std::uint64_t stream_id;
  bool in_graph;
};

/// Predicts how long it took, which moves the virtual clock on, and logs what it counted.
void tell_cost(Context& context, Timeline& timeline, const EndedLaunch& launch) {
  const KernelOperation& operation = launch.operation;
  const exec::LaunchReport& report = launch.report;
  const program::Kernel& kernel = *operation.kernel->kernel;
  const timing::LaunchShape& shape = launch.shape;
  const timing::Prediction prediction =
      predict(context.machine, report.counters, shape, launch.occupancy);
  // A kernel right after another starts up beside it; a graph's nodes are launched faster.
  double duration = prediction.ns;
  if (timeline.after_kernel) duration -= context.machine.ramp_ns;
  if (launch.in_graph) duration -= context.machine.launch_ns - context.machine.graph_launch_ns;
  const double slots =
      static_cast<double>(std::max(1u, launch.occupancy.blocks)) * context.machine.sm_count;
  const double share = static_cast<double>(operation.grid.count()) / slots;
  const TimeSpan span = context.clock.run_kernel(timeline.ready_ns, duration, share);
  timeline = {span.end_ns, true};
  context.last_work = span;
  if (context.settings.summary) context.summary.add(kernel.name, duration, prediction.binding);

  LaunchRecord record{
      kernel.name,        operation.grid,           operation.block,     kernel.register_count,
      shape.shared_bytes, &report.counters,         &prediction,         span,
      launch.stream_id,   report.warp_instructions, report.wall_seconds, "completed"};
  if (const TraceSettings& tracing = context.settings.trace; tracing.on) {
    record.accesses = trace::to_json(launch.tracer.accesses());
    record.traced_block = tracing.block;
    record.traced_warp = tracing.warp;
  }
  if (context.settings.model_caches)
    record.advice = advice::advise(context.machine, report.counters, shape, prediction);
  record.shared_accesses =
      program::shared_accesses_from(operation.kernel->module->program(), kernel);
  if (context.settings.tell_work) record.constant_bytes = shape.constant_bytes;
  record.sample = report.sample;
  record.writes_variables =
      context.sample && program::may_write_variables(operation.kernel->module->program(), kernel);
  record.not_sampled = report.unsampled;
  if (!report.unsampled.empty()) record.outcome = "not run";
  if (report.fault) record.outcome = exec::to_string(report.fault->kind);
  context.log.add_kernel(to_json(record));
}

/// Logs a launch of which some blocks ran for their results. No time passes, and nobody asks for
/// more: a check makes hundreds of these.
void tell_range(Context& context, const KernelOperation& operation,
                const exec::LaunchReport& report) {
  const program::Kernel& kernel = *operation.kernel->kernel;
  LaunchRecord record;
  record.name = kernel.name;
  record.writes_variables =
      program::may_write_variables(operation.kernel->module->program(), kernel);
  record.warp_instructions = report.warp_instructions;
  record.not_sampled = report.unsampled;
  record.drawn_bytes = context.memory.lazy_bytes();
  record.slice = report.slice;
  record.outcome = report.unsampled.empty() ? "completed" : "not run";
  if (report.fault) record.outcome = exec::to_string(report.fault->kind);
  context.log.add_kernel(to_json(record));
}

}  // namespace

cudaError_t load_kernel(Context& context, KernelHandle& handle) {
  Module& module = *handle.module;
  const base::Status loaded = module.load(context.memory, context.code_target());
  if (!loaded) {
    if (module.take_first_report())
      messages::print(messages::unusable_code(handle.name, loaded.error()));
    return module.load_code();
  }
  return handle.kernel != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

std::vector<std::byte> pack_parameters(const program::Kernel& kernel, void* const* arguments) {
  std::vector<std::byte> packed(kernel.parameter_bytes);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const program::Parameter& parameter = kernel.parameters[i];
    std::memcpy(packed.data() + parameter.offset_bytes, arguments[i], parameter.size_bytes);
  }
  return packed;
}

cudaError_t run_kernel(Context& context, Timeline& timeline, const KernelOperation& operation,
                       std::uint64_t stream_id, bool in_graph, exec::Footprint* footprint) {
  if (context.is_lost()) return cudaSuccess;  // seen by whoever waits
  const program::Kernel& kernel = *operation.kernel->kernel;
  const timing::LaunchShape shape{operation.grid, operation.block, kernel.register_count,
                                  kernel.static_shared_bytes + operation.dynamic_shared_bytes,
                                  constant_bytes(operation.kernel->module->program())};
  const timing::Occupancy occupancy = occupancy_of(context.machine, block_needs(shape));
  exec::LaunchRequest request = request_for(context, operation, occupancy);
  const TraceSettings& tracing = context.settings.trace;
  trace::Trace tracer(tracing.occurrences);
  if (tracing.on) request.tracing = {&tracer, tracing.block, tracing.warp};
  request.footprint = footprint;
  const exec::LaunchReport report = run_watched(context, request);
  if (request.only)
    tell_range(context, operation, report);
  else if (context.counts())
    tell_cost(context, timeline,
              {operation, shape, occupancy, report, tracer, stream_id, in_graph});
  list_opcodes(context, report);
  print_findings(context, report);
  if (!report.fault) return cudaSuccess;
  context.fail(code_of(report.fault->kind));
  if (report.fault->kind == exec::FaultKind::kStopped) end_stopped(context);
  return cudaSuccess;
}

}  // namespace membound::vgpu::runtime
