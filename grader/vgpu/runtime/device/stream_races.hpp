// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Races between streams: two pieces of work of different streams touch one place of device memory,
/// one of them writes, not both atomically, and no event, no wait of the host and no default stream
/// orders the two. Found whatever order they ran in here.
/// Place in the chain: operation_executor, the API's waits -> [stream_races] -> report_log,
/// console_messages. Left out: branches of one graph; work that was submitted before there was a
/// second stream.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/vgpu/exec/state/launch_request.hpp"
#include "grader/vgpu/runtime/device/past.hpp"

namespace membound::vgpu::runtime {

/// A piece of work whose footprint is known.
struct TracedWork {
  std::uint64_t stream = 0;    ///< its id
  std::uint64_t number = 0;    ///< among the stream's pieces, from 1
  std::string name;            ///< "kernel fill", "a copy"
  const char* verb = nullptr;  ///< what it does to its memory, if not to read, write or change it
  exec::Footprint footprint;
  /// What of a part lies in memory of the host, and the pages there that are the array's alone.
  struct OnHost {
    std::size_t part = 0;
    std::uint64_t begin = 0, end = 0;
    std::uint64_t pages_begin = 0, pages_end = 0;
  };
  std::vector<OnHost> on_host = {};
  bool talks_to_host = false;  ///< a kernel that hands over data while it runs
};

class StreamRaces {
 public:
  /// Holds `work` against all that nothing orders before it, by `past`, and remembers it. What was
  /// found, of each pair of places once.
  [[nodiscard]] std::vector<exec::CheckReport> add(TracedWork work, const Past& past);

  /// The host has waited: all it submits from here on comes after these.
  void host_learns(const Past& past);
  /// The host has waited for everything.
  void host_knows_all() {
    if (!open_.empty()) ++version_;
    open_.clear();
  }
  [[nodiscard]] const Past& host() const { return host_; }
  /// Work of which the host does not know that it has ended.
  [[nodiscard]] const std::deque<TracedWork>& open() const { return open_; }
  /// Another one when that changes.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  /// So many are remembered of which the host does not know that they ended.
  static constexpr std::size_t kMostOpen = 256;

  Past host_;
  std::deque<TracedWork> open_;
  std::uint64_t version_ = 0;
  std::set<std::string> told_;
};

}  // namespace membound::vgpu::runtime
