// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/timed_run.hpp"

#include "grader/harness/statistics.hpp"

namespace membound::harness {

TimedRun::TimedRun(const TimingBench& bench, const TimingRequest& request)
    : bench_(bench),
      request_(request),
      output_(request.timed_case.output.size_bytes()),
      kept_(request.timed_case.output.size_bytes()) {
  for (const TimedBuffer& input : request.timed_case.inputs) {
    inputs_.emplace_back(input.size_bytes());
    d_inputs_.push_back(inputs_.back().data());
  }
}

TimedRun::Runner TimedRun::runner(const Launcher& launcher, const ReadyLaunch& launch,
                                  bool is_student) const {
  return {launcher, launch, DeviceBuffer(launch.scratch_bytes), is_student};
}

void TimedRun::prepare(std::uint64_t seed) const {
  const std::vector<TimedBuffer>& inputs = request_.timed_case.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    bench_.kernels.fill(inputs[i], d_inputs_[i], random_bits(seed, i));
  bench_.kernels.prepare_output(request_.timed_case.output, output_.data());
  if (bench_.device.is_virtual()) return;
  cuda_check(cudaCtxResetPersistingL2Cache(), "resetting persisting L2 lines");
  // Last, and still running when the launches are queued: the host's launch time stays hidden.
  bench_.kernels.flush_l2();
}

double TimedRun::run(const Runner& runner, std::uint64_t seed) {
  prepare(seed);
  KernelArguments arguments = request_.timed_case.arguments(d_inputs_, output_.data());
  const auto watch = bench_.watchdog.watch(request_.timeout_seconds,
                                           "a timed run of " + request_.timed_case.label);
  timer_.start();
  cudaError_t code =
      runner.launcher.launch(runner.launch, std::move(arguments), runner.scratch.data());
  timer_.stop();
  if (code == cudaSuccess) {
    bench_.clocks.sample();
    code = timer_.wait();
  }
  if (code != cudaSuccess) {
    if (runner.is_student) bench_.on_fault(code);
    throw ReferenceError("the reference answer failed: " + cuda_error_text(code));
  }
  return timer_.nanoseconds();
}

void TimedRun::keep_output() {
  if (kept_.size_bytes() == 0) return;
  cuda_check(cudaMemcpyAsync(kept_.data(), output_.data(), kept_.size_bytes(),
                             cudaMemcpyDeviceToDevice, nullptr),
             "keeping an output");
}

Difference TimedRun::compare_kept() const {
  if (kept_.size_bytes() == 0) return {};
  return bench_.kernels.compare(request_.timed_case.output, kept_.data(), output_.data(),
                                request_.timed_case.tolerance);
}

double TimedRun::event_overhead_ns() {
  std::vector<double> times;
  for (int i = 0; i < (bench_.device.is_virtual() ? 1 : 11); ++i) {
    bench_.kernels.flush_l2();
    timer_.start();
    timer_.stop();
    cuda_check(timer_.wait(), "timing nothing");
    times.push_back(timer_.nanoseconds());
  }
  return median(times);
}

}  // namespace membound::harness
