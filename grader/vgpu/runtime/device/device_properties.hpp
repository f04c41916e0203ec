// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the device says of itself: properties and attributes, from its machine file.
/// Place in the chain: device_api -> [device_properties] -> timing/machine.
#pragma once

#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::vgpu::runtime {

[[nodiscard]] cudaDeviceProp properties_of(const timing::Machine& machine);

/// An attribute that is not listed is 0; a number that is none is an error.
[[nodiscard]] cudaError_t attribute_of(const timing::Machine& machine, int attribute, int& value);

}  // namespace membound::vgpu::runtime
