// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/shared_buffer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "grader/base/result.hpp"

namespace membound::runner {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

base::Error failed(const std::string& found) {
  return {base::ErrorKind::kMachine, "the memory shared by judge and runner", found,
          "a sealed memfd of " + std::to_string(kSharedBytes) + " bytes",
          "check that /proc/sys/vm and the memory limit allow it"};
}

}  // namespace

base::Result<SharedBuffer> SharedBuffer::make() {
  Descriptor memory(memfd_create("membound", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory || ftruncate(memory.get(), static_cast<off_t>(kSharedBytes)) != 0 ||
      fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0)
    return failed(base::reason_text(errno));
  return map(std::move(memory));
}

base::Result<SharedBuffer> SharedBuffer::map(Descriptor memory) {
  struct stat status {};
  if (fstat(memory.get(), &status) != 0) return failed(base::reason_text(errno));
  if (status.st_size != static_cast<off_t>(kSharedBytes))
    return failed(std::to_string(status.st_size) + " bytes");
  if (const int seals = fcntl(memory.get(), F_GET_SEALS); seals < 0 || (seals & kSeals) != kSeals)
    return failed("a file that can still be shortened");
  void* data = mmap(nullptr, kSharedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (data == MAP_FAILED) return failed(base::reason_text(errno));
  SharedBuffer buffer;
  buffer.memory_ = std::move(memory);
  buffer.data_ = static_cast<std::byte*>(data);
  return buffer;
}

SharedBuffer::SharedBuffer(SharedBuffer&& other) noexcept
    : memory_(std::move(other.memory_)), data_(std::exchange(other.data_, nullptr)) {}

SharedBuffer& SharedBuffer::operator=(SharedBuffer&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(data_, other.data_);
  return *this;
}

SharedBuffer::~SharedBuffer() {
  if (data_ != nullptr) munmap(data_, kSharedBytes);
}

}  // namespace membound::runner
