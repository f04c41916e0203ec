// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the device says of itself: properties and attributes, from its machine file; what a launch
/// may ask for, and what is said where it asks for more: which limit, and what was asked.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::vgpu::runtime {

[[nodiscard]] cudaDeviceProp properties_of(const timing::Machine& machine);

/// An attribute that is not listed is 0; a number that is none is an error.
[[nodiscard]] cudaError_t attribute_of(const timing::Machine& machine, int attribute, int& value);

/// Registers of a warp, as they are given out.
[[nodiscard]] std::uint32_t registers_of_warp(const program::Kernel& kernel);
/// Dynamic shared memory a launch of this kernel may ask for.
[[nodiscard]] std::uint32_t max_dynamic_shared_bytes(const Context& context,
                                                     const KernelHandle& handle);
/// Threads a block of it may have: the launch bound, and the registers there are.
[[nodiscard]] std::uint32_t max_threads_per_block(const Context& context,
                                                  const program::Kernel& kernel);

/// Whether the program asked for libcudart.so.12, whose runtime looks at shapes itself and calls a
/// bad one cudaErrorInvalidConfiguration. That of CUDA 13 passes on the driver's
/// cudaErrorInvalidValue.
extern std::atomic<bool> serves_cuda12;

/// A launch that the runtime does not make.
struct RefusedLaunch {
  cudaError_t code = cudaErrorInvalidValue;
  std::string why;  ///< "a block of 32 x 32 x 2 has 2048 threads; the limit is 1024"
};

/// What a launch asks for. `dynamic_shared_bytes` is what a driver is given: it takes 32 bits, and
/// a runtime hands it the lowest ones of what the program asked for, so that 2^32 bytes are none.
struct LaunchConfiguration {
  dim3 grid = {1, 1, 1};
  dim3 block = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;
};

/// The runtime's own checks, with its codes; nothing where the launch can be made.
[[nodiscard]] std::optional<RefusedLaunch> refused_launch(const Context& context,
                                                          const KernelHandle& handle,
                                                          const LaunchConfiguration& launch);

}  // namespace membound::vgpu::runtime
