// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One warp-wide access to shared memory -> how many passes ("wavefronts") through the 32 banks.
/// Place in the chain: exec -> [shared_banks] -> counters.
///
/// A bank hands out one 4-byte word a pass, to however many lanes want that word. Up to 4 bytes a
/// lane the warp goes through as one; with 8 bytes as two halves, with 16 as four quarters. Loads
/// whose neighbouring lanes (n, n^1) read the same address travel twice as many lanes at a time;
/// stores never do.
/// Source: probe kernels measured on an H200 (grader/tests/data/h200_probe.csv), all rows exact.
#pragma once

#include <cstdint>

namespace membound::vgpu::memory {

/// Passes taken, and passes without any bank conflict.
struct Wavefronts {
  std::uint32_t taken = 0;
  std::uint32_t ideal = 0;
};

/// `offsets` are byte offsets in shared memory of the lanes in `mask`; `bytes` is 1 … 16 a lane.
[[nodiscard]] Wavefronts shared_wavefronts(const std::uint32_t* offsets, std::uint32_t mask,
                                           std::uint32_t bytes, bool is_load);

/// Passes of an atomic: one for every time the most wanted word of a bank is wanted, added up over
/// the distinct words of that bank (the hardware locks a word at a time). A model.
[[nodiscard]] Wavefronts shared_atomic_wavefronts(const std::uint32_t* offsets, std::uint32_t mask,
                                                  std::uint32_t bytes);

}  // namespace membound::vgpu::memory
