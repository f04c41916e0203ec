// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a GPU's generation is called, by its compute capability.
/// Place in the chain: measurement, machine files -> [gpu_generation] -> compare, machine list.
#pragma once

#include <string>
#include <string_view>

namespace membound::course {

/// "Kepler" for 3.7, "Ada" for 8.9; "compute 42.0" for one that has no name here.
[[nodiscard]] std::string gpu_generation(int major, int minor);

/// The same from text, "8.9"; empty where that is no capability.
[[nodiscard]] std::string gpu_generation(std::string_view compute_capability);

}  // namespace membound::course
