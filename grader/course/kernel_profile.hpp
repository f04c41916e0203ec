// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the virtual GPU saw of one kernel: how it was launched, what limits it, what each source
/// line did, and, where it was traced, what one warp asked of memory. Place in the chain:
/// judge/counters_profile -> [kernel_profile] -> result, report.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace membound::course {

/// One access of one warp to memory, with what it cost; pictures are drawn from it.
struct MemoryAccess {
  std::string file, instruction;
  int line = 0;
  int ptx_line = 0;
  std::string space = "global";  ///< or "shared"
  std::string kind = "load";     ///< or "store", "atomic"
  int occurrence = 0;            ///< how often the instruction had run before
  std::uint32_t mask = 0;        ///< lanes that take part
  int bytes = 0;                 ///< a lane
  /// Of each lane: bytes from the start of the first 128-byte line touched, or of shared memory.
  std::array<std::uint64_t, 32> offsets{};
  int units = 0;  ///< sectors or wavefronts, as the counters have it
  int ideal = 0;  ///< 0: none is defined
  /// Shared memory: the wavefront, from 1 on, that serves each word of each lane.
  std::array<std::vector<int>, 32> wavefronts{};

  [[nodiscard]] bool is_shared() const { return space == "shared"; }
};

/// One lower bound of a kernel's time.
struct TimeBound {
  std::string name;  ///< "DRAM bandwidth"
  double ns = 0;
};

/// What a source line did beside accessing memory.
struct LineWork {
  std::string file;
  int line = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t branches = 0;
  std::uint64_t divergent_branches = 0;
};

/// One thing that makes a kernel slow, and what the clock predicts without it.
struct SpeedAdvice {
  std::string rule;     ///< "bank-conflicts": a row of vgpu/counters/rules.def
  std::string fault;    ///< the same in words
  double gain = 1;      ///< times as fast without it
  std::string what;     ///< "32 wavefronts a request where 1 would do"
  std::string counter;  ///< that shows it, and what it counted
  std::uint64_t value = 0;
  std::string file;  ///< the line that costs most; may be empty
  int line = 0;
  std::string remedy;            ///< what to try
  std::string handout, section;  ///< where it is explained
  std::string counted_by;        ///< "ncu" or "virtual GPU", where both counted; else empty
};

/// One kernel on the virtual GPU. Times are predicted; traffic beyond L1 is modelled.
struct KernelProfile {
  std::string name;   ///< readable, with template arguments
  std::string label;  ///< the timed case; may be empty
  int launches = 1;   ///< of this shape
  std::array<std::int64_t, 3> grid{}, block{};
  int registers = 0;
  std::int64_t shared_bytes = 0;
  int blocks_per_sm = 0;
  double occupancy = 0;  ///< resident warps over the most possible, 0 to 1
  std::string limiter;   ///< what limits it
  double predicted_ns = 0;
  std::string bound;                ///< the largest of `bounds`
  std::vector<TimeBound> bounds;    ///< largest first
  std::vector<SpeedAdvice> advice;  ///< the largest gain first
  std::uint64_t warp_instructions = 0;
  double lanes_per_instruction = 0;  ///< of 32, on average
  std::uint64_t dram_bytes = 0;
  std::vector<LineWork> lines;
  std::vector<MemoryAccess> accesses;  ///< of one warp, in the order it made them
  std::array<std::int64_t, 3> traced_block{};
  int traced_warp = 0;
  std::string traced_label;  ///< the case that was traced: a smaller one than what was timed
};

void to_json(nlohmann::json& out, const MemoryAccess& value);
void to_json(nlohmann::json& out, const TimeBound& value);
void to_json(nlohmann::json& out, const LineWork& value);
void to_json(nlohmann::json& out, const SpeedAdvice& value);
void to_json(nlohmann::json& out, const KernelProfile& value);
void from_json(const nlohmann::json& in, MemoryAccess& value);
void from_json(const nlohmann::json& in, TimeBound& value);
void from_json(const nlohmann::json& in, LineWork& value);
void from_json(const nlohmann::json& in, SpeedAdvice& value);
void from_json(const nlohmann::json& in, KernelProfile& value);

}  // namespace membound::course
