// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One warp-wide access to global memory -> how many 32-byte sectors and 128-byte lines it touches.
///
/// Few sectors: the access is coalesced. Many: it is not. Order between lanes plays no part.
/// Source: kernels measured on an H200 (grader/gpu_truth/data/h200_probe.csv, h200_profiler.csv):
/// sectors, tag requests, ideal sectors and bytes equal the profiler's metrics on every row.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace membound::vgpu::memory {

inline constexpr std::uint32_t kSectorBytes = 32;
inline constexpr std::uint32_t kLineBytes = 128;
inline constexpr std::uint32_t kLanes = 32;
/// How many sectors of a line, a bit each.
[[nodiscard]] constexpr std::uint32_t sectors_in(std::uint32_t sectors) {
  return static_cast<std::uint32_t>(0x4332322132212110u >> (4 * sectors) & 15);
}

/// What one request costs.
struct Coalesced {
  std::uint32_t sectors = 0;
  std::uint32_t lines = 0;  ///< tag requests
  /// What the active lanes' bytes would fill, never more than the sectors touched.
  std::uint32_t ideal_sectors = 0;
  std::uint32_t bytes = 0;  ///< distinct ones
};

/// Lanes that are neighbours in memory: `lanes` accesses of `bytes` from `first` on, in order.
[[nodiscard, gnu::always_inline]] constexpr Coalesced coalesce_contiguous(std::uint64_t first,
                                                                          std::uint32_t lanes,
                                                                          std::uint32_t bytes) {
  const std::uint64_t last = first + std::uint64_t{lanes} * bytes - 1;
  return {static_cast<std::uint32_t>(last / kSectorBytes - first / kSectorBytes + 1),
          static_cast<std::uint32_t>(last / kLineBytes - first / kLineBytes + 1),
          (lanes * bytes + kSectorBytes - 1) / kSectorBytes, lanes * bytes};
}

/// Ideal sectors of `lanes` accesses that touch `sectors`.
[[nodiscard, gnu::always_inline]] constexpr std::uint32_t ideal_sectors(std::uint32_t sectors,
                                                                        std::uint32_t lanes,
                                                                        std::uint32_t bytes) {
  const std::uint32_t filled = (lanes * bytes + kSectorBytes - 1) / kSectorBytes;
  return filled < sectors ? filled : sectors;
}

/// Any pattern. An access is aligned to its size and at most 32 bytes, so it lies in one sector.
[[nodiscard]] Coalesced coalesce(const std::uint64_t* addresses, std::uint32_t mask,
                                 std::uint32_t bytes);

/// Which of the four lookups of a clock a line of 128 bytes (address / 128) needs: L1 finds lines
/// of different banks together. Two bits, each the parity of some bits of the line's number, found
/// with pairs of lines up to 16 GiB apart on an H200 (gpu_truth/clock/l1_banks.cu).
[[nodiscard]] constexpr std::uint32_t tag_bank(std::uint64_t line) {
  constexpr std::uint64_t kLow = 0x355AF6F, kHigh = 0x5EF7AB5;
  return static_cast<std::uint32_t>(std::popcount(line & kLow) & 1) |
         static_cast<std::uint32_t>(std::popcount(line & kHigh) & 1) << 1;
}

/// Clocks that L1 takes for a load of global memory when it holds what is wanted: as many as the
/// most lines in one tag bank, as the passes through the 32 data banks, which are those of shared
/// memory, or as it takes to hand 128 bytes a clock to the lanes, whichever is most. So it was
/// for each of 348 loads of 1 to 16 bytes a lane (gpu_truth/data/l1_banks_h200.csv). `origin`, the
/// first byte of a line, is where lines are counted from: on a GPU 0.
[[nodiscard]] std::uint32_t load_passes(const std::uint64_t* addresses, std::uint32_t mask,
                                        std::uint32_t bytes, std::uint64_t origin);
/// An origin that depends on the lanes alone, so that no time depends on where an array lies: the
/// first byte of the lowest line. Where that is a multiple of all that the lanes span, the passes
/// are a GPU's; elsewhere lines fall into other banks, as they do in another array.
[[nodiscard]] std::uint64_t lowest_line(const std::uint64_t* addresses, std::uint32_t mask);
/// The same of 32 lanes that are neighbours in memory.
[[nodiscard, gnu::always_inline]] constexpr std::uint32_t contiguous_load_passes(
    std::uint32_t bytes) {
  return bytes <= 4 ? 1 : bytes / 4;
}

/// What the lanes of a store fill.
struct StoredSectors {
  std::uint32_t partial = 0;          ///< sectors of which they do not write every byte
  std::uint32_t lines = 0;            ///< they touch
  std::uint32_t bytes = 0;            ///< distinct
  std::uint64_t lowest = 0, end = 0;  ///< the first byte, and the one past the last
};
[[nodiscard]] StoredSectors stored_sectors(const std::uint64_t* addresses, std::uint32_t mask,
                                           std::uint32_t bytes);

/// Sectors that reach L2 whole though a warp stores them word by word: L1 holds a sector until the
/// warp's next stores have filled it, unless the warp loads or comes to a barrier between. How
/// often depends on how many stores there are and how many lines each of them touches
/// (store_neighbours of gpu_truth/clock, sectors that Nsight Compute counts after L1).
class WriteCombiner {
 public:
  /// What the burst fills with this store; mostly nothing.
  struct Filled {
    std::uint32_t sectors = 0;   ///< that its stores, this among them, wrote in part
    std::uint32_t combined = 0;  ///< of these, those that L2 does not see
  };
  Filled add(const StoredSectors& store);
  void load() {
    stores_ = 0;
    loaded_ = true;
  }
  void barrier() { stores_ = 0; }
  void start_block() { *this = {}; }

 private:
  std::uint64_t first_ = 0, places_ = 0;  ///< where the first store begins; where others do
  std::uint64_t begin_ = 0, end_ = 0;     ///< of all of them
  std::uint32_t stores_ = 0, bytes_ = 0, partial_ = 0, lines_ = 0;
  bool loaded_ = false;
};

/// Sectors of an atomic or a reduction: a sector is visited once for every time its most wanted
/// word is wanted. A model where lanes are scattered over many lines: the hardware takes such a
/// request apart in passes, by lines, and may then visit a sector once more.
[[nodiscard]] std::uint32_t atomic_sectors(const std::uint64_t* addresses, std::uint32_t mask);

/// The same sector by sector.
struct SectorTurns {
  std::uint64_t sector = 0;  ///< address / 32
  std::uint32_t turns = 0;
};
/// How many there are; the first of `out`, in order.
std::uint32_t atomic_turns(const std::uint64_t* addresses, std::uint32_t mask,
                           std::array<SectorTurns, kLanes>& out);

/// An atomic of 16 bits that the hardware makes of a loop: load the word, compute, compare-and-swap
/// it, until every lane had its turn; of the lanes that want one word, the first comes through, and
/// the others try again. What other warps do between is left out.
struct WordLoop {
  std::uint32_t turns = 0;
  Coalesced load;
  Coalesced swaps;                 ///< of all turns
  std::uint32_t swap_sectors = 0;  ///< atomic_sectors() of all turns
};
[[nodiscard]] WordLoop atomic_word_loop(const std::uint64_t* addresses, std::uint32_t mask);

/// Number of distinct addresses over the active lanes.
[[nodiscard]] std::uint32_t distinct_addresses(const std::uint64_t* addresses, std::uint32_t mask);

}  // namespace membound::vgpu::memory
