// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which device a check runs on: a GPU of this machine, or the virtual GPU.
/// Place in the chain: --device, machine -> [device] -> environment of the test program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "grader/base/result.hpp"
#include "grader/judge/check_device.hpp"

namespace membound::judge {

/// What asking the NVIDIA driver gave.
struct GpuAnswer {
  bool answers = false;
  std::string name;     ///< of the first GPU
  std::string driver;   ///< newest CUDA version the driver supports: "13.0"
  std::string problem;  ///< why there is none
};

/// Asks the driver, through its library; quick where there is no NVIDIA device file.
[[nodiscard]] GpuAnswer ask_gpu();

inline constexpr const char* kDefaultModel = "h200";

/// Whether the virtual GPU is built.
[[nodiscard]] bool has_vgpu(const std::filesystem::path& build);

/// `wanted` is "", "gpu", "vgpu" or "vgpu:MODEL". The default is the GPU if one answers, else
/// vgpu:h200 if it is built. A MODEL is one of `membound machine list`. `no_gpu` is the answer of a
/// command that has no use for a GPU, where it would be one.
[[nodiscard]] base::Result<Device> choose_device(const std::string& wanted,
                                                 const std::filesystem::path& build,
                                                 const std::optional<base::Error>& no_gpu = {});

}  // namespace membound::judge
