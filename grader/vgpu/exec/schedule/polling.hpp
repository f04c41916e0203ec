// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Has a warp that spins come any further since its last turn?
#pragma once

#include <cstddef>

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// A digest of where the running group spins: its step, the addresses at which its loop asks for
/// what others write, and the registers that the loop leaves as they are. While nothing has come
/// that the group waits for it stays the same, whatever is read meanwhile. One that goes on from
/// word to word, or waits again for something else, has another one.
[[nodiscard]] std::size_t polling_digest(const Warp& warp);

}  // namespace membound::vgpu::exec
