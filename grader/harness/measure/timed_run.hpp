// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The buffers of a timed case, one timed run on them, and what the virtual GPU says of a launch
/// that it timed by some of its blocks. What differs between the benches is theirs to say.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/harness/cases/data.hpp"
#include "grader/harness/cases/statistics.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/device_texture.hpp"
#include "grader/harness/device/launcher.hpp"
#include "grader/harness/measure/clocks.hpp"

namespace membound::harness {

/// Of all kernels in a report of counters.
struct SampleReport {
  std::string not_sampled;  ///< why one of them was not run; empty: all were
  bool takes_long = false;  ///< that is why: its blocks take too many instructions
  double share = 0;         ///< of the blocks that ran
  double warps = 1;         ///< of their warps, the least of any kernel
  double error = 0;         ///< the largest
  /// The last block had what those that ran have left, and zeros instead of what others leave.
  bool lacks_others = false;
  bool writes_variables = false;  ///< of its module, perhaps: the next launch may find them
  /// The blocks of the last launch that ran, in order.
  std::vector<BlockRange> ran;
  double instructions = 0;  ///< of warps, that all blocks together execute, about
  /// To or from global memory.
  struct Bytes {
    double ran = 0;  ///< by the blocks that ran,
    double all = 0;  ///< and, scaled, by all
  } stored, loaded;
};
[[nodiscard]] SampleReport sample_of(const nlohmann::json& counters);
/// "predicted from 0.47 % of the blocks, whose work says that of all within 0.2 %"
[[nodiscard]] std::string text_of(const SampleReport& report);

/// Whether the blocks that ran stand for the work of all, by the different elements of `array` that
/// they wrote (or read): where a few blocks do what most leave out, a sample of most says nothing
/// of the time. What is written where is not decided here (coverage).
[[nodiscard]] bool stands_for_all(const SampleReport::Bytes& moved, double error,
                                  const WrittenPart& part, const TimedBuffer& array);

struct BenchParts;

/// A reference answer that cannot be launched or fails: our fault, not the student's.
class ReferenceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One case of one stage.
struct TimingRequest {
  const TimedCase& timed_case;
  int stage = 0;       ///< its number
  std::string kernel;  ///< and kernel
  StopLimits limits;
  double timeout_seconds = 20;
  std::uint64_t seed = 1;
  /// A student's launch ended with this error; does not return.
  std::function<void(cudaError_t)> on_fault = {};
  bool sampled = false;  ///< by some blocks of each launch, compared place by place
};

/// The seed of a case's run with this number: the first one's is the case's own.
[[nodiscard]] std::uint64_t seed_of(const Seeds& seeds, std::uint64_t case_seed, std::uint64_t run);

/// What the virtual GPU counted since the last call, without our own kernels, which prepare the
/// data; null on a real one.
[[nodiscard]] nlohmann::json take_counters(const Device& device);

/// The runs of one case.
class TimedRun {
 public:
  TimedRun(const BenchParts& parts, const TimingRequest& request, ReadyLaunch student);
  TimedRun(const TimedRun&) = delete;
  TimedRun& operator=(const TimedRun&) = delete;
  virtual ~TimedRun() = default;

