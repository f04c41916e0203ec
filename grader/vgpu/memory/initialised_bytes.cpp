// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/initialised_bytes.hpp"

#include <sys/mman.h>

#include <cstring>

namespace membound::vgpu::memory {
namespace {

constexpr std::uint64_t kPageBytes = InitialisedBytes::kPageBytes;
constexpr std::uint64_t kLargePieceBytes = std::uint64_t{1}
                                           << 20;  // pages are given back from here

/// As memset. Many zeros are made by giving pages back: those of an array that nobody touches are
/// never made.
void set_flags(std::uint8_t* flags, std::uint8_t value, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(flags), end = begin + bytes;
  const std::uint64_t first = (begin + kPageBytes - 1) / kPageBytes * kPageBytes;
  const std::uint64_t last = end / kPageBytes * kPageBytes;
  if (value != 0 || bytes < kLargePieceBytes ||
      madvise(flags + (first - begin), last - first, MADV_DONTNEED) != 0) {
    std::memset(flags, value, bytes);
    return;
  }
  std::memset(flags, value, first - begin);
  std::memset(flags + (last - begin), value, end - last);
}

}  // namespace

InitialisedBytes::InitialisedBytes(std::uint64_t window_bytes)
    : bytes_(window_bytes),
      pages_(window_bytes / kPageBytes + 1),
      flags_(static_cast<std::uint8_t*>(bytes_.data())),
      whole_pages_(static_cast<std::uint8_t*>(pages_.data())) {}

void InitialisedBytes::set(std::uint64_t offset, std::uint64_t bytes, bool written) {
  const std::uint8_t value = written ? 1 : 0;
  set_flags(flags_ + offset, value, bytes);
  look_at_pages(offset, bytes, value);
}

void InitialisedBytes::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  std::memmove(flags_ + to, flags_ + from, bytes);
  look_at_pages(to, bytes, std::nullopt);
}

void InitialisedBytes::look_at_pages(std::uint64_t first, std::uint64_t bytes,
                                     std::optional<std::uint8_t> all) {
  const std::uint64_t end = first + bytes;
  for (std::uint64_t page = first / kPageBytes; page * kPageBytes < end; ++page) {
    const std::uint64_t begin = page * kPageBytes;
    const bool inside = begin >= first && begin + kPageBytes <= end;
    whole_pages_[page] =
        all && (inside || *all == 0) ? *all : std::memchr(flags_ + begin, 0, kPageBytes) == nullptr;
  }
}

}  // namespace membound::vgpu::memory
