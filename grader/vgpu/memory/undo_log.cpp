// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/undo_log.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "grader/base/processor.hpp"

namespace membound::vgpu::memory {

static_assert(sizeof(std::atomic<std::uint8_t>) == 1);

/// Pages to use again: fresh memory costs more than what is copied into it.
struct UndoLog::Spares {
  static constexpr std::size_t kMost = (std::size_t{64} << 20) / kPageBytes;
  std::mutex mutex;
  std::vector<std::unique_ptr<Page>> pages;
};

UndoLog::Spares& UndoLog::spares() {
  static Spares* const all = new Spares;  // launches may end after static objects do
  return *all;
}

UndoLog::~UndoLog() {
  std::move(pages_.begin(), pages_.end(), std::back_inserter(spare_));
  if (spare_.size() > Spares::kMost) spare_.resize(Spares::kMost);
  const std::lock_guard lock(spares().mutex);
  if (spares().pages.size() < spare_.size()) spares().pages.swap(spare_);
}

UndoLog::UndoLog(AddressSpace& space)
    : space_(space),
      begin_(space.shared_window()),
      window_bytes_(space.window_bytes()),
      host_offset_(space.host_offset()),
      any_lazy_(space.any_lazy()),
      states_(window_bytes_ / kPageBytes + 1),
      kept_(static_cast<std::atomic<std::uint8_t>*>(states_.data())) {
  const std::lock_guard lock(spares().mutex);
  spare_.swap(spares().pages);
}

void UndoLog::keep(std::uint64_t page) {
  const std::lock_guard lock(mutex_);
  if (kept_[page].load(std::memory_order_relaxed) != 0) return;
  std::unique_ptr<Page> kept;
  if (spare_.empty()) {
    kept = std::make_unique_for_overwrite<Page>();
  } else {
    kept = std::move(spare_.back());
    spare_.pop_back();
  }
  kept->number = page;
  kept->written = 0;
  kept->flags.clear();
  const std::uint64_t address = begin_ + page * kPageBytes;
  // Past the cache: what is kept is hardly ever read.
  base::copy_past_cache(
      kept->bytes.data(),
      reinterpret_cast<const std::byte*>(address + static_cast<std::uint64_t>(host_offset_)),
      kPageBytes);
  if (const std::uint8_t* const flags = space_.initialised_shadow(); flags != nullptr) {
    const std::uint8_t* const first = flags + page * kPageBytes;
    kept->written = *first;
    if (!space_.whole_pages_written(page * kPageBytes, kPageBytes) &&
        std::memcmp(first, first + 1, kPageBytes - 1) != 0)
      kept->flags.assign(first, first + kPageBytes);
  }
  pages_.push_back(std::move(kept));
  kept_[page].store(1, std::memory_order_release);
}

void UndoLog::keep_pieces(const AddressSpace::LazyPlace& drawn, std::uint64_t offset,
                          std::uint64_t bytes) {
  constexpr std::uint64_t kEach = LazyArray::kChunkBytes;
  const std::lock_guard lock(mutex_);
  for (std::uint64_t at = offset / kEach * kEach; at < offset + bytes; at += kEach) {
    std::byte* const chunk = drawn.array->make(at, 1);
    const auto [kept, is_new] = lazy_chunks_.try_emplace(chunk);
    if (is_new) std::memcpy(kept->second.data(), chunk, kEach);
  }
}

void UndoLog::keep_host_bytes(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (std::uint64_t at = address; at < address + bytes; ++at)
    host_bytes_.try_emplace(at, *reinterpret_cast<const std::byte*>(at));
}

void UndoLog::roll_back() {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Page>& page : pages_) {
    const std::uint64_t address = begin_ + page->number * kPageBytes;
    std::memcpy(reinterpret_cast<void*>(address + static_cast<std::uint64_t>(host_offset_)),
                page->bytes.data(), kPageBytes);
    if (std::uint8_t* const flags = space_.initialised_shadow(); flags != nullptr) {
      std::uint8_t* const first = flags + page->number * kPageBytes;
      if (page->flags.empty())
        std::memset(first, page->written, kPageBytes);
      else
        std::memcpy(first, page->flags.data(), kPageBytes);
    }
    kept_[page->number].store(0, std::memory_order_relaxed);
  }
  pages_.clear();
  for (const auto& [chunk, bytes] : lazy_chunks_) std::memcpy(chunk, bytes.data(), bytes.size());
  lazy_chunks_.clear();
  for (const auto& [address, byte] : host_bytes_) *reinterpret_cast<std::byte*>(address) = byte;
  host_bytes_.clear();
}

}  // namespace membound::vgpu::memory
