// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/real_device.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace membound::judge {

RealDevice::RealDevice(const std::string& name) {
  std::error_code error;
  const std::filesystem::path file =
      std::filesystem::temp_directory_path(error) / ("membound-" + name + ".lock");
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
}

RealDevice::~RealDevice() {
  if (descriptor_ >= 0) close(descriptor_);
}

void RealDevice::lock() {
  mutex_.lock();
  if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
}

void RealDevice::unlock() {
  if (descriptor_ >= 0) flock(descriptor_, LOCK_UN);
  mutex_.unlock();
}

}  // namespace membound::judge
