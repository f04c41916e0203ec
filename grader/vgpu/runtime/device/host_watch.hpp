// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Finds what the host does to pinned and managed memory while device work that was submitted, and
/// that the host has not waited for, uses it. The virtual GPU has done such work when the call that
/// submits it returns, so the program finds there what it hopes for; a GPU may not have begun.
///
/// Until the next work runs the pages that such work writes are closed to the host, and those that
/// it reads to the host's stores; the segmentation fault of a touch notes it, opens its
/// page and lets the program go on. So of each page the first touch is known. A system call with
/// such memory fails (EFAULT).
/// Place in the chain: copy_api, finish -> [host_watch] -> stream_races.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "grader/vgpu/memory/address_sets.hpp"
#include "grader/vgpu/runtime/device/stream_races.hpp"

namespace membound::vgpu::runtime {

/// What the host touched too early.
struct HostTouch {
  std::uint64_t address = 0;
  bool wrote = false;                                ///< the host
  std::string work;                                  ///< "kernel fill", "a copy"
  exec::Place place;                                 ///< in the kernel; empty for a copy or fill
  exec::AccessKind kind = exec::AccessKind::kStore;  ///< what the work does there
};

class HostWatch {
 public:
  ~HostWatch();
  /// What the host has touched since this was asked for last.
  [[nodiscard]] std::vector<HostTouch> take_touches();
  /// The runtime, and what it runs, may touch all memory from now on.
  void open();
  /// Closes what this work uses, and nothing else. Only where segmentation faults come to us.
  void close(const StreamRaces& races);
  /// Is something closed, other than what this work uses, or is something to be closed?
  [[nodiscard]] bool is_out_of_date(const StreamRaces& races) const {
    return is_closed_ ? version_ != races.version() : !races.open().empty();
  }
  /// A touch of what is closed, by a fault at `address`: noted, and its page opened. False: another
  /// fault. May be called from a signal handler.
  static bool takes_fault(std::uint64_t address, bool writes);

  struct Closed;  ///< what is closed at a time

 private:
  std::vector<std::unique_ptr<Closed>> all_;  ///< the last ones: a handler may still look at them
  std::vector<HostTouch> touches_;            ///< before something was opened
  std::uint64_t version_ = 0;                 ///< of the work
  bool is_closed_ = false;
};

}  // namespace membound::vgpu::runtime
