// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Little-endian numbers out of a span of bytes, never beyond its end. Internal to fatbin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace membound::fatbin {

using Bytes = std::span<const std::byte>;

/// True when [offset, offset + size) lies inside `bytes`; safe against overflow.
[[nodiscard]] inline bool has(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

/// The T at `offset`, or zero when it is not all there: callers check has() for what matters.
template <typename T>
[[nodiscard]] T read_at(Bytes bytes, std::uint64_t offset) {
  T value{};
  if (has(bytes, offset, sizeof value)) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// The characters from `offset` up to a zero byte or the end.
[[nodiscard]] inline std::string_view string_at(Bytes bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const char* const first = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {first, ::strnlen(first, bytes.size() - offset)};
}

}  // namespace membound::fatbin
