// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/ledger/batch_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "grader/base/result.hpp"

namespace membound::ledger {
namespace {

constexpr std::size_t kSize = 32;
constexpr std::string_view kEnded = "ended";

/// One line of kSize bytes, always the same size.
void write_line(int descriptor, std::string_view text) {
  std::array<char, kSize> line;
  line.fill(' ');
  std::memcpy(line.data(), text.data(), std::min(text.size(), kSize - 1));
  line.back() = '\n';
  [[maybe_unused]] const auto written = pwrite(descriptor, line.data(), kSize, 0);
  fdatasync(descriptor);
}

std::string read_line(int descriptor) {
  std::array<char, kSize> line{};
  const auto size = pread(descriptor, line.data(), kSize, 0);
  std::string text(line.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  text.erase(std::min(text.find_last_not_of(" \n") + 1, text.size()));
  return text;
}

base::Error failed(const std::filesystem::path& file, int reason) {
  return {base::ErrorKind::kMachine, file.string(),
          "cannot be locked: " + base::reason_text(reason), "",
          "check the rights of the folder and that the disk is not full"};
}

}  // namespace

base::Result<BatchLock> BatchLock::take(const std::filesystem::path& out) {
  std::error_code error;
  std::filesystem::create_directories(out, error);
  const auto file = out / "lock";
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return failed(file, errno);
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    const std::string holder = read_line(descriptor);
    close(descriptor);
    if (reason != EWOULDBLOCK) return failed(file, reason);
    return base::Error{base::ErrorKind::kUsage, out.string(),
                       "is being graded by another membound (" + holder + ")",
                       "one at a time for each batch", "wait for it, or use another --out"};
  }
  const std::string last = read_line(descriptor);
  write_line(descriptor, "process " + std::to_string(getpid()));
  return BatchLock(descriptor, !last.empty() && last != kEnded);
}

BatchLock::BatchLock(BatchLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), last_one_died_(other.last_one_died_) {}

BatchLock::~BatchLock() {
  if (descriptor_ < 0) return;
  write_line(descriptor_, kEnded);
  close(descriptor_);
}

}  // namespace membound::ledger
