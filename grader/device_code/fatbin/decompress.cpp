// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/decompress.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace membound::fatbin {
namespace {

/// An LZ4 block cannot unpack to more than 255 times its size and a few bytes.
constexpr std::uint64_t kLargestLz4Ratio = 255;
constexpr std::size_t kChunkBytes = std::size_t{1} << 18;

}  // namespace

std::optional<std::vector<std::byte>> unpack_lz4(std::span<const std::byte> packed,
                                                 std::uint64_t unpacked_bytes) {
  if (unpacked_bytes > LZ4_MAX_INPUT_SIZE || packed.size() > LZ4_MAX_INPUT_SIZE)
    return std::nullopt;
  if (unpacked_bytes > (packed.size() + 1) * kLargestLz4Ratio) return std::nullopt;
  std::vector<std::byte> unpacked(unpacked_bytes);
  const int bytes = LZ4_decompress_safe(
      reinterpret_cast<const char*>(packed.data()), reinterpret_cast<char*>(unpacked.data()),
      static_cast<int>(packed.size()), static_cast<int>(unpacked_bytes));
  if (bytes < 0 || static_cast<std::uint64_t>(bytes) != unpacked_bytes) return std::nullopt;
  return unpacked;
}

std::optional<std::vector<std::byte>> unpack_zstd(std::span<const std::byte> packed,
                                                  std::uint64_t unpacked_bytes) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                          &ZSTD_freeDStream);
  std::vector<std::byte> unpacked;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  ZSTD_outBuffer out{nullptr, 0, 0};
  for (;;) {
    if (out.pos == out.size) {
      // One byte of room beyond the claim tells a frame that is longer than it.
      const std::uint64_t room = std::min<std::uint64_t>(unpacked_bytes + 1, out.pos + kChunkBytes);
      if (room == out.size) return std::nullopt;
      unpacked.resize(room);
      out = {unpacked.data(), unpacked.size(), out.pos};
    }
    const std::size_t before = in.pos + out.pos;
    const std::size_t left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return std::nullopt;
    if (left == 0) break;
    if (in.pos + out.pos == before)
      return std::nullopt;  // the frame wants bytes that are not there
  }
  if (out.pos != unpacked_bytes) return std::nullopt;
  unpacked.resize(unpacked_bytes);
  return unpacked;
}

}  // namespace membound::fatbin
