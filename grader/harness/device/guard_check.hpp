// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether guard zones and inputs are as they were, decided on bytes copied back from the device.
/// Place in the chain: guarded_memory -> [guard_check]. Left out: CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace membound::harness {

/// What stands in a guard zone of `size_bytes` bytes; poison.hpp says why these words. Each array
/// has a `mark` of its own, so that what lies behind one cannot be copied behind another unseen.
[[nodiscard]] std::vector<std::byte> guard_pattern(std::size_t size_bytes, std::uint16_t mark);

/// Which side of the data a guard zone lies on.
enum class Side { kBefore, kBehind };

/// Null if `zone` still holds the guard_pattern() of this mark. Else in words how many elements'
/// places were overwritten and the index of the nearest overwritten element: −1 for the one before
/// the first, `element_count` for the one behind the last.
[[nodiscard]] std::optional<std::string> zone_damage(std::span<const std::byte> zone,
                                                     std::uint16_t mark, Side side,
                                                     std::size_t element_bytes,
                                                     std::size_t element_count);

/// Null if `now` equals `before`. Else how many elements of an input changed, and the first.
[[nodiscard]] std::optional<std::string> input_damage(std::span<const std::byte> now,
                                                      std::span<const std::byte> before,
                                                      std::size_t element_bytes);

}  // namespace membound::harness
