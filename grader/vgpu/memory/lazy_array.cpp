// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/lazy_array.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace membound::vgpu::memory {
namespace {

/// Of a larger array blocks run that lie far apart, and of few of them: a large page of the table
/// would be cleared for each. Of 2^33 integers that took a fifth of the check of lab 01.
constexpr std::uint64_t kDenseBytes = std::uint64_t{1} << 32;

}  // namespace

/// Stores to use again: fresh memory costs more than what is drawn into it.
struct LazyArray::Spares {
  static constexpr std::size_t kMost = 128;  // 64 MiB
  std::mutex mutex;
  std::vector<std::unique_ptr<Store>> stores;
};

LazyArray::Spares& LazyArray::spares() {
  static auto* const all = new Spares;  // launches may end after static objects do
  return *all;
}

LazyArray::LazyArray(std::uint64_t bytes, ByteSource source)
    : bytes_(bytes),
      chunks_((bytes + kChunkBytes - 1) / kChunkBytes),
      source_(std::move(source)),
      places_(chunks_ / kChunksOfPage + 1,
              bytes <= kDenseBytes ? TableUse::kDense : TableUse::kSparse),
      stores_bytes_((chunks_ / Store::kChunks + 1) * sizeof(std::atomic<Store*>)),
      stores_(static_cast<std::atomic<Store*>*>(stores_bytes_.data())) {}

LazyArray::~LazyArray() {
  const std::uint32_t used = used_.load();
  const std::lock_guard lock(spares().mutex);
  for (std::uint32_t at = 0; at < used; at += Store::kChunks) {
    std::unique_ptr<Store> store(stores_[at / Store::kChunks].load());
    if (spares().stores.size() < Spares::kMost) spares().stores.push_back(std::move(store));
  }
}

std::uint64_t LazyArray::bytes_of(std::uint64_t chunk) const {
  return std::min(kChunkBytes, bytes_ - chunk * kChunkBytes);
}

LazyArray::Store& LazyArray::store_of(std::uint32_t at) {
  std::atomic<Store*>& store = stores_[at / Store::kChunks];
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

std::uint32_t LazyArray::make_chunk(std::uint64_t chunk) {
  std::atomic<std::uint32_t>& known = places_.at(chunk / kChunksOfPage)[chunk % kChunksOfPage];
  std::uint32_t place = 0;
  if (!known.compare_exchange_strong(place, kBeingMade, std::memory_order_acquire)) {
    // Neighbouring blocks want the same chunk at once, and to make one takes less than to sleep.
    for (; place == kBeingMade; place = known.load(std::memory_order_acquire))
      std::this_thread::yield();
    return place;
  }
  const std::uint32_t at = used_.fetch_add(1);
  Store& store = store_of(at);
  store.numbers[at % Store::kChunks] = static_cast<std::uint32_t>(chunk);
  place = at + 1;
  source_(chunk * kChunkBytes, host_of(place), bytes_of(chunk));
  known.store(place, std::memory_order_release);
  return place;
}

std::byte* LazyArray::make(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t first = offset / kChunkBytes;
  const std::uint64_t last = (offset + std::max<std::uint64_t>(1, bytes) - 1) / kChunkBytes;
  std::uint32_t begin = 0, before = 0;
  bool side_by_side = true;
  for (std::uint64_t chunk = first; chunk <= last; ++chunk) {
    std::uint32_t place = place_of(chunk);
    if (place == 0) place = make_chunk(chunk);
    if (chunk == first) begin = place;
    side_by_side = side_by_side && (chunk == first || follows(before, place));
    before = place;
  }
  return side_by_side ? host_of(begin) + offset % kChunkBytes : nullptr;
}

LazyArray::Range LazyArray::made_about(std::uint64_t offset) {
  const std::uint64_t chunk = offset / kChunkBytes;
  std::uint32_t first = place_of(chunk);
  if (first == 0) first = make_chunk(chunk);
  // Looked up once: the page has a note now.
  const Places& page = *places_.find(chunk / kChunksOfPage);
  const std::uint64_t begin_of_page = chunk / kChunksOfPage * kChunksOfPage;
  const std::uint64_t chunks = std::min(kChunksOfPage, chunks_ - begin_of_page);
  const auto place = [&page](std::uint64_t at) { return place_in(page, at); };
  std::uint64_t begin = chunk - begin_of_page, end = begin + 1;
  for (std::uint32_t last = first; end < chunks && follows(last, place(end)); ++end) ++last;
  for (; begin > 0 && follows(place(begin - 1), first); --begin) --first;
  return {(begin_of_page + begin) * kChunkBytes,
          std::min((begin_of_page + end) * kChunkBytes, bytes_), host_of(first)};
}

void LazyArray::each_made(const See& see) const {
  // Side by side in the array and in a store: what one warp touched is one run, mostly.
  struct Run {
    std::uint32_t chunk, place, count;
  };
  std::vector<Run> runs;
  const std::uint32_t used = used_.load();
  for (std::uint32_t at = 0; at < used; ++at) {
    const std::uint32_t chunk = stores_[at / Store::kChunks].load()->numbers[at % Store::kChunks];
    if (!runs.empty() && chunk == runs.back().chunk + runs.back().count &&
        follows(runs.back().place + runs.back().count - 1, at + 1))
      ++runs.back().count;
    else
      runs.push_back({chunk, at + 1, 1});
  }
  std::ranges::sort(runs, {}, &Run::chunk);
  for (std::size_t i = 0; i < runs.size();) {
    std::size_t next = i + 1;
    const auto last = [&] { return runs[next - 1].chunk + runs[next - 1].count; };
    while (next < runs.size() && runs[next].chunk == last() &&
           follows(runs[next - 1].place + runs[next - 1].count - 1, runs[next].place))
      ++next;
    const std::uint64_t begin = runs[i].chunk * kChunkBytes;
    const std::uint64_t end = std::min(last() * kChunkBytes, bytes_);
    see(begin, {host_of(runs[i].place), end - begin});
    i = next;
  }
}

bool LazyArray::is_as_made() const {
  std::array<std::byte, kChunkBytes> made;
  const std::uint32_t used = used_.load();
  for (std::uint32_t at = 0; at < used; ++at) {
    const std::uint64_t chunk = stores_[at / Store::kChunks].load()->numbers[at % Store::kChunks];
    source_(chunk * kChunkBytes, made.data(), bytes_of(chunk));
    if (std::memcmp(host_of(at + 1), made.data(), bytes_of(chunk)) != 0) return false;
  }
  return true;
}

void LazyArray::copy_to(std::byte* host) const {
  for (std::uint64_t chunk = 0; chunk < chunks_; ++chunk) {
    std::byte* const to = host + chunk * kChunkBytes;
    if (const std::byte* const there = find(chunk * kChunkBytes))
      std::memcpy(to, there, bytes_of(chunk));
    else
      source_(chunk * kChunkBytes, to, bytes_of(chunk));
  }
}

}  // namespace membound::vgpu::memory
