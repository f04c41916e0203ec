// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables over a large range of addresses of which little is ever used: bytes that read as zeros
/// and cost nothing until they are written to, and a note about each of a few pages that lie far
/// apart.
///
/// A table with what is noted at each page's own place would take a page of the host for a few
/// bytes, and to get that costs more than to note them: here the table holds numbers, and what is
/// noted lies close together. The table is cleared and kept for the next one of its size.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

namespace membound::vgpu::memory {

/// Memory that reads as zeros and costs nothing until it is written to.
class LazyBytes {
 public:
  explicit LazyBytes(std::size_t bytes);
  ~LazyBytes();
  LazyBytes(const LazyBytes&) = delete;
  LazyBytes& operator=(const LazyBytes&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t size_bytes() const { return bytes_; }
  /// All zeros again.
  void clear();
  /// From now on, where one byte is used, its neighbours will be: large pages save most faults.
  /// Where that is not so they cost more, for a whole one is cleared at its first byte.
  void expect_dense_use();

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// How what is used of a table lies in it.
enum class TableUse : std::uint8_t { kDense, kSparse };
/// Zeros: of a table of that size that has ended, or fresh ones. To get pages that lie far apart
/// anew costs more than most tables note there. Tables of one size are all used in one way.
[[nodiscard]] std::unique_ptr<LazyBytes> take_zeros(std::size_t bytes, TableUse use);
/// Takes a table that its user has cleared entry by entry.
void keep_zeros(std::unique_ptr<LazyBytes> table);

/// A Note for each page, zeros at first: plain data, or atomics that are. Several threads may ask.
template <typename Note>
class SparsePages {
 public:
  /// Of pages 0 … `pages` - 1. Sparse where those with a note lie far apart, as long as they are
  /// few.
  explicit SparsePages(std::uint64_t pages, TableUse use = TableUse::kDense)
      : use_(use), numbers_(take_zeros((pages + 1) * sizeof(std::uint32_t), use)) {}
  ~SparsePages() {
    each([this](std::uint64_t page, Note&) { number_of(page) = 0; });
    keep_zeros(std::move(numbers_));
    for (std::atomic<Part*>& part : parts_) ::operator delete(part.load(), kAlignment);
  }
  static_assert(std::is_trivially_destructible_v<Note>);
  SparsePages(const SparsePages&) = delete;
  SparsePages& operator=(const SparsePages&) = delete;

  /// Null: nothing was noted there.
  [[nodiscard]] Note* find(std::uint64_t page) const {
    const std::uint32_t number = number_of(page).load(std::memory_order_acquire);
    return number == 0 ? nullptr : &part_of(number).note;
  }
  [[nodiscard]] Note& at(std::uint64_t page) {
    Note* const found = find(page);
    return found != nullptr ? *found : add(page);
  }
  /// Calls see(page, note) for all, in the order in which they were added.
  template <typename See>
  void each(See see) const {
    for (std::uint32_t number = 1; number <= used_; ++number)
      see(part_of(number).page, part_of(number).note);
  }
  [[nodiscard]] std::uint32_t size() const { return used_; }

 private:
  struct Part {
    Note note;
    std::uint64_t page;
  };
  /// Notes of the first part, some 32 KiB of them; the next have twice as many each.
  static constexpr auto kFirst = static_cast<std::uint32_t>(std::bit_ceil(32768 / sizeof(Part)));
  static constexpr std::size_t kMostParts = 26;
  static constexpr std::uint32_t kMany = 1024;  ///< no longer few
  static constexpr std::align_val_t kAlignment{alignof(Part)};

  [[nodiscard]] std::atomic<std::uint32_t>& number_of(std::uint64_t page) const {
    return static_cast<std::atomic<std::uint32_t>*>(numbers_->data())[page];
  }
  [[nodiscard]] Part& part_of(std::uint32_t number) const {
    const auto [part, place] = place_of(number);
    return parts_[part].load(std::memory_order_acquire)[place];
  }
  [[nodiscard]] static std::pair<std::size_t, std::uint32_t> place_of(std::uint32_t number) {
    const std::uint32_t index = number - 1;
    const auto part = static_cast<std::size_t>(std::bit_width((index / kFirst + 1) | 1)) - 1;
    return {part, index - ((1u << part) - 1) * kFirst};
  }
  Note& add(std::uint64_t page) {
    const std::lock_guard lock(mutex_);
    if (Note* const found = find(page)) return *found;
    const std::uint32_t number = used_ + 1;
    const auto [part, place] = place_of(number);
    if (place == 0) {
      const std::size_t bytes = (std::size_t{kFirst} << part) * sizeof(Part);
      parts_[part] = static_cast<Part*>(::operator new(bytes, kAlignment));
    }
    Part* const made = new (&part_of(number)) Part{{}, page};
    used_ = number;
    number_of(page).store(number, std::memory_order_release);
    if (number == kMany && use_ == TableUse::kSparse) numbers_->expect_dense_use();
    return made->note;
  }

  TableUse use_;
  std::unique_ptr<LazyBytes> numbers_;  ///< of each page: counts up from 1 as pages are noted
  std::array<std::atomic<Part*>, kMostParts> parts_{};
  std::atomic<std::uint32_t> used_ = 0;
  std::mutex mutex_;
};

}  // namespace membound::vgpu::memory
