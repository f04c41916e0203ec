// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The bytes behind addresses of an AddressSpace: found, copied, filled, drawn when first touched.
#include <algorithm>
#include <cstring>

#include "grader/vgpu/memory/address_space.hpp"

namespace membound::vgpu::memory {

std::byte* AddressSpace::resolve(std::uint64_t address, std::uint64_t bytes) const {
  const Allocation* found = holder(address);
  if (found == nullptr || bytes > found->size_bytes - (address - found->address)) return nullptr;
  if (const DrawnPlace drawn = drawn_about(address); drawn.array != nullptr) {
    if (std::byte* const there = drawn.array->make(address - drawn.begin, bytes)) return there;
    spread(drawn.begin);
  }
  const std::uint64_t offset =
      is_device_address(address) ? static_cast<std::uint64_t>(host_offset_) : 0;
  return reinterpret_cast<std::byte*>(address + offset);
}

/// The drawn array at `address` becomes one like all others: the host wants much of it at once.
void AddressSpace::spread(std::uint64_t address) const {
  const auto found = drawn_.find(address);
  found->second->copy_to(
      reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(host_offset_)));
  drawn_.erase(found);
}

bool AddressSpace::draw(std::uint64_t address, ByteSource source, bool is_output) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end() || !is_device_address(address)) return false;
  drawn_[address] = std::make_unique<DrawnArray>(found->second.size_bytes, std::move(source));
  drawn_outputs_.erase(address);
  if (is_output) drawn_outputs_.insert(address);
  initialised_.reset();
  return true;
}

const DrawnArray* AddressSpace::drawn_at(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto found = drawn_.find(address);
  return found == drawn_.end() ? nullptr : found->second.get();
}

std::uint64_t AddressSpace::drawn_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [address, array] : drawn_) bytes += array->made_bytes();
  return bytes;
}

bool AddressSpace::drawn_output_was_touched() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(drawn_, [&](const auto& drawn) {
    return drawn_outputs_.contains(drawn.first) && drawn.second->was_touched();
  });
}

/// The host is about to write [address, address + bytes): an array of which nothing is left need
/// not be made first.
void AddressSpace::forget_drawn(std::uint64_t address, std::uint64_t bytes) {
  const auto found = drawn_.find(address);
  if (found != drawn_.end() && bytes >= found->second->size_bytes()) drawn_.erase(found);
}

std::byte* AddressSpace::host_bytes(std::uint64_t address, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return resolve(address, bytes);
}

bool AddressSpace::copy_in(std::uint64_t to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return true;  // of a place that may be null
  const std::lock_guard lock(mutex_);
  forget_drawn(to, bytes);
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
  if (to != from) forget_drawn(to, bytes);
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
  forget_drawn(to, bytes);
  std::byte* place = resolve(to, bytes);
  if (place == nullptr) return false;
  std::memset(place, static_cast<int>(value), bytes);
  set_initialised(to, bytes, true);
  return true;
}

}  // namespace membound::vgpu::memory
