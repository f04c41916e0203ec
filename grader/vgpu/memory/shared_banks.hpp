// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One warp-wide access to shared memory -> how many passes ("wavefronts") through the 32 banks.
///
/// A bank hands out one 4-byte word a pass, to however many lanes want that word. Up to 4 bytes a
/// lane the warp goes through as one; with 8 bytes as two halves, with 16 as four quarters. Loads
/// travel twice as many lanes at a time where all partners (n, n^1), or all partners (n, n^2), read
/// the same address; stores never do. Source: kernels measured on an H200
/// (grader/gpu_truth/data/h200_probe.csv, h200_profiler.csv, h200_shared_loads.csv). One case is
/// not settled: loads of 8 and 16 bytes of which some lanes are switched off, which may take a pass
/// or two more or less; see docs/counters.md.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace membound::vgpu::memory {

/// Passes taken; what the active lanes' bytes would fill, never more than taken; distinct bytes.
struct Wavefronts {
  std::uint32_t taken = 0;
  std::uint32_t ideal = 0;
  std::uint32_t bytes = 0;
};

/// `offsets` are byte offsets in shared memory of the lanes in `mask`; `bytes` is 1 … 16 a lane.
[[nodiscard]] Wavefronts shared_wavefronts(const std::uint32_t* offsets, std::uint32_t mask,
                                           std::uint32_t bytes, bool is_load);

/// The passes alone that a load takes; of global memory, too, whose banks in L1 are the same.
[[nodiscard]] std::uint32_t bank_passes(const std::uint32_t* offsets, std::uint32_t mask,
                                        std::uint32_t bytes);

/// What an access of all 32 lanes took whose offsets, multiples of 4, lie so far from the first
/// one's. Wherever that one lies, the next takes as much: the banks only turn.
struct KnownPattern {
  std::array<std::uint32_t, 32> apart{};
  std::uint32_t bytes = 0;  ///< a lane; 0: nothing is known yet
  bool is_load = false;
  Wavefronts cost;
};

/// The lanes that go through the banks together, one mask for each turn of the warp, in order.
[[nodiscard]] std::vector<std::uint32_t> shared_passes(const std::uint32_t* offsets,
                                                       std::uint32_t mask, std::uint32_t bytes,
                                                       bool is_load);

/// Passes of an atomic the hardware has: as often as the busiest bank is wanted, by lanes, also
/// where they want one word. A compare-and-swap takes each pass twice.
[[nodiscard]] Wavefronts shared_atomic_wavefronts(const std::uint32_t* offsets, std::uint32_t mask,
                                                  std::uint32_t bytes, bool swaps);

/// An atomic the hardware makes of a loop: load, compute, compare-and-swap, until every lane had
/// its turn; in one turn each bank serves one lane. What other warps do between is left out.
struct AtomicLoop {
  std::uint32_t turns = 0;
  Wavefronts loads;  ///< of all turns
  Wavefronts swaps;
};
[[nodiscard]] AtomicLoop shared_atomic_loop(const std::uint32_t* offsets, std::uint32_t mask,
                                            std::uint32_t bytes);

}  // namespace membound::vgpu::memory
