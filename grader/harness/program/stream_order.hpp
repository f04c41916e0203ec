// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which work of a program must be done before which other: by the order inside a stream, by
/// events, by the default stream, by the host's waits. What only happens to come first is not
/// ordered, so the answer does not depend on times. And how long it takes if only memory orders it.
/// Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "grader/sandbox/runner/call_record.hpp"

namespace membound::harness {

/// Two calls, by their places in the record, whose work uses the same memory, one of them to write,
/// and which nothing orders.
struct Unordered {
  std::size_t earlier = 0, later = 0;
};

/// first_unordered() is fast up to so many calls, whatever they are; a lab's programs make
/// hundreds.
inline constexpr std::size_t kMostCallsFollowed = 2000;

/// The first such pair. A kernel writes what its pointer parameters point to unless they are
/// pointers to const, and reads the rest; memory is the word pointed to, so two kernels that are
/// given different places of one array do not meet.
[[nodiscard]] std::optional<Unordered> first_unordered(const std::vector<runner::Call>& calls);

/// The first copy to the host whose end the host never waited for, by its place in the record. A
/// wait for another stream does not tell, and neither does what frees memory: it waits, but nobody
/// reads after it.
[[nodiscard]] std::optional<std::size_t> first_unawaited(const std::vector<runner::Call>& calls);

/// How long the operations take, each as long as it did, if each begins as soon as those before
/// it are done that use the same memory, one of them to write, and the copies before it in its
/// direction: no streams, no host. `kernels_in_turn`: one kernel at a time, as where each of them
/// fills the device. Nothing of more than kMostCallsFollowed calls.
[[nodiscard]] std::optional<double> least_time_ns(const std::vector<runner::Call>& calls,
                                                  bool kernels_in_turn);

}  // namespace membound::harness
