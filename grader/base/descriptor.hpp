// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A file descriptor that closes itself, and pipes of them. Every one is close-on-exec: what a
/// child shall keep is said in the child, so that threads that start programs at the same moment
/// cannot pass on each other's.
/// Place in the chain: kernel -> [descriptor] -> process, supervisor.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

namespace membound::base {

/// Owns a descriptor; -1 means none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(std::exchange(other.number_, -1));
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

/// False, with errno set, when the process has too many open.
[[nodiscard]] inline bool make_pipe(Descriptor& read_end, Descriptor& write_end) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
  return true;
}

/// Writes all of `text`, however often it is interrupted. False, with errno set, when it cannot.
[[nodiscard]] bool write_all(int descriptor, std::string_view text);

}  // namespace membound::base
