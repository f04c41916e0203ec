// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A small picture, in characters, of which parts of an array are wrong.
/// Place in the chain: compare -> [picture]. Left out: colour, which report/ may add.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace membound::harness {

/// The state of one element.
enum class Mark : std::uint8_t { kRight, kWrong, kNeverWritten };

/// At most 16 lines of 32 characters, each for a rectangle of elements whose sides are powers of
/// two: '.' all right, 'x' partly wrong, 'X' all wrong, '-' never written. The last axis runs
/// across, all others down; a list is broken into lines. Opens with a line that explains it; every
/// line ends with a newline. `marks` holds the product of `extents` elements.
[[nodiscard]] std::string picture(std::span<const Mark> marks,
                                  std::span<const std::int64_t> extents);

}  // namespace membound::harness
