// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The compiled reference answers of a lab, as contestants.
/// Place in the chain: groups -> [answers] -> harness. Left out: which sizes, which peers (groups).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "grader/authoring/bench/contest.hpp"
#include "grader/course/lab.hpp"
#include "grader/harness/device/launcher.hpp"
#include "grader/harness/device/submission.hpp"

namespace membound::authoring {

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

}  // namespace membound::authoring
