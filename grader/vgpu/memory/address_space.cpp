// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/address_space.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstring>

#include "grader/base/result.hpp"

namespace membound::vgpu::memory {
namespace {

// Where the window is asked for, so that addresses repeat from run to run. Far from heap, stack
// and libraries of a Linux process; if taken, any other place will do.
constexpr std::uint64_t kWindowHint = 0x2000'0000'0000;
constexpr std::uint64_t kMinAlignment = 256;  // as cudaMalloc promises
constexpr std::size_t kQuarantineEntries = 32;
constexpr std::size_t kFreedOfHost = 32;
constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20;  // whole pages from here on
constexpr std::uint64_t kGiveBackBytes = 4 * kLargeBytes;      // which are given back from here on

void* reserve(std::uint64_t hint, std::uint64_t bytes, int protection) {
  void* place = mmap(reinterpret_cast<void*>(hint), bytes, protection,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return place == MAP_FAILED ? nullptr : place;
}

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace

AddressSpace::AddressSpace(std::uint64_t capacity_bytes)
    : capacity_bytes_(capacity_bytes), red_zone_bytes_(kMinAlignment) {
  // Twice the capacity leaves room for quarantine and fragments.
  std::uint64_t wanted = align_up(2 * capacity_bytes, kMappingBytes) + 32 * kMappingBytes +
                         kSharedWindowBytes + kLocalWindowBytes;
  void* window = nullptr;
  void* backing = nullptr;
  while (true) {  // a limit on address space (ulimit -v, a container) makes it smaller
    window = reserve(kWindowHint, wanted, PROT_NONE);
    backing = window == nullptr ? nullptr : reserve(0, wanted, PROT_NONE);
    if (backing != nullptr) break;
    if (window != nullptr) munmap(window, wanted);
    wanted = align_up(wanted / 2, kMappingBytes);
    MEMBOUND_CHECK(wanted > 64 * kMappingBytes);
  }
  window_ = reinterpret_cast<std::uint64_t>(window);
  window_bytes_ = wanted;
  host_offset_ = static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(backing) - window_);
  mapping_users_.assign(window_bytes_ / kMappingBytes + 1, 0);
  const std::uint64_t first =
      align_up(window_ + kSharedWindowBytes + kLocalWindowBytes, kMappingBytes);
  holes_[first] = window_ + window_bytes_;
}

AddressSpace::~AddressSpace() {
  munmap(reinterpret_cast<void*>(window_ + static_cast<std::uint64_t>(host_offset_)),
         window_bytes_);
  munmap(reinterpret_cast<void*>(window_), window_bytes_);
}

void AddressSpace::use_mappings(std::uint64_t begin, std::uint64_t end, int change) {
  const std::uint64_t first = (begin - window_) / kMappingBytes;
  const std::uint64_t last = (end - 1 - window_) / kMappingBytes;
  if (change > 0) {
    const std::uint64_t host =
        window_ + first * kMappingBytes + static_cast<std::uint64_t>(host_offset_);
    MEMBOUND_CHECK(mprotect(reinterpret_cast<void*>(host), (last + 1 - first) * kMappingBytes,
                            PROT_READ | PROT_WRITE) == 0);
  }
  for (std::uint64_t c = first; c <= last; ++c)
    mapping_users_[c] += static_cast<std::uint32_t>(change);
}

/// What an allocation takes of the window: nothing else begins right after its end, so that
/// memcheck sees an index that is one too far.
std::uint64_t AddressSpace::extent(const Allocation& allocation) {
  return align_up(allocation.size_bytes, kMinAlignment) + allocation.red_zone_bytes;
}

std::optional<std::uint64_t> AddressSpace::allocate(std::uint64_t bytes, std::uint64_t alignment,
                                                    const AllocationInfo& info) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
  if (size > capacity_bytes_ || used_bytes_ + size > capacity_bytes_) return std::nullopt;
  // Two large arrays share no page: each gives all of its own back.
  alignment = std::max(alignment, size < kLargeBytes ? kMinAlignment : kPageBytes);
  if (const auto again = allocate_again(size, alignment, info)) return again;
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    const auto [begin, end] = *hole;
    const std::uint64_t address = align_up(begin, alignment);
    Allocation allocation{address, size, info, next_serial_, false, red_zone_bytes_};
    const std::uint64_t used_end = address + extent(allocation);
    if (used_end > end || used_end < address) continue;
    holes_.erase(hole);
    if (begin < address) holes_[begin] = address;
    if (used_end < end) holes_[used_end] = end;
    use_mappings(address, used_end, +1);
    used_bytes_ += size;
    set_initialised(address, size, info.initialised);
    live_[address] = std::move(allocation);
    ++next_serial_;
    return address;
  }
  return std::nullopt;
}

