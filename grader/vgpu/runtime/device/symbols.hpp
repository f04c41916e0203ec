// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// From the host address of a __device__ or __constant__ variable to where it lies on the device.
/// Place in the chain: symbol calls -> [symbols] -> host_registry, modules.
#pragma once

#include "grader/vgpu/runtime/device/context.hpp"

namespace membound::vgpu::runtime {

/// The device address of `bytes` bytes from `offset` on; a range that leaves the variable is an
/// invalid value, an address nobody registered an invalid symbol.
cudaError_t symbol_range(Context& context, const void* symbol, std::size_t offset,
                         std::size_t bytes, std::uint64_t& address);
/// The variable's size.
cudaError_t symbol_size(Context& context, const void* symbol, std::size_t& bytes);

}  // namespace membound::vgpu::runtime
