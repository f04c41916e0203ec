// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/device_services.hpp"

#include <cstdio>
#include <utility>

#include "grader/vgpu/runtime/device/console_messages.hpp"

namespace membound::vgpu::runtime {

bool DeviceServices::print(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (output_.size() + text.size() > print_limit_bytes_) {
    ++dropped_lines_;
    return false;
  }
  output_ += text;
  return true;
}

std::uint64_t DeviceServices::allocate(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes == 0 || heap_used_bytes_ + bytes > heap_limit_bytes_) return 0;
  const auto address = memory_.allocate(
      bytes, 16, {memory::AllocationKind::kDeviceHeap, "malloc in a kernel", false});
  if (!address) return 0;
  heap_used_bytes_ += bytes;
  heap_.insert(*address);
  return *address;
}

bool DeviceServices::release(std::uint64_t address) {
  const std::scoped_lock lock(mutex_);
  if (address == 0) return true;
  if (heap_.erase(address) == 0) return false;
  if (const auto allocation = memory_.find(address)) heap_used_bytes_ -= allocation->size_bytes;
  return memory_.free(address);
}

void DeviceServices::flush_output() {
  const std::scoped_lock lock(mutex_);
  if (output_.empty()) return;
  std::fwrite(output_.data(), 1, output_.size(), stdout);
  std::fflush(stdout);
  output_.clear();
  if (const std::size_t lines = std::exchange(dropped_lines_, 0); lines > 0)
    messages::print(messages::dropped_output(lines, print_limit_bytes_));
}

std::size_t DeviceServices::waiting_bytes() const {
  const std::scoped_lock lock(mutex_);
  return output_.size();
}

void DeviceServices::reset() {
  const std::scoped_lock lock(mutex_);
  for (const std::uint64_t address : heap_) memory_.free(address);
  heap_.clear();
  heap_used_bytes_ = 0;
  output_.clear();
  dropped_lines_ = 0;
}

}  // namespace membound::vgpu::runtime
