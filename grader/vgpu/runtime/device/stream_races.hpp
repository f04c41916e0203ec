// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Races between streams and with the host. Two operations of different streams race where they
/// touch one place of device memory, one of them writes, not both atomically, and no event, no wait
/// of the host and no default stream orders the two; that is found whatever order they ran in here.
/// What the host does to pinned and managed memory while an operation that it has not waited for
/// uses it is found by closing those pages: the virtual GPU has done such work when the call that
/// submits it returns, a GPU may not have begun. Left out: branches of one graph; work that was
/// submitted before there was a second stream; system calls with closed memory, which fail
/// (EFAULT).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/vgpu/exec/state/launch_request.hpp"
#include "grader/vgpu/memory/address_sets.hpp"
#include "grader/vgpu/runtime/device/graph.hpp"
#include "grader/vgpu/runtime/device/streams.hpp"

namespace membound::vgpu::runtime {

class Context;

/// An operation whose footprint is known.
struct TracedWork {
  std::uint64_t stream = 0;    ///< its id
  std::uint64_t number = 0;    ///< among the stream's operations, from 1
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

/// What the host touched too early.
struct HostTouch {
  std::uint64_t address = 0;
  bool wrote = false;                                ///< the host
  std::string work;                                  ///< "kernel fill", "a copy"
  exec::Place place;                                 ///< in the kernel; empty for a copy or fill
  exec::AccessKind kind = exec::AccessKind::kStore;  ///< what the work does there
};

/// Until the next work runs the pages that such work writes are closed to the host, and those that
/// it reads to the host's stores; the segmentation fault of a touch notes it, opens its page and
/// lets the program go on. So of each page the first touch is known.
class HostWatch {
 public:
  HostWatch();
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

/// Whether anybody asks: racecheck is on, and there is a stream beside the default one, or memory
/// that the host and the device share.
[[nodiscard]] bool traces_work(const Context& context);

/// A launch, whose footprint the launch itself fills in; a copy; a fill; memory given out or back
/// in the order of a stream, before or after which nobody may touch it.
[[nodiscard]] TracedWork traced(const KernelOperation& kernel);
[[nodiscard]] TracedWork traced(const CopyOperation& copy);
[[nodiscard]] TracedWork traced(const FillOperation& fill);
[[nodiscard]] TracedWork traced_allocation(std::uint64_t address, std::uint64_t bytes);
[[nodiscard]] TracedWork traced_free(std::uint64_t address, std::uint64_t bytes);

/// It was done in this stream: tells the races it is part of.
void trace_work(Context& context, Stream& stream, TracedWork work);

/// Tells what the host has done too early until now.
void tell_host_touches(Context& context);

/// A call of the runtime: before it, what the host has done too early is told; after it, what work
/// uses that is not waited for is watched. Work that runs opens it (HostWatch::open). Costs nothing
/// where no checker asks.
class HostMemoryAccess {
 public:
  explicit HostMemoryAccess(Context& context);
  ~HostMemoryAccess();
  HostMemoryAccess(const HostMemoryAccess&) = delete;
  HostMemoryAccess& operator=(const HostMemoryAccess&) = delete;

 private:
  Context& context_;
};

}  // namespace membound::vgpu::runtime
