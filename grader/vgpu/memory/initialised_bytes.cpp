// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/initialised_bytes.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
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
      page_words_(window_bytes / kPageBytes + 2),
      flags_(static_cast<std::uint8_t*>(bytes_.data())),
      whole_pages_(static_cast<std::uint8_t*>(pages_.data())),
      words_(static_cast<std::uint8_t*>(page_words_.data())) {}

void InitialisedBytes::set(std::uint64_t offset, std::uint64_t bytes, bool written) {
  const std::uint8_t value = written ? 1 : 0;
  set_flags(flags_ + offset, value, bytes);
  look_at_pages(offset, bytes, value);
  if (written) return;
  const std::uint64_t first = (offset + kPageBytes - 1) / kPageBytes;
  const std::uint64_t last = (offset + bytes) / kPageBytes;
  if (last > first) set_flags(words_ + first, 0, last - first);
}

void InitialisedBytes::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  std::memmove(flags_ + to, flags_ + from, bytes);
  look_at_pages(to, bytes, std::nullopt);
  for (std::uint64_t done = 0; done < bytes; done += kPageBytes)  // words of a page are in two then
    for (const std::uint64_t page : {(to + done) / kPageBytes, (to + done) / kPageBytes + 1})
      words_[page] |= words_[(from + done) / kPageBytes] | words_[(from + done) / kPageBytes + 1];
}

bool InitialisedBytes::may_be_padding(std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t bytes = end - begin;
  if (flags_[begin - 1] == 0) return false;  // no member comes before it
  const auto words =
      static_cast<std::uint8_t>(words_[(begin - 1) / kPageBytes] | words_[end / kPageBytes]);
  return bytes < std::bit_floor(words) && end % std::bit_ceil(bytes + 1) == 0;
}

UnwrittenBytes InitialisedBytes::unwritten(std::uint64_t begin, std::uint64_t bytes,
                                           std::uint64_t array_begin,
                                           std::uint64_t row_multiple) const {
  UnwrittenBytes found;
  const std::uint64_t end = begin + bytes;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t page_end = (at / kPageBytes + 1) * kPageBytes;
    if (whole_pages_[at / kPageBytes] != 0) {
      at = page_end;
      continue;
    }
    const std::uint64_t some = std::min(page_end, end) - at;
    const void* const hole = std::memchr(flags_ + at, 0, some);
    if (hole == nullptr) {
      at += some;
      continue;
    }
    const auto first = static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(hole) - flags_);
    const void* const next = std::memchr(flags_ + first, 1, end - first);
    at = next == nullptr
             ? end
             : static_cast<std::uint64_t>(static_cast<const std::uint8_t*>(next) - flags_);
    if (first > array_begin && may_be_padding(first, at)) continue;
    if (row_multiple != 0 && at - first < row_multiple && (at - array_begin) % row_multiple == 0)
      continue;
    if (found.count == 0) found.first = first - begin;
    found.count += at - first;
  }
  return found;
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
