// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a program asked its device for, as the runner saw it, in two forms: calls, one JSON object
/// a line, written before the call is answered, for rules about them; and requests with the bytes
/// that went to the device and came from it, enough to do the same once more without the program.
///
/// The program itself has no hand in either: the bytes of a copy are those that the device got or
/// gave, and cannot be changed through the shared buffer behind the runner's back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::runner {

/// What a call was for.
enum class CallKind {
  kNone,
  kLaunch,
  kCopyIn,   ///< host to device
  kCopyOut,  ///< device to host
  kCopyOnDevice,
  kFill,
  kAllocate,
  kFree,
  kCreateStream,
  kDestroyStream,
  kCreateEvent,
  kDestroyEvent,
  kRecordEvent,
  kStreamWaits,  ///< a stream waits for an event
  kElapsed,      ///< the time between two events was asked for
  kWaitStream,   ///< from here on the host waits
  kWaitEvent,
  kWaitDevice,
  kFreeOfHost,  ///< of pinned memory, which waits for the device
  kAskStream,   ///< the host asked whether it is done, and it was; "not yet" is not noted
  kAskEvent,
  kErrorCheck,       ///< cudaGetLastError or cudaPeekAtLastError
  kAllocateInOrder,  ///< cudaMallocAsync
  kFreeInOrder,
  kBeginCapture,
  kEndCapture,  ///< makes a graph
  kInstantiateGraph,
  kLaunchGraph,  ///< after it, with its number, the calls that were captured
  kDestroyGraph,
  kDestroyExecutable
};

/// "launch", "copy-in", …
[[nodiscard]] std::string_view to_string(CallKind kind);

/// Whether the device itself works on it, so that it has a place on the timeline.
[[nodiscard]] constexpr bool is_work(CallKind kind) {
  return kind == CallKind::kLaunch || kind == CallKind::kCopyIn || kind == CallKind::kCopyOut ||
         kind == CallKind::kCopyOnDevice || kind == CallKind::kFill;
}

/// A stretch of device memory that an operation read or wrote.
struct MemoryUse {
  static constexpr std::uint64_t kEnd = ~std::uint64_t{0};

  std::uint64_t begin = 0, end = 0;
  bool writes = false;

  /// Too many stretches to be told: it may be any memory.
  [[nodiscard]] bool is_anywhere() const { return end == kEnd; }
};

/// One call.
struct Call {
  CallKind kind = CallKind::kNone;
  int code = 0;              ///< what it returned, a cudaError_t
  bool host_waits = false;   ///< a copy that returns only when it is done
  std::uint32_t stream = 0;  ///< 0: the default one
  std::uint32_t event = 0, second_event = 0;
  std::uint64_t address = 0, bytes = 0;
  std::string kernel = {};          ///< mangled
  double start_ns = 0, end_ns = 0;  ///< when the device works on it, on the virtual clock; else 0
                                    ///< of kElapsed: from 0 to the time that the program was told
  bool non_blocking =
      false;  ///< a new stream that neither waits for the default one nor is awaited
  /// Memory that is read beside `address`: where a copy on the device comes from; of a launch what
  /// each parameter points to, 0 where that is no memory of the device's.
  std::vector<std::uint64_t> arguments = {};
  std::uint32_t graph = 0;  ///< made or destroyed; of a graph's launch and of what it does; 0: none
  /// Of a launch, where the runner was asked to follow data: what its threads read and wrote.
  std::vector<MemoryUse> uses = {};
  /// Of a launch: blocks and threads along x, y and z, and bytes of dynamic shared memory a block.
  std::array<std::uint32_t, 3> grid = {}, block = {};
  std::uint32_t shared_bytes = 0;

  [[nodiscard]] bool succeeded() const { return code == 0; }
};

/// The line of one call, with its newline.
[[nodiscard]] std::string to_line(const Call& call);
/// All calls of a record. A last line that is cut off is left out.
[[nodiscard]] base::Result<std::vector<Call>> calls_from_text(std::string_view text);

/// Appends lines to an inherited descriptor.
class CallRecorder {
 public:
  static constexpr std::size_t kMostCalls = 100000;

  explicit CallRecorder(int fd) : fd_(fd) {}
  void add(const Call& call);
  /// Whether there were more calls than anyone makes who wants to be judged by them.
  [[nodiscard]] bool is_full() const { return count_ >= kMostCalls; }

 private:
  int fd_;
  std::size_t count_ = 0;
};

/// One request. Its texts lie in the log.
struct ServedRequest {
  std::uint32_t kind = 0;              ///< protocol's number of it
  std::span<const std::byte> payload;  ///< as it came
  std::span<const std::byte> answer;   ///< as it was sent: the code, then the fields
  /// A module's code, what a copy brought to the device, or what it brought from it.
  std::span<const std::byte> copied;
};

/// Appends to an inherited descriptor.
class RequestLog {
 public:
  /// More is not kept: the programs of labs copy a tenth of it, and the judge reads all of it.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20;

  explicit RequestLog(int fd) : fd_(fd) {}
  void add(const ServedRequest& request);

 private:
  void write_all(std::span<const std::byte> bytes) const;

  int fd_;
  std::uint64_t bytes_ = 0;
  bool is_full_ = false;
};

/// What a log holds.
struct ServedRequests {
  std::vector<ServedRequest> all;
  bool is_whole = true;  ///< false: there was more than RequestLog::kMostBytes
};

/// The requests of a log, which must outlive them.
[[nodiscard]] base::Result<ServedRequests> requests_of(std::span<const std::byte> log);

}  // namespace membound::runner