/// Where a large array of this size was: what is noted about addresses takes pages of its own. Not
/// where a program's use of what it has freed is to be found.
std::optional<std::uint64_t> AddressSpace::allocate_again(std::uint64_t bytes,
                                                          std::uint64_t alignment,
                                                          const AllocationInfo& info) {
  if (bytes < kLargeBytes) return std::nullopt;
  const auto found = std::ranges::find_if(quarantine_, [&](const Allocation& old) {
    return old.size_bytes == bytes && old.red_zone_bytes == red_zone_bytes_ &&
           old.address % alignment == 0 && (old.was_lazy || red_zone_bytes_ == kMinAlignment);
  });
  if (found == quarantine_.end()) return std::nullopt;
  const Allocation allocation{found->address, bytes, info, next_serial_++, false, red_zone_bytes_};
  quarantine_.erase(found);
  use_mappings(allocation.address, allocation.address + extent(allocation), +1);
  used_bytes_ += bytes;
  set_initialised(allocation.address, bytes, info.initialised);
  live_[allocation.address] = allocation;
  return allocation.address;
}

void AddressSpace::retire(const Allocation& allocation) {
  const std::uint64_t begin = allocation.address;
  const std::uint64_t end = begin + extent(allocation);
  auto next = holes_.lower_bound(begin);
  std::uint64_t joined_begin = begin, joined_end = end;
  if (next != holes_.end() && next->first == end) {
    joined_end = next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->second == begin) {
      joined_begin = before->first;
      holes_.erase(before);
    }
  }
  holes_[joined_begin] = joined_end;
}

bool AddressSpace::free(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end() || found->second.info.kind == AllocationKind::kHost ||
      !is_device_address(address))
    return false;
  Allocation allocation = std::move(found->second);
  live_.erase(found);
  allocation.was_lazy = lazy_.erase(address) != 0;
  allocation.freed = true;
  used_bytes_ -= allocation.size_bytes;
  const std::uint64_t end = address + extent(allocation);
  use_mappings(address, end, -1);
  if (allocation.size_bytes >= kGiveBackBytes) {
    const std::uint64_t first = align_up(address, kPageBytes);
    const std::uint64_t last = end & ~(kPageBytes - 1);
    madvise(reinterpret_cast<void*>(first + static_cast<std::uint64_t>(host_offset_)), last - first,
            MADV_DONTNEED);
  }
  quarantine_.push_back(std::move(allocation));
  while (quarantine_.size() > kQuarantineEntries) {
    retire(quarantine_.front());
    quarantine_.pop_front();
  }
  return true;
}

const Allocation* AddressSpace::holder(std::uint64_t address) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  const Allocation& candidate = std::prev(after)->second;
  return address - candidate.address < candidate.size_bytes ? &candidate : nullptr;
}