  /// Prepares inputs and output, flushes, launches between two events and waits; nanoseconds. As
  /// Sampling::some_warps.
  [[nodiscard]] double run_student(std::uint64_t seed, bool some_warps = false) {
    return run(student_, student_side_, seed, some_warps);
  }
  /// The reference answer's time on the same inputs.
  [[nodiscard]] virtual double run_reference(std::uint64_t seed) = 0;
  /// As take_counters(), of that run.
  [[nodiscard]] virtual nlohmann::json take_reference_counters() = 0;
  /// Whether the reference's output of a run is still there after the student's run.
  [[nodiscard]] virtual bool keeps_reference_output() const { return false; }
  /// Takes the student's output away for later comparison, or its fingerprint.
  virtual void keep_output() = 0;
  /// Compares what was kept with the right answer: the reference's output, there now, or the lab's.
  [[nodiscard]] Difference compare_kept();
  /// Of a sampled run, right after it: what the student's blocks wrote, held against the lab's own
  /// answer for the run with this seed. Where that depends on what they read (expected_of_read),
  /// the elements are those that were read. `see` is shown the runs of elements that were written,
  /// in order.
  using SeeElements = std::function<void(std::size_t first, std::size_t count)>;
  [[nodiscard]] WrittenPart compare_sample(std::uint64_t seed, const SeeElements& see = {}) const;
  /// Suspects a sampled run that changed its inputs, where a graded run looks.
  virtual void look_at_sampled_inputs(std::uint64_t /*seed*/) {}
  /// What was wrong with a run beside its result: work done after the end, inputs changed. Empty
  /// where nothing was; only a graded run looks.
  [[nodiscard]] const std::string& suspicion() const { return suspicion_; }
  /// Time between two events with nothing between them.
  [[nodiscard]] double event_overhead_ns();
  /// Runs of the student between two looks at our own clock, and of nothing in its place; nothing
  /// where nobody doubts the device's clock.
  [[nodiscard]] virtual std::optional<OutsideSamples> time_from_outside(std::uint64_t seed);

 protected:
  /// With the seed of the picture that it holds: kernels cannot change it.
  struct FilledTexture {
    DeviceTexture texture;
    std::optional<std::uint64_t> seed;
  };
  /// One device's share.
  struct Side {
    const Device& device;
    const DeviceKernels& kernels;
    std::vector<PlacedBuffer> inputs;
    PlacedBuffer output;
    std::vector<FilledTexture> textures;
    std::unique_ptr<EventTimer> timer;  // made while the device was current
  };
  /// Addresses and handles as TimedCase::arguments takes them.
  [[nodiscard]] KernelArguments arguments_on(const Side& side) const;
  /// What is launched there.
  struct Answer {
    const Launcher& launcher;
    ReadyLaunch launch;
    DeviceBuffer scratch;
    std::function<void(cudaError_t)> on_fault;  // does not return
  };

  [[nodiscard]] const BenchParts& parts() const { return parts_; }
  [[nodiscard]] const TimingRequest& request() const { return request_; }
  [[nodiscard]] const TimedCase& timed_case() const { return request_.timed_case; }
  [[nodiscard]] Side& student_side() { return student_side_; }
  [[nodiscard]] const Side& student_side() const { return student_side_; }
  /// The inputs of the run with this seed, at any place.
  [[nodiscard]] DrawnInputs drawn_inputs(std::uint64_t seed) const;
  [[nodiscard]] const Answer& student() const { return student_; }
  void suspect(std::string what) { suspicion_ = std::move(what); }
  void suspect_changed_inputs();
  /// As look_at_sampled_inputs(): holds what was touched of them against what was drawn.
  void compare_sampled_inputs(std::uint64_t seed);

  [[nodiscard]] Side make_side(const Device& device, const DeviceKernels& kernels) const;
  /// The reference answer, ready to be launched. Throws ReferenceError.
  [[nodiscard]] Answer make_reference() const;
  [[nodiscard]] double run(const Answer& answer, Side& side, std::uint64_t seed,
                           bool some_warps = false);
  void prepare(const Answer& answer, Side& side, std::uint64_t seed);
  virtual void write_inputs(const Side& side, std::uint64_t seed);
  /// Those of the case with this seed, its textures and the answer's constants too.
  void write_all_inputs(const Answer& answer, Side& side, std::uint64_t seed);
  [[nodiscard]] cudaError_t launch_between_events(const Answer& answer, Side& side,
                                                  std::optional<Sampling> sampling = {}) const;

 private:
  void fill_textures(Side& side, std::uint64_t seed) const;
  void fill_constants(const Answer& answer, std::uint64_t seed) const;
  [[nodiscard]] WrittenPart compare_with_read(const DrawnInputs& inputs,
                                              const SeeElements& see) const;
  /// Bytes beside each array in which its place is drawn.
  [[nodiscard]] std::size_t room_bytes(const Device& device) const;
  [[nodiscard]] virtual Difference compare() = 0;

  const BenchParts& parts_;
  const TimingRequest& request_;
  Side student_side_;
  Answer student_;
  std::string suspicion_;
};

}  // namespace membound::harness
