// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device and compiler of a check on this machine, and the request that follows from them.
/// Place in the chain: options of check, watch, dev check -> [tools] -> judge.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/check_request.hpp"
#include "grader/judge/device_choice.hpp"

namespace membound::judge {

/// Options of a check as the command line gives them.
struct CheckOptions {
  std::string device;      ///< "" = the GPU if one answers, else the virtual GPU
  std::string compiler;    ///< "" = nvcc, or clang where there is none and the device is virtual
  std::string submission;  ///< another kernel.cu; empty: the lab's
  std::uint64_t seed = 1;
  std::string test;    ///< only this one of each stage; empty: all
  std::string size;    ///< what is timed, like 2048x1024; empty: the lab's
  bool trace = false;  ///< keep what one warp asks of memory, for pictures: Looks::for_pictures
  std::optional<base::Error> no_gpu = {};  ///< see choose_device()
  /// "gpu" is a cluster node's, which is asked there: this machine may have none.
  bool gpu_is_elsewhere = false;
};

/// Device and compiler that the options lead to on this machine.
struct Tools {
  Device device;
  compilers::CompilerInfo compiler;
  std::optional<compilers::CompilerInfo> second_compiler = {};  ///< --compiler both
  std::vector<Device> all_devices = {};  ///< that the options name; `device` is the first
};
[[nodiscard]] base::Result<Tools> choose_tools(const Workplace& place, const CheckOptions& options);

/// The request for one lab.
[[nodiscard]] CheckRequest request_for(const Workplace& place, const Tools& tools,
                                       const CheckOptions& options,
                                       const course::Selection& selection,
                                       const std::atomic<bool>* stop);

}  // namespace membound::judge
