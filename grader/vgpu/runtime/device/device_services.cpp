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

std::uint64_t DeviceServices::allocate(std::uint64_t bytes, const exec::Place* where) {
  const std::scoped_lock lock(mutex_);
  if (bytes == 0 || heap_used_bytes_ + bytes > heap_limit_bytes_) return 0;
  const auto address = memory_.allocate(
      bytes, 16, {memory::AllocationKind::kDeviceHeap, "malloc in a kernel", false});
  if (!address) return 0;
  heap_used_bytes_ += bytes;
  heap_.emplace(*address, where == nullptr ? exec::Place() : *where);
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

std::vector<exec::CheckReport> DeviceServices::leaks() const {
  const std::scoped_lock lock(mutex_);
  std::vector<exec::CheckReport> found;
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> by_line;
  std::vector<std::uint64_t> bytes;
  for (const auto& [address, where] : heap_) {
    const auto [place, added] = by_line.try_emplace({where.file, where.line}, found.size());
    if (added) {
      found.push_back({"leakcheck", "device heap never freed", where, address, 0, 0, ""});
      found.back().place.instruction = "malloc";
      found.back().advice = "call free() in the kernel, or in a later one, for each malloc()";
      bytes.push_back(0);
    }
    ++found[place->second].count;
    if (const auto held = memory_.find(address)) bytes[place->second] += held->size_bytes;
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].size_bytes = static_cast<std::uint32_t>(bytes[i]);
    found[i].text = std::to_string(bytes[i]) + " bytes in " + std::to_string(found[i].count) +
                    (found[i].count == 1 ? " allocation" : " allocations") +
                    " of the device's heap were never freed";
    found[i].count = 1;
  }
  return found;
}

void DeviceServices::reset() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [address, where] : heap_) memory_.free(address);
  heap_.clear();
  heap_used_bytes_ = 0;
  output_.clear();
  dropped_lines_ = 0;
}

}  // namespace membound::vgpu::runtime
