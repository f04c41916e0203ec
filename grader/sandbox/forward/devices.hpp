// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The devices that a program linked to the forwarding runtime sees: one per runner, in the order
/// of the sockets named by MEMBOUND_REMOTE_SOCKETS ("7,8": device 0 on descriptor 7, device 1 on
/// 8). A runner is spoken to from the first call that needs it on.
/// Place in the chain: forward/*_api.cpp -> [devices] -> client.
///
/// Handles carry their device: a kernel of the reference can never be launched on the student's
/// runner, whatever device is current.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "grader/sandbox/runner/client.hpp"

namespace membound::forward {

using namespace runner;  // every line here speaks its protocol

struct ForwardLibrary;

/// What a cudaKernel_t points to.
struct ForwardKernel {
  ForwardLibrary* library;
  std::uint32_t number;
  KernelInfo info;
};

/// What a cudaLibrary_t points to.
struct ForwardLibrary {
  int device;
  std::uint32_t module;
  std::vector<std::unique_ptr<ForwardKernel>> kernels;
};

/// What a cudaStream_t points to, but for the default one, which is null.
struct ForwardStream {
  int device;
  std::uint32_t number;
};

/// What a cudaEvent_t points to.
struct ForwardEvent {
  int device;
  std::uint32_t number;
};

/// The number of devices.
[[nodiscard]] int device_count();
/// The calling thread's current device, as cudaSetDevice chose it.
[[nodiscard]] int& current_device();
/// The runner of that device; null, with problem_of() telling why, when it cannot be had.
[[nodiscard]] Connection* connection(int device);
/// The same for the current device.
[[nodiscard]] Connection* connection();
/// What became of the runner; empty while all is well.
[[nodiscard]] std::string problem_of(int device);

/// Keeps the code for cudaGetLastError() and returns it.
cudaError_t remember(cudaError_t code);
inline cudaError_t remember(std::int32_t code) { return remember(static_cast<cudaError_t>(code)); }
/// The calling thread's last error.
[[nodiscard]] cudaError_t& last_error();

/// Sends a module's code and fills in what it holds.
[[nodiscard]] std::int32_t load_library(Connection& runner, std::span<const std::byte> code,
                                        std::unique_ptr<ForwardLibrary>& out);
/// The kernel behind a handle: of a library, or the host function that nvcc made for a kernel of
/// the program itself, whose code is then sent if it was not yet. Null with a code that says why.
[[nodiscard]] const ForwardKernel* find_kernel(const void* function, std::int32_t& code);
/// Where the variable is for which nvcc's host variable `symbol` stands; the code of an error.
[[nodiscard]] std::int32_t find_variable(const void* symbol, VariableAnswer& out);
/// The number of a stream; false for cudaStreamPerThread, which is not forwarded.
[[nodiscard]] bool stream_number(cudaStream_t handle, std::uint32_t& out);

/// Calls `body` with the current device's runner.
template <typename Body>
cudaError_t with_runner(Body body) {
  Connection* runner = connection();
  return remember(runner == nullptr ? kDisconnected : static_cast<std::int32_t>(body(*runner)));
}
/// Calls `body` with that device's runner.
template <typename Body>
cudaError_t with_runner(int device, Body body) {
  Connection* runner = connection(device);
  return remember(runner == nullptr ? kDisconnected : static_cast<std::int32_t>(body(*runner)));
}

}  // namespace membound::forward

/// An exported function of the CUDA runtime.
#define FORWARD_EXPORT extern "C" __attribute__((visibility("default")))
