// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the forwarding runtime remembers on the program's side: its devices, the handles it gave
/// out, which memory of the host is pinned, and which copies into it have not arrived.
///
/// There is one device per runner, in the order of the sockets named by MEMBOUND_REMOTE_SOCKETS
/// ("7,8": device 0 on descriptor 7, device 1 on 8). Handles carry their device: a kernel of the
/// reference can never be launched on the student's runner. A copy into pinned memory arrives when
/// the program waits for it, and not before: who reads without waiting reads what was there, as on
/// a GPU still at work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

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

namespace membound::forward {

/// Memory of the program that counts as pinned; null where there is none left.
[[nodiscard]] void* allocate_pinned(std::size_t bytes);
/// False for memory that allocate_pinned() did not give.
[[nodiscard]] bool free_pinned(void* data);
/// The program's own memory; false where it meets what is pinned already.
[[nodiscard]] bool pin(void* data, std::size_t bytes);
[[nodiscard]] bool unpin(void* data);
[[nodiscard]] bool is_pinned(const void* data, std::size_t bytes);

void remember_device_memory(const void* data, std::size_t bytes);
void forget_device_memory(const void* data);
/// Of the current device's allocation that begins there; 0 where none does.
[[nodiscard]] std::size_t device_memory_bytes(const void* data);
/// What cudaMalloc() gave and nobody freed.
[[nodiscard]] std::vector<void*> device_memory();
/// A variable of the device: known for its address, never freed.
void remember_variable(const void* data, std::size_t bytes);
/// What cudaMemcpyDefault means for these two; any other kind as it is.
[[nodiscard]] cudaMemcpyKind direction_of(const void* to, const void* from, cudaMemcpyKind kind);

/// A copy in stream order to host memory: now, or begun where the memory is pinned.
[[nodiscard]] std::int32_t copy_to_host(Connection& runner, void* to, std::uint64_t from,
                                        std::size_t bytes, std::uint32_t stream);
/// After a call that waited with `code`: takes the copies that are done by now. Returns `code`.
std::int32_t delivered(Connection& runner, std::int32_t code);

}  // namespace membound::forward
