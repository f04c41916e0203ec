// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the environment asks of the virtual GPU: the seam to `membound run` and the harness.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/launch/launch.hpp"

namespace membound::vgpu::runtime {

/// Which warp's accesses go into the counters file: MEMBOUND_TRACE=x,y,z:warp:occurrences, or "on".
struct TraceSettings {
  bool on = false;
  Dim3 block{0, 0, 0};
  std::uint32_t warp = 0;
  std::uint32_t occurrences = 1;  ///< of every instruction, the first ones
};

/// What is drawn where a program or a lab's tests let it: MEMBOUND_ORDERS.
struct DrawnOrders {
  bool lanes = true;                             ///< of atomic operations
  bool warps = true;                             ///< and of blocks
  std::optional<exec::LineRange> at_lines = {};  ///< nothing: everywhere
};

/// One field per MEMBOUND_… variable; docs/counters_file.md lists them.
struct Settings {
  std::string machine_id = "h200";  ///< MEMBOUND_DEVICE=vgpu:h200
  /// MEMBOUND_MACHINE: the text of its file, where the program may not read it; else empty.
  std::string machine_text;
  std::uint32_t sm_count = 0;      ///< MEMBOUND_SMS=N: a slice of the machine; 0: all of it
  std::string counters_file = {};  ///< MEMBOUND_COUNTERS=FILE.json; empty: none is written
  exec::Checks checks = {};        ///< MEMBOUND_CHECK=all|none|memcheck,racecheck,…
                                   ///< and MEMBOUND_CHECK_BLOCKS=N of a launch, at most
  bool checked_layout = false;     ///< MEMBOUND_LAYOUT=checked: memory as memcheck lays it out
  exec::Scheduling scheduling = exec::Scheduling::kIndependent;  ///< MEMBOUND_SCHEDULING
  std::optional<std::uint64_t> shuffle_seed = {};                ///< MEMBOUND_SHUFFLE=SEED
  DrawnOrders orders = {};  ///< MEMBOUND_ORDERS=all|none|lanes|warps|lanes:LINE|lanes:FIRST-LAST|…
  std::uint64_t step_limit = 0;   ///< MEMBOUND_STEP_LIMIT=N warp instructions a launch
  std::string opcodes_file = {};  ///< MEMBOUND_OPCODES=FILE: what was executed, for our own tests
  std::uint32_t workers = 0;      ///< MEMBOUND_WORKERS=N threads a launch; 0: one a processor
  bool model_caches = true;       ///< MEMBOUND_CACHES=off: no L1/L2/DRAM figures, faster
  TraceSettings trace = {};       ///< MEMBOUND_TRACE
  bool tell_work = false;         ///< MEMBOUND_WORK=on: what the blocks did, for another clock
  bool summary = false;           ///< MEMBOUND_SUMMARY=on: what kernels took, at the end; and exit
                                  ///< code 1 instead of 0 where a checker found something
};

/// Reads one variable; empty when it is not set.
using Environment = std::function<std::string(const char* name)>;

/// Every variable, or the first one that makes no sense.
[[nodiscard]] base::Result<Settings> read_settings(const Environment& environment);

}  // namespace membound::vgpu::runtime
