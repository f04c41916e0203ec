// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/sandbox_bench.hpp"

#include <sys/random.h>

#include <algorithm>
#include <chrono>

#include "grader/harness/device/device_scope.hpp"
#include "grader/harness/device/runner_link.hpp"

namespace membound::harness {
namespace {

/// Of each output whose fingerprint is right so many pieces are fetched and compared bit by bit:
/// the check of the check. Where they lie follows from the key, which nobody knows before.
constexpr std::uint64_t kAuditPieces = 4;
constexpr std::size_t kAuditBytes = 4096;
constexpr int kOutsideRuns = 5;
/// What a launch does beside its result is looked for in the first runs and then in one of four,
/// which is drawn when the launch has ended: nobody gains by doing it now and then.
constexpr int kWholeLooks = 2;
constexpr std::uint64_t kWholeLookShare = 4;

std::uint64_t fresh_key() {
  std::uint64_t key = 0;
  if (getrandom(&key, sizeof(key), 0) != ssize_t{sizeof(key)})
    throw std::runtime_error("the kernel of this machine gives no random numbers");
  return key;
}

double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class SandboxRun : public TimedRun {
 public:
  SandboxRun(const BenchParts& parts, const TimingRequest& request, ReadyLaunch student)
      : TimedRun(parts, request, std::move(student)),
        reference_(make_reference()),
        reference_side_(make_side(parts.reference_device, parts.reference_kernels)) {}

  [[nodiscard]] double run_reference(std::uint64_t seed) override {
    return run(reference_, reference_side_, seed);
  }
  [[nodiscard]] nlohmann::json take_reference_counters() override {
    return take_counters(parts().reference_device);
  }

  void keep_output() override {
    const DeviceScope on(student_side().device.number());
    // The launch has ended: from here on nothing may change, and only now is there a key.
    const std::uint64_t key = fresh_key();
    looks_whole_ = kept_runs_++ < kWholeLooks || key % kWholeLookShare == 0;
    student_prints_ = fingerprints(student_side(), key);
    student_pieces_ = pieces(student_side());
  }
  [[nodiscard]] bool keeps_reference_output() const override { return true; }
  void look_at_sampled_inputs(std::uint64_t seed) override { compare_sampled_inputs(seed); }

 protected:
  /// Of an array written before the key was drawn.
  struct Fingerprints {
    std::uint64_t key = 0, output = 0, inputs = 0;
  };
  [[nodiscard]] const Fingerprints& student_prints() const { return student_prints_; }
  /// Whether inputs, and what changes after the end, are looked at in this run.
  [[nodiscard]] bool looks_whole() const { return looks_whole_; }

 private:
  [[nodiscard]] Fingerprints fingerprints(const Side& side, std::uint64_t key) const {
    Fingerprints prints{key, 0, 0};
    prints.output = side.kernels.fingerprint(side.output.data(), side.output.size_bytes(), key);
    for (std::size_t i = 0; looks_whole_ && i < side.inputs.size(); ++i)
      prints.inputs += side.kernels.fingerprint(side.inputs[i].data(), side.inputs[i].size_bytes(),
                                                random_bits(key, i));
    return prints;
  }

  [[nodiscard]] Difference compare() override {
    if (timed_case().output.size_bytes() == 0) return {};
    const Fingerprints expected = fingerprints(reference_side_, student_prints_.key);
    if (expected.inputs != student_prints_.inputs) suspect_changed_inputs();
    // No kernel of ours in the submission's process has a part in the pieces.
    if (expected.output == student_prints_.output && pieces(reference_side_) == student_pieces_)
      return {};
    return compare_on_reference_device();
  }

  /// What stands in an output at places that follow from the run's key. All of one side at once: to
  /// go from one process to the other and back costs a GPU a tenth of a millisecond.
  [[nodiscard]] std::vector<std::byte> pieces(const Side& side) const {
    const std::size_t size = side.output.size_bytes(), piece = std::min(kAuditBytes, size);
    const std::uint64_t count = piece == size ? 1 : kAuditPieces;
    std::vector<std::byte> all(count * piece);
    const DeviceScope on(side.device.number());
    for (std::uint64_t i = 0; i < count && piece > 0; ++i) {
      const std::size_t at = random_bits(~student_prints_.key, i) % (size - piece + 1);
      cuda_check(cudaMemcpy(&all[i * piece], static_cast<const std::byte*>(side.output.data()) + at,
                            piece, cudaMemcpyDeviceToHost),
                 "reading a piece of an output");
    }
    return all;
  }

  [[nodiscard]] Difference compare_on_reference_device() {
    std::vector<std::byte> output(timed_case().output.size_bytes());
    {
      const DeviceScope on(student_side().device.number());
      cuda_check(cudaMemcpy(output.data(), student_side().output.data(), output.size(),
                            cudaMemcpyDeviceToHost),
                 "reading an output");
    }
    const DeviceScope on(reference_side_.device.number());
    const DeviceBuffer kept(output.size());
    cuda_check(cudaMemcpy(kept.data(), output.data(), output.size(), cudaMemcpyHostToDevice),
               "keeping an output");
    return reference_side_.kernels.compare(timed_case().output, kept.data(),
                                           reference_side_.output.data(), timed_case().tolerance);
  }

  Answer reference_;
  Side reference_side_;
  Fingerprints student_prints_;
  std::vector<std::byte> student_pieces_;
  int kept_runs_ = 0;
  bool looks_whole_ = true;
};

/// Where kernels can go on after their launch was waited for, and write to the memory that the
/// device's events are in: both are looked for.
class DoubtfulSandboxRun : public SandboxRun {
 public:
  using SandboxRun::SandboxRun;