std::optional<Allocation> AddressSpace::find(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const Allocation* found = holder(address);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<Allocation> AddressSpace::find_freed(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  for (auto it = quarantine_.rbegin(); it != quarantine_.rend(); ++it) {
    if (address - it->address < it->size_bytes) return *it;
  }
  if (is_device_address(address) || holder(address) != nullptr) return std::nullopt;
  for (auto it = freed_of_host_.rbegin(); it != freed_of_host_.rend(); ++it) {
    if (address - it->address < it->size_bytes) return *it;
  }
  return std::nullopt;
}

std::optional<Allocation> AddressSpace::nearest(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto after = live_.upper_bound(address);
  const Allocation* best = nullptr;
  std::uint64_t best_distance = ~std::uint64_t{0};
  if (after != live_.begin()) {
    best = &std::prev(after)->second;
    const std::uint64_t last = best->address + best->size_bytes - 1;
    best_distance = address > last ? address - last : 0;
  }
  if (after != live_.end() && after->first - address < best_distance) best = &after->second;
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::vector<Allocation> AddressSpace::live() const {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> all;
  for (const auto& [address, allocation] : live_) all.push_back(allocation);
  return all;
}

std::vector<Allocation> AddressSpace::managed_variables() const {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> all;
  for (const std::uint64_t address : managed_variables_) all.push_back(live_.at(address));
  return all;
}

void AddressSpace::register_host_range(void* pointer, std::uint64_t bytes, AllocationInfo info,
                                       std::uint64_t room_bytes) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  info.initialised = true;
  if (info.kind == AllocationKind::kManagedVariable) managed_variables_.insert(address);
  live_[address] = Allocation{address, bytes, std::move(info), next_serial_++, false, room_bytes};
}

bool AddressSpace::unregister_host_range(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (is_device_address(address)) return false;
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  managed_variables_.erase(address);
  freed_of_host_.push_back(std::move(found->second));
  freed_of_host_.back().freed = true;
  if (freed_of_host_.size() > kFreedOfHost) freed_of_host_.pop_front();
  live_.erase(found);
  return true;
}

std::uint64_t AddressSpace::host_array_bytes(std::uint64_t bytes) const {
  return align_up(bytes + red_zone_bytes_, kHostMappingBytes);
}

std::optional<Span> AddressSpace::host_span(std::uint64_t address, bool precise) const {
  const auto after = live_.upper_bound(address);
  const Allocation* const before = after == live_.begin() ? nullptr : &std::prev(after)->second;
  const auto reach = [&](const Allocation& array) {
    return array.size_bytes + (precise ? 0 : array.red_zone_bytes);
  };
  if (before != nullptr && address - before->address < reach(*before))
    return Span{before->address, before->address + reach(*before), 0, true};
  if (precise || after == live_.end()) return std::nullopt;
  // What the program itself has registered need not begin with its page.
  const std::uint64_t page = after->first & ~(kPageBytes - 1);
  if (address < page) return std::nullopt;
  return Span{page, after->first + reach(after->second), 0, true};
}

std::optional<Span> AddressSpace::span_of(std::uint64_t address, bool precise) const {
  if (const LazyPlace drawn = lazy_about(address); drawn.array != nullptr) {
    const auto [begin, end, host] = drawn.array->made_about(address - drawn.begin);
    const auto offset = reinterpret_cast<std::uint64_t>(host) - (drawn.begin + begin);
    return Span{drawn.begin + begin, drawn.begin + end, static_cast<std::int64_t>(offset), true};
  }
  const std::lock_guard lock(mutex_);
  if (!is_device_address(address)) return host_span(address, precise);
  if (precise) {
    const Allocation* found = holder(address);
    if (found == nullptr) return std::nullopt;
    return Span{found->address, found->address + found->size_bytes, host_offset_, true};
  }
  const std::uint64_t mapping = (address - window_) / kMappingBytes;
  if (mapping_users_[mapping] == 0) return std::nullopt;
  std::uint64_t first = mapping, last = mapping;
  constexpr std::uint64_t kFar = 4096;  // far enough that misses of the caller's cache stay rare
  while (first > 0 && mapping - first < kFar && mapping_users_[first - 1] != 0) --first;
  while (last - mapping < kFar && mapping_users_[last + 1] != 0) ++last;
  Span span{window_ + first * kMappingBytes, window_ + (last + 1) * kMappingBytes, host_offset_,
            true};
  // Not across a lazily generated array: what is not there yet must be asked for.
  const auto after = lazy_.upper_bound(address);
  if (after != lazy_.end()) span.end = std::min(span.end, after->first);
  if (after != lazy_.begin()) {
    const auto& [begin, array] = *std::prev(after);
    span.begin = std::max(span.begin, begin + array->size_bytes());
  }
  return span;
}

std::uint64_t AddressSpace::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

void AddressSpace::track_initialised(bool on) {
  const std::lock_guard lock(mutex_);
  if (!on) initialised_.reset();
  if (on && initialised_ == nullptr)
    initialised_ = std::make_unique<InitialisedBytes>(window_bytes_);
}

AccessShadow& AddressSpace::access_shadow(std::uint32_t cell_shift, std::size_t worker) {
  const std::lock_guard lock(mutex_);
  auto& shadows = access_shadows_.at(cell_shift);
  if (shadows.size() <= worker) shadows.resize(worker + 1);
  std::unique_ptr<AccessShadow>& shadow = shadows[worker];
  if (shadow == nullptr)
    shadow = std::make_unique<AccessShadow>(window_, window_bytes_, cell_shift);
  return *shadow;
}

void AddressSpace::mark_initialised(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  set_initialised(address, bytes, true);
}

void AddressSpace::mark_all_initialised() {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, allocation] : live_)
    set_initialised(address, allocation.size_bytes, true);
}

void AddressSpace::forget_writes(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (resolve(address, bytes) != nullptr) set_initialised(address, bytes, false);
}

