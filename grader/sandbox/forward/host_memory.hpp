// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program's side has to know of memory: which of the host's is pinned, which addresses are
/// the device's, and which copies into pinned memory have not arrived.
/// Place in the chain: forward/*_api -> [host_memory] -> client.
///
/// A copy into pinned memory arrives when the program waits for it, and not before: who reads
/// without waiting reads what was there, as on a GPU that is still working.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grader/sandbox/forward/devices.hpp"

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
