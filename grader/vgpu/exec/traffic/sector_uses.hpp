// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Does anybody use the rest of the sectors that an instruction touches, and how many warps store
/// the same bytes?
///
/// An access that leaves most of its sectors unused is a different fault where other accesses of
/// the launch want the rest (scattered lanes) and where nobody does (one member of a struct).
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "grader/vgpu/exec/state/observer.hpp"
#include "grader/vgpu/exec/traffic/l2_residency.hpp"
#include "grader/vgpu/exec/traffic/line_sampling.hpp"

namespace membound::vgpu::exec {

/// What runs of lanes that are neighbours in memory, forwards or backwards, would need if each
/// began at a sector; never more than `touched`.
[[nodiscard]] std::uint32_t run_sectors(const WarpAccess& access, std::uint32_t touched);

/// The bytes of one launch, in the lines that are sampled.
class SectorUses {
 public:
  /// What a block in flight has stored.
  class Stores {
   public:
    void add(std::uint32_t warp, std::uint64_t line, const LineBytes& bytes);
    /// Different bytes, a warp at a time; forgets them.
    [[nodiscard]] std::uint64_t take();

   private:
    struct Entry {
      std::uint64_t line;
      std::uint32_t warp;
      LineBytes bytes;
    };
    /// One entry for each warp and line.
    void join();

    std::vector<Entry> entries_;
    std::size_t joined_ = 0;
  };

  /// Sectors that one instruction touched.
  struct Sample {
    bool stores = false;
    SectorSample sectors;
  };
  /// Of one worker, by StepStats.
  using Samples = std::vector<std::unique_ptr<Sample>>;

  /// `blocks`: of the grid; `all`: all of them run. Of a sample only the times are kept.
  SectorUses(SampledLines sampled, std::uint64_t blocks, bool all)
      : sampled_lines_(std::move(sampled)), all_(all), partial_stores_(blocks) {}

  /// Which of an access's lines are sampled: a bit each.
  [[nodiscard]] std::uint32_t sampled_of(const LineSet& lines) const {
    return sampled_lines_.of(lines);
  }
  /// A load or a store of global memory with such lines.
  void see(const WarpAccess& access, std::uint32_t clock, Stores& stores, Samples& samples);
  /// Sectors of a sampled line that an SM loads.
  void loads(std::uint64_t line, std::uint32_t clock, const LoadedSectors& sectors) {
    times_.load(line, clock, sectors);
  }
  void block_ends(Stores& stores) {
    warp_bytes_.fetch_add(stores.take(), std::memory_order_relaxed);
  }

  /// Of the bytes of a sample's sectors, the share that some access of the same direction uses.
  [[nodiscard]] double used_share(const Sample& sample) const;
  /// `served`: so many of the first buckets of ReuseDistances L1 serves; `ran`: blocks.
  void add_to(counters::Counters& totals, const KeptBytes& kept, std::uint32_t served,
              std::uint64_t ran);

 private:
  SampledLines sampled_lines_;
  bool all_;
  ByteMap loaded_, stored_;
  LineTimes times_;
  PartialStores partial_stores_;
  std::atomic<std::uint64_t> warp_bytes_{0};
};

}  // namespace membound::vgpu::exec
