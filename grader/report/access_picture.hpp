// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One warp-wide access as a picture: lanes × 32-byte sectors for global memory, lanes × 32 banks
/// for shared memory.
/// Place in the chain: course/kernel_profile -> [access_picture] -> dev figure, HTML page.
/// Left out: how the access costs what it costs, which came counted.
#pragma once

#include <string>
#include <vector>

#include "grader/course/kernel_profile.hpp"

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

}  // namespace membound::report
