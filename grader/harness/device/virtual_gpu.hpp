// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The virtual GPU in place of a real one: its times are predicted, the same every time, and what
/// the harness can compute itself is not left to an interpreter.
/// Place in the chain: device -> [virtual_gpu] -> device_kernels, CUDA runtime, the virtual GPU's
/// own functions beside it.
#pragma once

#include <memory>
#include <string>

#include "grader/harness/device/device.hpp"

namespace membound::harness {

/// The name of the virtual GPU that the runtime stands for; empty for a real one.
[[nodiscard]] std::string virtual_gpu_name();

[[nodiscard]] std::unique_ptr<Device> make_virtual_gpu(DeviceFacts facts);

}  // namespace membound::harness
