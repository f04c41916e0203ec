// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The GPUs of this machine, as its driver tells of them, and those of them that a command line
/// means. Place in the chain: driver -> [gpus] -> device_choice.
#pragma once

#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/judge/check_device.hpp"

namespace membound::judge {

/// One GPU that this process may use.
struct GpuFacts {
  std::string name;                ///< "NVIDIA H200"
  std::string uuid;                ///< "GPU-8f2c…": names it in every process; may be empty
  int number = -1;                 ///< N of /dev/nvidiaN; -1: not known
  bool is_one_of_several = false;  ///< and must be named to be used alone
};

/// What asking the NVIDIA driver gave.
struct GpuAnswer {
  bool answers = false;
  std::vector<GpuFacts> gpus;  ///< in the driver's order; at least one where it answers
  std::string driver;          ///< newest CUDA version the driver supports: "13.0"
  std::string problem;         ///< why there is none
};

/// Asks the driver, through its library; quick where there is no NVIDIA device file.
[[nodiscard]] GpuAnswer ask_gpu();

/// The GPUs that `wanted` means: all for "gpu", the first and the third for "gpu:0,2".
[[nodiscard]] base::Result<std::vector<GpuFacts>> chosen_gpus(const std::string& wanted,
                                                              const std::vector<GpuFacts>& gpus);

/// A device for each.
[[nodiscard]] std::vector<Device> devices_of(const std::vector<GpuFacts>& gpus);

}  // namespace membound::judge
