// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times several ways to compute one result, in turn, on the same data: one round gives every
/// contestant one run, in random order, and compares what they wrote. And the compiled
/// reference answers of a lab as contestants.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/launcher.hpp"
#include "grader/harness/device/submission.hpp"

namespace membound::authoring {

/// What a contestant is to the others.
enum class Role {
  kStage,       ///< a reference answer
  kLibrary,     ///< what a user would call instead
  kCeiling,     ///< what the device reaches at best
  kExperiment,  ///< another computation of the same shape; its result is its own
};

/// "stage", "library", "ceiling", "experiment"
[[nodiscard]] std::string to_string(Role role);

/// The arrays of a group. Every run finds fresh inputs and a poisoned output.
struct Arrays {
  std::vector<void*> d_inputs;
  void* d_output = nullptr;
};

/// One way to compute the result.
struct Contestant {
  std::string name;
  Role role = Role::kStage;
  std::string seed_figure;     ///< what a seed of the course reports for it, with the GPU; or empty
  bool zeroed_output = false;  ///< adds to the output: it starts at 0
  double amount = 0;           ///< bytes or operations of one run
  std::function<void(const Arrays&)> launch;  ///< queues on the default stream
};

/// Contestants that are compared with each other.
struct Group {
  std::string title;
  std::string unit;               ///< "GB/s" or "Tops/s"
  harness::TimedCase timed_case;  ///< buffers and tolerance; sizes and arguments are not used
  std::vector<Contestant> contestants;
  std::vector<std::shared_ptr<const void>> owned;  ///< what the contestants refer to
};

/// A contestant's times.
struct Outcome {
  std::vector<double> times_ns;  ///< one per round
  double median_ns = 0;
  double low_ns = 0;  ///< the true median lies between the two with 95 % confidence
  double high_ns = 0;
  double rate = 0;     ///< amount per nanosecond at the median: GB/s, or Gops/s
  int wrong_runs = 0;  ///< runs whose result differed from the first contestant's
};

/// Runs `rounds` rounds and one before them that does not count. Throws harness::CudaError.
[[nodiscard]] std::vector<Outcome> hold(const Group& group, const harness::DeviceKernels& kernels,
                                        int rounds, std::uint64_t seed);

/// What every group needs.
struct Machine {
  const harness::Device& device;
  const harness::DeviceKernels& kernels;
  harness::Watchdog& watchdog;
  std::filesystem::path labs;   ///< the labs' folder in the source tree
  std::filesystem::path build;  ///< the build folder: `labs/<id>/reference.fatbin` and bench/
};

/// The answers of one lab; contestants made by it refer to it.
class Answers {
 public:
  /// Loads `fatbin`, or the lab's reference.fatbin if that is empty. Throws std::runtime_error.
  Answers(const Machine& machine, const std::string& lab_id, harness::Signature signature,
          const std::filesystem::path& fatbin = {});
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  /// What a stage is run on.
  struct Work {
    std::string instance;  ///< "" or "<float>"
    std::vector<std::int64_t> sizes;
    std::function<harness::KernelArguments(const Arrays&)> arguments;
    double amount = 0;
  };
  /// Stage `number`, ready to be launched. Throws std::runtime_error.
  [[nodiscard]] Contestant stage(int number, const Work& work) const;
  /// Stages that are kernels: they come first.
  [[nodiscard]] int stage_count() const;

 private:
  course::Lab lab_;
  harness::Signature signature_;
  harness::Submission submission_;
  harness::Launcher launcher_;
};

/// Which contests are held (groups.cpp): one group per lab, type and size, with the stages, the
/// libraries, the ceilings, and the figures of the documents the course follows.
/// A group is made when its turn comes: its peers hold device memory.
struct GroupMaker {
  std::string title;
  std::function<Group()> make;
};

/// Labs 00, 01, 03 and 04: a library computes the same. `machine` must outlive the groups.
[[nodiscard]] std::vector<GroupMaker> library_groups(const Machine& machine);
/// Labs 02, 05, 08 and 09: beside a copy of as many bytes.
[[nodiscard]] std::vector<GroupMaker> copy_groups(const Machine& machine);
/// Lab 06: beside additions and minima alone.
[[nodiscard]] std::vector<GroupMaker> arithmetic_groups(const Machine& machine);
/// Lab 11, stages 3 to 5: beside CUB.
[[nodiscard]] std::vector<GroupMaker> collaborating_groups(const Machine& machine);

/// All of them.
[[nodiscard]] std::vector<GroupMaker> all_groups(const Machine& machine);

}  // namespace membound::authoring
