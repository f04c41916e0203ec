// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which pieces of a program's work the results came through: what copies brought back, back to the
/// launches that wrote it, and to what these read. Pure.
/// Place in the chain: a replay's record of calls -> [data_flow] -> device_results. Left out: the
/// order of reads and writes inside one launch, which is taken to read before it writes; whether
/// what is read changes what is written.
#pragma once

#include <cstddef>
#include <vector>

#include "grader/sandbox/runner/call_record.hpp"

namespace membound::harness {

/// A call that put the device to work: only those are followed.
[[nodiscard]] inline bool has_worked(const runner::Call& call) {
  return call.succeeded() && runner::is_work(call.kind);
}

/// Who wrote what the copies brought back that are asked for, and what went into it.
struct DataFlow {
  /// Of each call that has_worked(), in order: whether anything it did came into those copies.
  std::vector<bool> arrived;
  /// What those copies took that no launch wrote, also by way of copies on the device.
  bool took_copied_in = false, took_filled = false, took_unwritten = false;
};

/// `wanted`: for each copy to the host that has worked, in order, whether it is asked for.
[[nodiscard]] DataFlow follow_data(const std::vector<runner::Call>& calls,
                                   const std::vector<bool>& wanted);

}  // namespace membound::harness
