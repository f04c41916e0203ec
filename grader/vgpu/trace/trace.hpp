// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What one warp asked of memory, for pictures: the accesses in order, and which wavefront serves
/// which word of a shared access.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grader/vgpu/exec/state/launch_request.hpp"

namespace membound::vgpu::trace {

/// For each of 32 lanes the wavefront, from 1 on, of each word it wants; nothing for lanes that do
/// not take part.
using LaneWavefronts = std::array<std::vector<std::uint32_t>, 32>;

/// Lanes of one pass that want the same word are served together; the different words of one bank
/// one after the other, in the order of the lanes. The largest
/// number that appears is what the counters say.
[[nodiscard]] LaneWavefronts assign_wavefronts(const std::uint64_t* offsets, std::uint32_t mask,
                                               std::uint32_t bytes, exec::AccessKind kind);

/// One access of one warp. Costs are those that the counters got for it.
struct TracedAccess {
  std::string file, instruction;
  std::uint32_t line = 0, ptx_line = 0;
  bool shared = false;  ///< shared memory, else global
  exec::AccessKind kind = exec::AccessKind::kLoad;
  std::uint32_t occurrence = 0;  ///< how often this instruction had run before
  std::uint32_t mask = 0;
  std::uint32_t bytes = 0;  ///< a lane
  /// Of each lane: bytes from the start of the first 128-byte line touched, or of shared memory.
  std::array<std::uint64_t, 32> offsets{};
  std::uint32_t units = 0;    ///< sectors, or wavefronts
  std::uint32_t ideal = 0;    ///< 0: none is defined
  LaneWavefronts wavefronts;  ///< shared memory only
};

/// Keeps the first accesses of every instruction.
class Trace : public exec::AccessListener {
 public:
  /// `occurrences` of each instruction are kept, and no more than 4096 accesses in all.
  explicit Trace(std::uint32_t occurrences) : occurrences_(occurrences) {}

  void on_access(const exec::AccessEvent& event) override;
  [[nodiscard]] const std::vector<TracedAccess>& accesses() const { return accesses_; }

 private:
  std::uint32_t occurrences_;
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> seen_;  // by PTX line and space
  std::vector<TracedAccess> accesses_;
};

/// A JSON array as docs/counters_file.md describes it.
[[nodiscard]] std::string to_json(const std::vector<TracedAccess>& accesses);

}  // namespace membound::vgpu::trace
