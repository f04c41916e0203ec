// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/device_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <chrono>

#include "grader/base/process.hpp"
#include "grader/base/result.hpp"

namespace membound::judge {
namespace {

constexpr auto kDevicePoll = std::chrono::milliseconds(20);

}  // namespace

DeviceLock::DeviceLock(const std::filesystem::path& file) : excludes_(!file.empty()) {
  if (excludes_) descriptor_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
}

DeviceLock::~DeviceLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

void DeviceLock::lock() {
  if (!excludes_) return;
  mutex_.lock();
  if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
}

bool DeviceLock::try_lock() {
  if (!excludes_) return true;
  if (!mutex_.try_lock()) return false;
  if (descriptor_ < 0 || flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return true;
  mutex_.unlock();
  return false;
}

void DeviceLock::unlock() {
  if (!excludes_) return;
  if (descriptor_ >= 0) flock(descriptor_, LOCK_UN);
  mutex_.unlock();
}

DevicePool::DevicePool(const std::vector<Device>& devices) : devices_(devices) {
  MEMBOUND_CHECK(!devices.empty());
  for (const Device& device : devices) locks_.emplace_back(device.lock_file);
}

const Device& DevicePool::take() {
  std::unique_lock guard(mutex_);
  while (true) {
    for (std::size_t i = 0; i < locks_.size(); ++i)
      if (locks_[i].try_lock()) return devices_[i];
    // Nobody tells of a device that another process gives back.
    given_back_.wait_for(guard, kDevicePoll);
  }
}

void DevicePool::give_back(const Device& device) {
  {
    const std::lock_guard guard(mutex_);
    locks_[static_cast<std::size_t>(&device - devices_.data())].unlock();
  }
  given_back_.notify_one();
}

namespace {

constexpr double kLongestWipeSeconds = 60;

}  // namespace

void wipe_devices(const Workplace& place, const std::vector<Device>& devices) {
  for (const Device& device : devices) {
    if (!device.kind->can_be_hurt()) continue;
    DeviceLock lock(device.lock_file);
    if (!lock.try_lock()) continue;
    static_cast<void>(base::run_process(
        {.arguments = {(place.build / "libexec" / "membound_runner").string(), "--wipe"},
         .environment = device.environment,
         .timeout_seconds = kLongestWipeSeconds}));
    lock.unlock();
  }
}

}  // namespace membound::judge
