// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/timed_run.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "grader/base/switches.hpp"
#include "grader/harness/cases/host_arrays.hpp"
#include "grader/harness/device/device_scope.hpp"
#include "grader/harness/device/runner_link.hpp"
#include "grader/harness/measure/statistics.hpp"

namespace membound::harness {
namespace {

/// One in so many runs is compared element by element though its fingerprint is right: the check of
/// the check. Which ones follows from the key, which nobody knows before.
constexpr std::uint64_t kAuditOneIn = 64;
constexpr int kOutsideRuns = 9;

std::uint64_t fresh_key() {
  std::uint64_t key = 0;
  if (getrandom(&key, sizeof(key), 0) != ssize_t{sizeof(key)})
    throw std::runtime_error("the kernel of this machine gives no random numbers");
  return key;
}

/// Nothing to do for an array without elements.
void write(void* d_target, const HostArray& from) {
  if (from.empty()) return;
  cuda_check(cudaMemcpy(d_target, from.data(), from.size(), cudaMemcpyHostToDevice),
             "writing an array");
}

HostArray read(const void* d_source, std::size_t size_bytes) {
  HostArray bytes(size_bytes);
  if (size_bytes > 0)
    cuda_check(cudaMemcpy(bytes.data(), d_source, size_bytes, cudaMemcpyDeviceToHost),
               "reading an array");
  return bytes;
}

/// As ==, which looks at one byte after the other.
bool same_bytes(const HostArray& a, const HostArray& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

TimedRun::TimedRun(const TimingBench& bench, const TimingRequest& request)
    : bench_(bench),
      request_(request),
      student_side_(make_side(bench.device, bench.kernels)),
      kept_([&] {
        const DeviceScope on(bench.reference_device.number());
        return DeviceBuffer(bench.known ? 0 : request.timed_case.output.size_bytes());
      }()) {
  if (bench.reference_device.number() != bench.device.number())
    reference_side_.emplace(make_side(bench.reference_device, bench.reference_kernels));
}

TimedRun::Side TimedRun::make_side(const Device& device, const DeviceKernels& kernels) const {
  const DeviceScope on(device.number());
  Side side{device, kernels, {}, {}, {}, std::make_unique<EventTimer>()};
  side.output = DeviceBuffer(request_.timed_case.output.size_bytes());
  for (const TimedBuffer& input : request_.timed_case.inputs) {
    side.inputs.emplace_back(input.size_bytes());
    side.d_inputs.push_back(side.inputs.back().data());
  }
  return side;
}

TimedRun::Runner TimedRun::runner(const Launcher& launcher, const ReadyLaunch& launch,
                                  bool is_student) const {
  const DeviceScope on((is_student ? bench_.device : bench_.reference_device).number());
  return {launcher, launch, DeviceBuffer(launch.scratch_bytes), is_student};
}

void TimedRun::prepare(const Side& side, std::uint64_t seed) {
  const std::vector<TimedBuffer>& inputs = request_.timed_case.inputs;
  if (is_known()) drawn_.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::uint64_t seed_of_input = bench_.seeds.derive(seed, i);
    if (!is_known()) {
      side.kernels.fill(inputs[i], side.d_inputs[i], seed_of_input);
      continue;
    }
    drawn_.push_back(drawn(inputs[i], seed_of_input));
    write(side.d_inputs[i], drawn_.back());
  }
  side.kernels.prepare_output(request_.timed_case.output, side.output.data());
  // The last of these is still running when the launches are queued: the host's launch time stays
  // hidden.
  if (side.device.is_virtual()) return side.kernels.keep_busy();
  cuda_check(cudaCtxResetPersistingL2Cache(), "resetting persisting L2 lines");
  side.kernels.flush_l2();
}

cudaError_t TimedRun::launch_between_events(const Runner& runner, Side& side) const {
  KernelArguments arguments = request_.timed_case.arguments(side.d_inputs, side.output.data());
  side.timer->start();
  const cudaError_t code =
      runner.launcher.launch(runner.launch, std::move(arguments), runner.scratch.data());
  side.timer->stop();
  return code;
}

double TimedRun::run(const Runner& runner, std::uint64_t seed) {
  Side& side = side_of(runner.is_student);
  const DeviceScope on(side.device.number());
  LaunchBatch batch;
  prepare(side, seed);
  const auto watch = bench_.watchdog.watch(request_.timeout_seconds,
                                           "a timed run of " + request_.timed_case.label);
  cudaError_t code = launch_between_events(runner, side);
  if (const cudaError_t sent = batch.send(); code == cudaSuccess) code = sent;
  if (code == cudaSuccess) {
    bench_.clocks.sample();
    code = side.timer->wait();
  }
  if (code != cudaSuccess) {
    if (runner.is_student) bench_.on_fault(code);
    throw ReferenceError("the reference answer failed: " + cuda_error_text(code));
  }
  return side.timer->nanoseconds();
}

TimedRun::Fingerprints TimedRun::fingerprints(const Side& side, std::uint64_t key) const {
  Fingerprints prints{key, 0, 0};
  prints.output = side.kernels.fingerprint(side.output.data(), side.output.size_bytes(), key);
  for (std::size_t i = 0; i < side.inputs.size(); ++i)
    prints.inputs += side.kernels.fingerprint(side.d_inputs[i], side.inputs[i].size_bytes(),
                                              random_bits(key, i));
  return prints;
}

void TimedRun::keep_output() {
  if (is_known()) {
    // The launch has ended, and only a virtual GPU's times are known: nothing runs afterwards.
    const DeviceScope on(student_side_.device.number());
    output_after_ = read(student_side_.output.data(), student_side_.output.size_bytes());
    inputs_after_.clear();
    for (std::size_t i = 0; i < student_side_.inputs.size(); ++i)
      inputs_after_.push_back(
          read(student_side_.d_inputs[i], student_side_.inputs[i].size_bytes()));
    return;
  }
  if (!is_split()) {
    if (kept_.size_bytes() == 0) return;
    cuda_check(cudaMemcpyAsync(kept_.data(), student_side_.output.data(), kept_.size_bytes(),
                               cudaMemcpyDeviceToDevice, nullptr),
               "keeping an output");
    return;
  }
  const DeviceScope on(student_side_.device.number());
  // The launch has ended: from here on nothing may change, and only now is there a key.
  student_prints_ = fingerprints(student_side_, fresh_key());
  // The virtual GPU runs a launch to its end before the call returns: there is no afterwards.
  if (student_side_.device.is_virtual()) return;
  cuda_check(cudaDeviceSynchronize(), "waiting for what may still be running");
  const std::uint64_t afterwards = student_side_.kernels.fingerprint(
      student_side_.output.data(), student_side_.output.size_bytes(), student_prints_.key);
  if (afterwards != student_prints_.output)
    suspicion_ = "the output still changed after the launch had ended";
}

Difference TimedRun::compare_with_expected() {
  const bool same_inputs = std::equal(drawn_.begin(), drawn_.end(), inputs_after_.begin(),
                                      inputs_after_.end(), same_bytes);
  if (!same_inputs && !base::switched_off("harness.inputs"))
    suspicion_ = "the launch changed its inputs";
  // Only now: while the submission ran, the answer was nowhere.
  const HostArray expected = request_.timed_case.expected(drawn_);
  if (same_bytes(expected, output_after_)) return {};
  return difference_of(request_.timed_case.output, output_after_, expected,
                       request_.timed_case.tolerance);
}

Difference TimedRun::compare_kept() {
  if (base::switched_off("harness.timed-compare")) return {};
  if (is_known()) return compare_with_expected();
  if (kept_.size_bytes() == 0) return {};
  if (!is_split())
    return bench_.kernels.compare(request_.timed_case.output, kept_.data(),
                                  student_side_.output.data(), request_.timed_case.tolerance);
  const Fingerprints expected = fingerprints(*reference_side_, student_prints_.key);
  if (expected.inputs != student_prints_.inputs && !base::switched_off("harness.inputs"))
    suspicion_ = "the launch changed its inputs";
  if (expected.output == student_prints_.output && student_prints_.key % kAuditOneIn != 0)
    return {};
  return compare_on_reference_device();
}

Difference TimedRun::compare_on_reference_device() {
  std::vector<std::byte> output(kept_.size_bytes());
  {
    const DeviceScope on(student_side_.device.number());
    cuda_check(cudaMemcpy(output.data(), student_side_.output.data(), output.size(),
                          cudaMemcpyDeviceToHost),
               "reading an output");
  }
  const DeviceScope on(reference_side_->device.number());
  cuda_check(cudaMemcpy(kept_.data(), output.data(), output.size(), cudaMemcpyHostToDevice),
             "keeping an output");
  return reference_side_->kernels.compare(request_.timed_case.output, kept_.data(),
                                          reference_side_->output.data(),
                                          request_.timed_case.tolerance);
}

double TimedRun::event_overhead_ns() {
  const DeviceScope on(student_side_.device.number());
  std::vector<double> times;
  for (int i = 0; i < (bench_.device.is_virtual() ? 1 : 11); ++i) {
    LaunchBatch batch;
    bench_.kernels.flush_l2();
    student_side_.timer->start();
    student_side_.timer->stop();
    cuda_check(batch.send(), "timing nothing");
    cuda_check(student_side_.timer->wait(), "timing nothing");
    times.push_back(student_side_.timer->nanoseconds());
  }
  return median(times);
}

OutsideSamples TimedRun::time_from_outside(const Runner& runner, std::uint64_t seed) {
  Side& side = student_side_;
  const DeviceScope on(side.device.number());
  OutsideSamples samples;
  const auto measure = [&](const auto& work, std::vector<double>& walls) {
    cuda_check(cudaDeviceSynchronize(), "preparing a run");
    const double start_ns = now_ns();
    LaunchBatch batch;
    cudaError_t code = work();
    if (const cudaError_t sent = batch.send(); code == cudaSuccess) code = sent;
    if (code == cudaSuccess) code = side.timer->wait();
    walls.push_back(now_ns() - start_ns);
    if (code != cudaSuccess) bench_.on_fault(code);
  };
  for (int i = 0; i < kOutsideRuns; ++i) {
    prepare(side, bench_.seeds.derive(seed, static_cast<std::uint64_t>(i)));
    const auto watch =
        bench_.watchdog.watch(request_.timeout_seconds, "a run of " + request_.timed_case.label);
    measure([&] { return launch_between_events(runner, side); }, samples.work_wall_ns);
    measure(
        [&] {
          side.timer->start();
          for (std::size_t step = 0; step < runner.launch.steps.size(); ++step)
            side.kernels.launch_nothing();
          side.timer->stop();
          return cudaSuccess;
        },
        samples.nothing_wall_ns);
    samples.nothing_event_ns.push_back(side.timer->nanoseconds());
  }
  return samples;
}

}  // namespace membound::harness
