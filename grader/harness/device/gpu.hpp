// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A real GPU: its times are measured and scatter, and its work is done by kernels.
/// Place in the chain: device -> [gpu] -> device_kernels, CUDA runtime.
#pragma once

#include <memory>

#include "grader/harness/device/device.hpp"

namespace membound::harness {

[[nodiscard]] std::unique_ptr<Device> make_gpu(DeviceFacts facts);

}  // namespace membound::harness
