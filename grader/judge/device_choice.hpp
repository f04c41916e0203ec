// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which device a check runs on: a GPU of this machine, or the virtual GPU.
/// Place in the chain: --device, machine -> [device] -> environment of the test program.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "grader/base/result.hpp"

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

/// The device of a run.
struct Device {
  std::string name;  ///< "gpu" or "vgpu:h200"
  std::map<std::string, std::string> environment;

  [[nodiscard]] bool is_virtual() const { return name != "gpu"; }
};

inline constexpr const char* kDefaultModel = "h200";

/// `<build>/vgpu`, the folder of the virtual GPU's libcudart.so.13.
[[nodiscard]] std::filesystem::path vgpu_folder(const std::filesystem::path& build);
/// Whether it is built.
[[nodiscard]] bool has_vgpu(const std::filesystem::path& build);

/// `wanted` is "", "gpu", "vgpu" or "vgpu:MODEL". The default is the GPU if one answers, else
/// vgpu:h200 if it is built. `root` is where the known models are listed.
[[nodiscard]] base::Result<Device> choose_device(const std::string& wanted,
                                                 const std::filesystem::path& root,
                                                 const std::filesystem::path& build);

}  // namespace membound::judge
