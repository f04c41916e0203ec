// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Arrays of a timed case on the host: what is drawn for an input, and where an output is wrong.
/// Place in the chain: timed_run, device_kernels -> [host_arrays] -> data, compare. Left out: the
/// same on a device (device/harness_kernels.cu), by the same rules.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "grader/harness/cases/timed_case.hpp"

namespace membound::harness {

/// How this input is drawn.
[[nodiscard]] Draw draw_of(const TimedBuffer& buffer, std::uint64_t seed);

/// What membound_fill_… writes for this input and seed.
[[nodiscard]] HostArray drawn(const TimedBuffer& buffer, std::uint64_t seed);

/// Compares two outputs of this form by the rule stated at Tolerance.
[[nodiscard]] Difference difference_of(const TimedBuffer& buffer, const HostArray& got,
                                       const HostArray& expected, Tolerance tolerance);

/// What a sample of a launch left in an output.
struct WrittenPart {
  Difference difference;          ///< of the elements that were written, from what is right
  std::size_t elements = 0;       ///< written
  std::string expected{}, got{};  ///< at the first wrong one, where somebody wants to know
};

/// The element whose bytes these are, as a text.
[[nodiscard]] std::string element_text(ElementType type, std::span<const std::byte> bytes);

/// Shows the runs of elements that no longer hold poison: see(first, count).
void each_written(const TimedBuffer& buffer, std::span<const std::byte> got,
                  const std::function<void(std::size_t first, std::size_t count)>& see);

/// Compares elements [first, …) of an output, all written, and adds to `part`.
void compare_written(const TimedBuffer& buffer, std::size_t first, std::span<const std::byte> got,
                     const HostArray& expected, Tolerance tolerance, WrittenPart& part);

}  // namespace membound::harness