  void keep_output() override {
    SandboxRun::keep_output();
    if (!looks_whole()) return;
    const Side& side = student_side();
    const DeviceScope on(side.device.number());
    cuda_check(cudaDeviceSynchronize(), "waiting for what may still be running");
    const std::uint64_t afterwards = side.kernels.fingerprint(
        side.output.data(), side.output.size_bytes(), student_prints().key);
    if (afterwards != student_prints().output)
      suspect("the output still changed after the launch had ended");
  }

  [[nodiscard]] std::optional<OutsideSamples> time_from_outside(std::uint64_t seed) override {
    const DeviceScope on(student_side().device.number());
    OutsideSamples samples;
    for (std::uint64_t i = 0; i < kOutsideRuns; ++i)
      time_once(parts().seeds.derive(seed, i), samples);
    return samples;
  }

 private:
  void time_once(std::uint64_t seed, OutsideSamples& samples) {
    Side& side = student_side();
    prepare(side, seed);
    const auto watch =
        parts().watchdog.watch(request().timeout_seconds, "a run of " + timed_case().label);
    samples.work_wall_ns.push_back(wall_ns([&] { return launch_between_events(student(), side); }));
    samples.nothing_wall_ns.push_back(wall_ns([&] {
      side.timer->start();
      for (std::size_t step = 0; step < student().launch.steps.size(); ++step)
        side.kernels.launch_nothing();
      side.timer->stop();
      return cudaSuccess;
    }));
    samples.nothing_event_ns.push_back(side.timer->nanoseconds());
  }

  template <typename Work>
  double wall_ns(const Work& work) {
    cuda_check(cudaDeviceSynchronize(), "preparing a run");
    const double start_ns = now_ns();
    LaunchBatch batch;
    cudaError_t code = work();
    if (const cudaError_t sent = batch.send(); code == cudaSuccess) code = sent;
    if (code == cudaSuccess) code = student_side().timer->wait();
    const double taken_ns = now_ns() - start_ns;
    if (code != cudaSuccess) student().on_fault(code);
    return taken_ns;
  }
};

template <typename Run>
class SandboxBench : public Bench {
 public:
  using Bench::Bench;
  [[nodiscard]] std::unique_ptr<TimedRun> start(const TimingRequest& request,
                                                ReadyLaunch student) const override {
    return std::make_unique<Run>(parts(), request, std::move(student));
  }
};

}  // namespace

std::unique_ptr<Bench> make_sandbox_bench(const BenchParts& parts) {
  if (parts.device.outlasts_a_wait())
    return std::make_unique<SandboxBench<DoubtfulSandboxRun>>(parts);
  return std::make_unique<SandboxBench<SandboxRun>>(parts);
}

}  // namespace membound::harness
