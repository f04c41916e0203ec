// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The two builds of the handlers, and which of them runs on this processor.
/// Place in the chain: [variant] -> launch/prepare, observe/race_checker.
#pragma once

#include <cstdint>

namespace membound::vgpu::exec {

/// Which variant of the handlers runs: the best this processor has, or, where the environment says
/// MEMBOUND_HANDLERS=generic, the one for every x86-64.
enum class Variant : std::uint8_t { kGeneric, kAvx2 };
[[nodiscard]] Variant best_variant();

}  // namespace membound::vgpu::exec
