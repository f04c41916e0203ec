// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Control groups, of version 2 or 1, whichever this machine lets us use: one group a run, that
/// limits and counts memory and processes and counts CPU time over all the run started. Source:
/// Linux admin-guide/cgroup-v2.rst and cgroup-v1/{memory,pids,cpuacct}.rst.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"

namespace membound::jail {

/// Folders in which groups can be made. In version 2 all three are one; a controller that cannot be
/// had is empty.
struct CgroupPlaces {
  int version = 0;  ///< 2, 1, or 0: none
  std::filesystem::path memory;
  std::filesystem::path processes;
  std::filesystem::path cpu;
};

/// Where a hierarchy is mounted and which group in it is ours.
struct CgroupMount {
  int version = 0;
  std::filesystem::path mount;
  std::vector<std::string> controllers;  ///< of version 1
};

/// The cgroup mounts in the text of /proc/self/mountinfo.
[[nodiscard]] std::vector<CgroupMount> cgroup_mounts(std::string_view mountinfo);

/// Our group in the text of /proc/self/cgroup: of the hierarchy with this controller, or of
/// version 2 when it is empty. "/" when it is not listed.
[[nodiscard]] std::filesystem::path own_group(std::string_view cgroup_text,
                                              std::string_view controller);

/// The places of this machine, found by making and removing a group in each. Version 2 is taken
/// when it has memory and pids for us, else version 1. Also ends and removes groups that runs of
/// processes which are no more have left.
[[nodiscard]] CgroupPlaces find_cgroups();

/// One run's group, removed with the object; whatever still runs in it is killed first.
class Cgroup {
 public:
  /// Without any effect where `places` has no folders.
  [[nodiscard]] static base::Result<Cgroup> make(const CgroupPlaces& places,
                                                 std::size_t memory_bytes, int processes);
  Cgroup(Cgroup&&) = default;
  Cgroup& operator=(Cgroup&&) = default;
  ~Cgroup();

  /// For the child, between fork and exec: moves itself in. Safe to call there.
  [[nodiscard]] bool join() const;
  void kill_all() const;
  /// True once nothing runs in it any more.
  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::size_t peak_memory_bytes() const;
  [[nodiscard]] std::optional<double> cpu_seconds() const;
  /// How often the kernel ended a process of it for want of memory.
  [[nodiscard]] std::uint64_t memory_kills() const;
  /// How often a process could not be started because there were too many.
  [[nodiscard]] std::uint64_t refused_processes() const;

 private:
  Cgroup() = default;
  int version_ = 0;
  std::filesystem::path memory_, processes_, cpu_;  // folders of this group; may be equal or empty
  std::vector<base::Descriptor> entries_;           // open cgroup.procs files
};

}  // namespace membound::jail
