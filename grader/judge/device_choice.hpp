// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which device a check runs on: a GPU of this machine, or the virtual GPU; or all of its GPUs.
/// Place in the chain: --device, machine -> [device_choice] -> environment of the test program.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/gpus.hpp"

namespace membound::judge {

inline constexpr const char* kDefaultModel = "h200";

/// Whether the virtual GPU is built.
[[nodiscard]] bool has_vgpu(const std::filesystem::path& build);

/// `wanted` is "", "gpu", "gpu:0,2", "vgpu" or "vgpu:MODEL". The default are the GPUs if one
/// answers, else vgpu:h200 if it is built. A MODEL is one of `membound machine list`. `no_gpu` is
/// the answer of a command that has no use for a GPU, where it would be one. At least one.
[[nodiscard]] base::Result<std::vector<Device>> choose_devices(
    const std::string& wanted, const std::filesystem::path& build,
    const std::optional<base::Error>& no_gpu = {});

/// The first of them.
[[nodiscard]] base::Result<Device> choose_device(const std::string& wanted,
                                                 const std::filesystem::path& build,
                                                 const std::optional<base::Error>& no_gpu = {});

}  // namespace membound::judge
