// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/drawn_array.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace membound::vgpu::memory {

DrawnArray::DrawnArray(std::byte* host, std::uint64_t bytes, ByteSource source)
    : host_(host),
      bytes_(bytes),
      pages_((bytes + kPageBytes - 1) / kPageBytes),
      source_(std::move(source)),
      made_(pages_) {}

void DrawnArray::make_piece(std::uint64_t piece) {
  const auto bit = static_cast<std::uint8_t>(1u << piece % 8);
  const auto flags = made(piece / 8);
  const std::lock_guard lock(mutex_);
  if ((flags.load(std::memory_order_relaxed) & bit) != 0) return;
  const std::uint64_t begin = piece * kPieceBytes;
  source_(begin, host_ + begin, std::min(kPieceBytes, bytes_ - begin));
  flags.fetch_or(bit, std::memory_order_release);
}

void DrawnArray::make(std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return;
  for (std::uint64_t piece = offset / kPieceBytes; piece <= (offset + bytes - 1) / kPieceBytes;
       ++piece)
    if ((made(piece / 8).load(std::memory_order_acquire) >> piece % 8 & 1) == 0) make_piece(piece);
}

DrawnArray::Range DrawnArray::made_about(std::uint64_t offset) {
  const std::uint64_t piece = offset / kPieceBytes, page = piece / 8;
  std::uint8_t flags = made(page).load(std::memory_order_acquire);
  if ((flags >> piece % 8 & 1) == 0) {
    make_piece(piece);
    flags = made(page).load(std::memory_order_acquire);
  }
  // Ones from the piece's bit on, upwards and downwards.
  const auto after =
      static_cast<std::uint64_t>(std::countr_one(static_cast<std::uint8_t>(flags >> piece % 8)));
  const auto before = static_cast<std::uint64_t>(
      std::countl_one(static_cast<std::uint8_t>(flags << (7 - piece % 8))));
  return {(piece + 1 - before) * kPieceBytes, std::min((piece + after) * kPieceBytes, bytes_)};
}

void DrawnArray::each_made(const std::function<void(Range)>& see) const {
  Range range{0, 0};
  for (std::uint64_t page = 0; page < pages_; ++page) {
    const std::uint8_t flags = made(page).load(std::memory_order_acquire);
    for (std::uint64_t piece = page * 8; flags >> piece % 8 != 0; ++piece) {
      if ((flags >> piece % 8 & 1) != 0) {
        const std::uint64_t begin = piece * kPieceBytes;
        if (range.end != begin) {
          if (range.end != 0) see(range);
          range.begin = begin;
        }
        range.end = begin + kPieceBytes;
      }
      if (piece % 8 == 7) break;
    }
  }
  if (range.end != 0) see({range.begin, std::min(range.end, bytes_)});
}

bool DrawnArray::was_touched() const {
  bool touched = false;
  for (std::uint64_t page = 0; page < pages_ && !touched; ++page)
    touched = made(page).load(std::memory_order_acquire) != 0;
  return touched;
}

bool DrawnArray::is_as_made() const {
  std::array<std::byte, kPieceBytes> made;
  bool is_same = true;
  each_made([&](Range range) {
    for (std::uint64_t at = range.begin; is_same && at < range.end; at += kPieceBytes) {
      const std::uint64_t bytes = std::min(kPieceBytes, range.end - at);
      source_(at, made.data(), bytes);
      is_same = std::memcmp(host_ + at, made.data(), bytes) == 0;
    }
  });
  return is_same;
}

}  // namespace membound::vgpu::memory
