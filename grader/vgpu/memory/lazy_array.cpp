// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/lazy_array.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace membound::vgpu::memory {
namespace {

/// To lock what another thread is about to free.
constexpr int kTries = 200;

}  // namespace

/// Stores to use again: fresh memory costs more than what is drawn into it.
struct DrawnArray::Spares {
  static constexpr std::size_t kMost = 128;  // 64 MiB
  std::mutex mutex;
  std::vector<std::unique_ptr<Store>> stores;
};

DrawnArray::Spares& DrawnArray::spares() {
  static auto* const all = new Spares;  // launches may end after static objects do
  return *all;
}

DrawnArray::DrawnArray(std::uint64_t bytes, ByteSource source)
    : bytes_(bytes),
      pieces_((bytes + kPieceBytes - 1) / kPieceBytes),
      source_(std::move(source)),
      places_(pieces_ / kPiecesOfPage + 1),
      stores_(std::make_unique<std::atomic<Store*>[]>(pieces_ / Store::kPieces + 1)) {}

DrawnArray::~DrawnArray() {
  const std::uint32_t used = used_.load();
  const std::lock_guard lock(spares().mutex);
  for (std::uint32_t at = 0; at < used; at += Store::kPieces) {
    std::unique_ptr<Store> store(stores_[at / Store::kPieces].load());
    if (spares().stores.size() < Spares::kMost) spares().stores.push_back(std::move(store));
  }
}

std::uint64_t DrawnArray::bytes_of(std::uint64_t piece) const {
  return std::min(kPieceBytes, bytes_ - piece * kPieceBytes);
}

DrawnArray::Store& DrawnArray::store_of(std::uint32_t at) {
  std::atomic<Store*>& store = stores_[at / Store::kPieces];
  if (Store* const there = store.load(std::memory_order_acquire)) return *there;
  const std::lock_guard lock(stores_mutex_);
  if (store.load(std::memory_order_relaxed) == nullptr) {
    std::unique_ptr<Store> made;
    {
      const std::lock_guard spares_lock(spares().mutex);
      if (!spares().stores.empty()) {
        made = std::move(spares().stores.back());
        spares().stores.pop_back();
      }
    }
    if (made == nullptr) made = std::make_unique_for_overwrite<Store>();
    store.store(made.release(), std::memory_order_release);
  }
  return *store.load(std::memory_order_relaxed);
}

std::uint32_t DrawnArray::make_piece(std::uint64_t piece) {
  std::unique_lock lock(mutexes_[piece % mutexes_.size()], std::try_to_lock);
  // Neighbouring blocks want the same piece at once, and to make one takes less than to sleep.
  for (int i = 0; !lock && i < kTries; ++i) {
    std::this_thread::yield();
    static_cast<void>(lock.try_lock());
  }
  if (!lock) lock.lock();
  std::atomic<std::uint32_t>& known = places_.at(piece / kPiecesOfPage)[piece % kPiecesOfPage];
  std::uint32_t place = known.load(std::memory_order_relaxed);
  if (place != 0) return place;
  const std::uint32_t at = used_.fetch_add(1);
  Store& store = store_of(at);
  store.numbers[at % Store::kPieces] = static_cast<std::uint32_t>(piece);
  place = at + 1;
  source_(piece * kPieceBytes, host_of(place), bytes_of(piece));
  known.store(place, std::memory_order_release);
  return place;
}

std::byte* DrawnArray::make(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t first = offset / kPieceBytes;
  const std::uint64_t last = (offset + std::max<std::uint64_t>(1, bytes) - 1) / kPieceBytes;
  std::uint32_t begin = 0, before = 0;
  bool side_by_side = true;
  for (std::uint64_t piece = first; piece <= last; ++piece) {
    std::uint32_t place = place_of(piece);
    if (place == 0) place = make_piece(piece);
    if (piece == first) begin = place;
    side_by_side = side_by_side && (piece == first || follows(before, place));
    before = place;
  }
  return side_by_side ? host_of(begin) + offset % kPieceBytes : nullptr;
}

DrawnArray::Range DrawnArray::made_about(std::uint64_t offset) {
  const std::uint64_t piece = offset / kPieceBytes;
  std::uint32_t first = place_of(piece);
  if (first == 0) first = make_piece(piece);
  std::uint64_t begin = piece, end = piece + 1;
  std::uint32_t last = first;
  while (end % kPiecesOfPage != 0 && end < pieces_ && follows(last, place_of(end))) {
    ++end;
    ++last;
  }
  while (begin % kPiecesOfPage != 0 && follows(place_of(begin - 1), first)) {
    --begin;
    --first;
  }
  return {begin * kPieceBytes, std::min(end * kPieceBytes, bytes_), host_of(first)};
}

void DrawnArray::each_made(const See& see) const {
  struct Made {
    std::uint32_t piece, place;
  };
  std::vector<Made> all;
  const std::uint32_t used = used_.load();
  all.reserve(used);
  for (std::uint32_t at = 0; at < used; ++at)
    all.push_back({stores_[at / Store::kPieces].load()->numbers[at % Store::kPieces], at + 1});
  std::ranges::sort(all, {}, &Made::piece);
  for (std::size_t i = 0; i < all.size();) {
    std::size_t next = i + 1;
    while (next < all.size() && all[next].piece == all[next - 1].piece + 1 &&
           follows(all[next - 1].place, all[next].place))
      ++next;
    const std::uint64_t begin = all[i].piece * kPieceBytes;
    const std::uint64_t end = std::min((all[next - 1].piece + 1) * kPieceBytes, bytes_);
    see(begin, {host_of(all[i].place), end - begin});
    i = next;
  }
}

bool DrawnArray::is_as_made() const {
  std::array<std::byte, kPieceBytes> made;
  const std::uint32_t used = used_.load();
  for (std::uint32_t at = 0; at < used; ++at) {
    const std::uint64_t piece = stores_[at / Store::kPieces].load()->numbers[at % Store::kPieces];
    source_(piece * kPieceBytes, made.data(), bytes_of(piece));
    if (std::memcmp(host_of(at + 1), made.data(), bytes_of(piece)) != 0) return false;
  }
  return true;
}

void DrawnArray::copy_to(std::byte* host) const {
  for (std::uint64_t piece = 0; piece < pieces_; ++piece) {
    std::byte* const to = host + piece * kPieceBytes;
    if (const std::byte* const there = find(piece * kPieceBytes))
      std::memcpy(to, there, bytes_of(piece));
    else
      source_(piece * kPieceBytes, to, bytes_of(piece));
  }
}

}  // namespace membound::vgpu::memory