UnwrittenBytes AddressSpace::unwritten(std::uint64_t address, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  const Allocation* const array = holder(address);
  if (initialised_ == nullptr || array == nullptr || !is_device_address(address)) return {};
  const std::uint64_t left = array->size_bytes - (address - array->address);
  return initialised_->unwritten(address - window_, std::min(bytes, left), array->address - window_,
                                 array->info.row_multiple);
}

void AddressSpace::keep_distance(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  red_zone_bytes_ = std::max(kMinAlignment, align_up(bytes, kMinAlignment));
}

void AddressSpace::set_initialised(std::uint64_t address, std::uint64_t bytes, bool written) {
  if (initialised_ != nullptr && is_device_address(address))
    initialised_->set(address - window_, bytes, written);
}

std::byte* AddressSpace::resolve(std::uint64_t address, std::uint64_t bytes) const {
  const Allocation* found = holder(address);
  if (found == nullptr || bytes > found->size_bytes - (address - found->address)) return nullptr;
  if (const LazyPlace drawn = lazy_about(address); drawn.array != nullptr) {
    if (std::byte* const there = drawn.array->make(address - drawn.begin, bytes)) return there;
    spread(drawn.begin);
  }
  const std::uint64_t offset =
      is_device_address(address) ? static_cast<std::uint64_t>(host_offset_) : 0;
  return reinterpret_cast<std::byte*>(address + offset);
}

/// The lazily generated array at `address` becomes one like all others: the host wants much of it
/// at once.
void AddressSpace::spread(std::uint64_t address) const {
  const auto found = lazy_.find(address);
  found->second->copy_to(
      reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(host_offset_)));
  lazy_.erase(found);
}

bool AddressSpace::generate_lazily(std::uint64_t address, ByteSource source, bool is_output) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end() || !is_device_address(address)) return false;
  lazy_[address] = std::make_unique<LazyArray>(found->second.size_bytes, std::move(source));
  lazy_outputs_.erase(address);
  if (is_output) lazy_outputs_.insert(address);
  initialised_.reset();
  return true;
}

const LazyArray* AddressSpace::lazy_at(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto found = lazy_.find(address);
  return found == lazy_.end() ? nullptr : found->second.get();
}

std::uint64_t AddressSpace::lazy_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [address, array] : lazy_) bytes += array->made_bytes();
  return bytes;
}

bool AddressSpace::lazy_output_was_touched() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(lazy_, [&](const auto& drawn) {
    return lazy_outputs_.contains(drawn.first) && drawn.second->was_touched();
  });
}

/// The host is about to write [address, address + bytes): an array of which nothing is left need
/// not be made first.
void AddressSpace::forget_lazy(std::uint64_t address, std::uint64_t bytes) {
  const auto found = lazy_.find(address);
  if (found != lazy_.end() && bytes >= found->second->size_bytes()) lazy_.erase(found);
}

std::byte* AddressSpace::host_bytes(std::uint64_t address, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return resolve(address, bytes);
}

bool AddressSpace::copy_in(std::uint64_t to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return true;  // of a place that may be null
  const std::lock_guard lock(mutex_);
  forget_lazy(to, bytes);
  std::byte* place = resolve(to, bytes);
  if (place == nullptr) return false;
  std::memcpy(place, from, bytes);
  set_initialised(to, bytes, true);
  return true;
}

bool AddressSpace::copy_out(void* to, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return true;
  const std::lock_guard lock(mutex_);
  const std::byte* place = resolve(from, bytes);
  if (place == nullptr) return false;
  std::memcpy(to, place, bytes);
  return true;
}

bool AddressSpace::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (bytes == 0) return true;
  const std::lock_guard lock(mutex_);
  if (to != from) forget_lazy(to, bytes);
  std::byte* target = resolve(to, bytes);
  const std::byte* source = resolve(from, bytes);
  if (target == nullptr || source == nullptr) return false;
  std::memmove(target, source, bytes);
  if (initialised_ != nullptr && is_device_address(to)) {
    if (is_device_address(from)) {
      initialised_->copy(to - window_, from - window_, bytes);
    } else {
      set_initialised(to, bytes, true);
    }
  }
  return true;
}

bool AddressSpace::fill(std::uint64_t to, std::byte value, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  forget_lazy(to, bytes);
  std::byte* place = resolve(to, bytes);
  if (place == nullptr) return false;
  std::memset(place, static_cast<int>(value), bytes);
  set_initialised(to, bytes, true);
  return true;
}

}  // namespace membound::vgpu::memory
