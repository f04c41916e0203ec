// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/parts_run.hpp"

#include <algorithm>

#include "grader/base/result.hpp"
#include "grader/harness/device/device_scope.hpp"

namespace membound::harness {

PartsRun::PartsRun(const BenchParts& parts, const TimingRequest& request, ReadyLaunch student)
    : TimedRun(parts, request, std::move(student)) {
  MEMBOUND_CHECK(request.sampled);
}

dim3 PartsRun::grid() const {
  if (student().launch.steps.empty()) return {0, 0, 0};
  const PlanExtent& grid = student().launch.steps.back().shape.grid;
  return {static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
          static_cast<unsigned>(grid.z)};
}

std::uint64_t PartsRun::blocks_of(std::size_t launch) const {
  if (launch >= launches()) return 0;
  const PlanExtent& all = student().launch.steps[launch].shape.grid;
  return static_cast<std::uint64_t>(all.x * all.y * all.z);
}

PartsRun::Ran PartsRun::run_range(std::uint64_t seed, const BlockRange& blocks) {
  const DeviceScope on(student_side().device.number());
  write_inputs(student_side(), seed);
  student_side().kernels.prepare_when_touched(timed_case().output, student_side().output.data());
  return launch(student().launch, blocks);
}

PartsRun::Ran PartsRun::run_range_of(std::size_t number, std::uint64_t seed,
                                     const BlockRange& blocks) {
  const DeviceScope on(student_side().device.number());
  write_inputs(student_side(), seed);
  student_side().kernels.prepare_when_touched(timed_case().output, student_side().output.data());
  ReadyLaunch one = student().launch;
  one.steps = {student().launch.steps.at(number)};
  return launch(one, blocks);
}

PartsRun::Ran PartsRun::run_range_again(const BlockRange& blocks) {
  const DeviceScope on(student_side().device.number());
  student_side().kernels.prepare_when_touched(timed_case().output, student_side().output.data());
  ReadyLaunch last = student().launch;
  last.steps.erase(last.steps.begin(), last.steps.end() - 1);
  return launch(last, blocks);
}

PartsRun::Ran PartsRun::launch(const ReadyLaunch& launch, const BlockRange& blocks) {
  Side& side = student_side();
  std::vector<void*> d_inputs;
  for (const PlacedBuffer& input : side.inputs) d_inputs.push_back(input.data());
  side.device.forget_report();
  cudaError_t code = cudaSuccess;
  {
    // Its instructions are bounded; a clock says more of who else uses the host.
    constexpr double kPatience = 10;
    const auto watch = parts().watchdog.watch(kPatience * request().timeout_seconds,
                                              "a run of blocks of " + timed_case().label);
    code = student().launcher.launch(launch, timed_case().arguments(d_inputs, side.output.data()),
                                     student().scratch.data(),
                                     Sampling{.counts = false, .only = blocks});
    if (code == cudaSuccess) code = cudaDeviceSynchronize();
  }
  if (code != cudaSuccess) student().on_fault(code);
  Ran ran;
  const nlohmann::json report = side.device.take_report();
  for (const nlohmann::json& kernel : report.value("kernels", nlohmann::json::array())) {
    if (ran.not_run.empty()) ran.not_run = kernel.value("not_sampled", "");
    ran.drawn_bytes = std::max(ran.drawn_bytes, kernel.value("drawn_bytes", std::uint64_t{0}));
    ran.warp_instructions += kernel.value("warp_instructions", std::uint64_t{0});
  }
  return ran;
}

bool PartsRun::inputs_are_as_drawn(std::uint64_t seed) const {
  const Side& side = student_side();
  for (std::size_t i = 0; i < side.inputs.size(); ++i)
    if (!side.kernels.is_as_drawn(timed_case().inputs[i], side.inputs[i].data(),
                                  parts().seeds.derive(seed, i)))
      return false;
  return true;
}

std::vector<HostArray> PartsRun::drawn_whole(std::uint64_t seed) const {
  std::vector<HostArray> arrays;
  for (std::size_t i = 0; i < timed_case().inputs.size(); ++i)
    arrays.push_back(drawn(timed_case().inputs[i], parts().seeds.derive(seed, i)));
  return arrays;
}

HostArray PartsRun::output() const {
  HostArray bytes(student_side().output.size_bytes());
  const DeviceScope on(student_side().device.number());
  if (!bytes.empty())
    cuda_check(cudaMemcpy(bytes.data(), student_side().output.data(), bytes.size(),
                          cudaMemcpyDeviceToHost),
               "reading an output");
  return bytes;
}

void PartsRun::each_written_run(const SeeElements& see) const {
  const TimedBuffer& form = timed_case().output;
  student_side().kernels.each_touched(student_side().output.data(), form.size_bytes(),
                                      [&](std::size_t offset, std::span<const std::byte> bytes) {
                                        each_written(
                                            form, bytes, [&](std::size_t from, std::size_t count) {
                                              see(offset / element_bytes(form.type) + from, count);
                                            });
                                      });
}

void PartsRun::each_read(const SeeElements& see) const {
  const TimedBuffer& input = timed_case().inputs.front();
  const std::size_t each = element_bytes(input.type);
  student_side().kernels.each_touched(student_side().inputs.front().data(), input.size_bytes(),
                                      [&](std::size_t offset, std::span<const std::byte> bytes) {
                                        see(offset / each, bytes.size() / each);
                                      });
}

}  // namespace membound::harness
