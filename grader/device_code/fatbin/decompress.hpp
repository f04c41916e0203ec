// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Unpacks one payload of a fat binary. Internal to fatbin. The formats come from liblz4 and
/// libzstd; only the limits are ours: memory grows with what is really unpacked, never with what a
/// damaged header claims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace membound::fatbin {

/// One LZ4 block of exactly `unpacked_bytes`; nothing when it is damaged.
[[nodiscard]] std::optional<std::vector<std::byte>> unpack_lz4(std::span<const std::byte> packed,
                                                               std::uint64_t unpacked_bytes);

/// One ZSTD frame of exactly `unpacked_bytes`; nothing when it is damaged.
[[nodiscard]] std::optional<std::vector<std::byte>> unpack_zstd(std::span<const std::byte> packed,
                                                                std::uint64_t unpacked_bytes);

}  // namespace membound::fatbin
