// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a warp asks of memory as pictures: one access, lanes × 32-byte sectors for global
/// memory or lanes × 32 banks for shared memory; and access after access, a picture that holds
/// every step and a script that plays it. How an access costs what it costs came counted.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab_result.hpp"

namespace membound::report {

/// A sector that the warp touches.
struct SectorUse {
  std::uint64_t offset = 0;  ///< in bytes, from where MemoryAccess::offsets count
  std::vector<int> lanes;    ///< that touch it
  int bytes_used = 0;        ///< of 32, by any lane
  int visits = 1;            ///< of an atomic: how often its most wanted word is wanted
};

/// The sectors of a global access in the order of their addresses. For loads and stores there are
/// as many as the counters say; for atomics the visits add up to that.
[[nodiscard]] std::vector<SectorUse> sectors_of(const course::MemoryAccess& access);

/// "32 sectors per request, ideal 4": the counted numbers in words, without a full stop.
[[nodiscard]] std::string cost_in_words(const course::MemoryAccess& access);

/// The picture, 700 pixels wide. `title` says what is shown ("03-transpose, stage 1, line 40"),
/// `where` which of the many ("block (0, 0, 0), warp 0"). With `standalone` a file of its own.
[[nodiscard]] std::string draw_access(const course::MemoryAccess& access, const std::string& title,
                                      const std::string& where, bool standalone = true);

// Without the script, and on paper, the picture of all steps shows the dearest one.

/// The picture, 700 pixels wide: the sectors of global memory above a row of lanes, the banks
/// of shared memory below it, and a line for each word. Steps are the accesses in their order;
/// those of shared memory have a turn for each wavefront. At least one access is needed. `title`,
/// `where` and `standalone` as for draw_access().
[[nodiscard]] std::string draw_steps(const std::vector<course::MemoryAccess>& accesses,
                                     const std::string& title, const std::string& where,
                                     bool standalone = true);

/// The same accesses to global memory below each other, as a picture that moves by itself: lane by
/// lane a warp asks for its bytes, and the sectors that hold them light up. It needs no script. On
/// paper, and for those who want less motion, it shows everything at once. `title`, `where` and
/// `standalone` as for draw_access().
[[nodiscard]] std::string draw_moving(const std::vector<course::MemoryAccess>& accesses,
                                      const std::string& title, const std::string& where,
                                      bool standalone = true);

/// What one warp asked of memory, in order, under one scheduling of its lanes.
struct ScheduledRun {
  std::vector<course::MemoryAccess> accesses;
  bool never_ends = false;  ///< the kernel was stopped where the accesses end
};

/// The same warp under both schedulings side by side, as a picture that moves by itself: in each
/// row the half of the warp that goes on, and its line. Accesses of one line that follow each other
/// are one row; of each run the first `most_steps` rows. `source` has the lines by their numbers.
/// On paper, and for those who want less motion, all rows are there at once. `title`, `where` and
/// `standalone` as for draw_access().
[[nodiscard]] std::string draw_schedulings(const ScheduledRun& lockstep,
                                           const ScheduledRun& independent,
                                           const std::map<int, std::string>& source,
                                           std::size_t most_steps, const std::string& title,
                                           const std::string& where, bool standalone = true);

/// Whether `svg` was made by draw_steps().
[[nodiscard]] bool has_steps(std::string_view svg);

/// An element that gives every such picture of its page the buttons back, play, step and loop.
[[nodiscard]] std::string steps_script();

}  // namespace membound::report
