// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How judge and runner are connected: frames over one stream socket, one file descriptor at its
/// beginning, and through it the shared buffer for bulk data, a memfd whose size is sealed, so that
/// neither side can take it away under the other (reading past a shortened file would be a SIGBUS).
/// Requests and answers alternate, and a side only touches the buffer while it is its turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/sandbox/runner/protocol.hpp"

namespace membound::runner {

/// Begins the line on stderr with which a program tells where it stands (forward/program_place).
inline constexpr std::string_view kPlaceMark = "membound: the program stands at";

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Descriptor(std::move(other)).swap(*this);  // what was ours is closed now
    return *this;
  }
  ~Descriptor();
  void swap(Descriptor& other) noexcept { std::swap(fd_, other.fd_); }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// Two connected sockets: the judge's end first. Both are closed on exec; whoever starts a program
/// clears that for the end it passes on.
[[nodiscard]] base::Result<std::pair<Descriptor, Descriptor>> make_socket_pair();

/// A frame that arrived whole.
struct Frame {
  FrameHeader header;
  std::vector<std::byte> payload;
};

/// Sends and receives whole frames; blocking. After an error the connection is of no more use.
class Channel {
 public:
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] base::Status send(std::uint32_t sequence, std::uint32_t kind,
                                  std::span<const std::byte> payload) const;
  /// The end of the stream is an error that ended() tells apart.
  [[nodiscard]] base::Result<Frame> receive();
  /// Whether the other side has closed, which its death does too.
  [[nodiscard]] bool ended() const { return ended_; }

  /// One descriptor, with one byte: before the first frame.
  [[nodiscard]] base::Status send_descriptor(int fd) const;
  [[nodiscard]] base::Result<Descriptor> receive_descriptor();

  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  [[nodiscard]] base::Status read_exactly(std::span<std::byte> bytes);

  Descriptor socket_;
  bool ended_ = false;
};

/// A mapping of kSharedBytes bytes. Content may change under a hostile peer: copy out first, then
/// look.
class SharedBuffer {
 public:
  /// The judge's: a new one.
  [[nodiscard]] static base::Result<SharedBuffer> make();
  /// The runner's: refuses what is not a sealed memfd of the right size.
  [[nodiscard]] static base::Result<SharedBuffer> map(Descriptor memory);

  SharedBuffer(SharedBuffer&& other) noexcept;
  SharedBuffer& operator=(SharedBuffer&& other) noexcept;
  ~SharedBuffer();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] int fd() const { return memory_.get(); }

 private:
  SharedBuffer() = default;
  Descriptor memory_;
  std::byte* data_ = nullptr;
};

}  // namespace membound::runner
