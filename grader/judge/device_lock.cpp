// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/device_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace membound::judge {

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

void DeviceLock::unlock() {
  if (!excludes_) return;
  if (descriptor_ >= 0) flock(descriptor_, LOCK_UN);
  mutex_.unlock();
}

}  // namespace membound::judge
