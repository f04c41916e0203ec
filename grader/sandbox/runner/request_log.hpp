// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Every request of a program as its runner served it, with the bytes that went to the device and
/// came from it: enough to do the same once more without the program.
/// Place in the chain: server -> [request_log] -> harness/program/replayed_run.
///
/// The bytes of a copy are those that the device got or gave: the program, which shares the buffer
/// through which they travel, cannot change them behind the runner's back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::runner {

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
