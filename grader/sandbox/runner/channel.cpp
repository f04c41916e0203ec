// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/channel.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "grader/base/result.hpp"

namespace membound::runner {
namespace {

base::Error failed(const std::string& what, const std::string& found) {
  return {base::ErrorKind::kMachine, "the connection between judge and runner", what + ": " + found,
          "a runner that is alive", "look at what the runner printed"};
}

/// Room for one descriptor beside the data, aligned as the kernel wants it.
struct Ancillary {
  alignas(cmsghdr) char bytes[CMSG_SPACE(sizeof(int))] = {};
};

msghdr message_of(iovec& part, Ancillary& ancillary) {
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.bytes;
  message.msg_controllen = sizeof(ancillary.bytes);
  return message;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

base::Result<std::pair<Descriptor, Descriptor>> make_socket_pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return failed("making it", base::reason_text(errno));
  return std::pair(Descriptor(fds[0]), Descriptor(fds[1]));
}

base::Status Channel::send(std::uint32_t sequence, std::uint32_t kind,
                           std::span<const std::byte> payload) const {
  const std::vector<std::byte> frame = encode_frame(sequence, kind, payload);
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t now =
        ::send(socket_.get(), frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return failed("sending", base::reason_text(errno));
    sent += static_cast<std::size_t>(now);
  }
  return base::Done{};
}

base::Status Channel::read_exactly(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t now = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) {
      ended_ = now == 0 || errno == ECONNRESET;
      return failed("receiving", now == 0 ? "the other side has ended" : base::reason_text(errno));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(now));
  }
  return base::Done{};
}

base::Result<Frame> Channel::receive() {
  std::byte head[kHeaderBytes];
  if (auto status = read_exactly(head); !status) return status.error();
  auto header = decode_header(head);
  if (!header) return header.error();
  Frame frame{*header, std::vector<std::byte>(header->length)};
  if (auto status = read_exactly(frame.payload); !status) return status.error();
  return frame;
}

base::Status Channel::send_descriptor(int fd) const {
  char byte = 'B';
  iovec part{&byte, 1};
  Ancillary ancillary;
  msghdr message = message_of(part, ancillary);
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &fd, sizeof(fd));
  if (sendmsg(socket_.get(), &message, MSG_NOSIGNAL) != 1)
    return failed("sending a descriptor", base::reason_text(errno));
  return base::Done{};
}

base::Result<Descriptor> Channel::receive_descriptor() {
  char byte = 0;
  iovec part{&byte, 1};
  Ancillary ancillary;
  msghdr message = message_of(part, ancillary);
  const ssize_t got = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  ended_ = got == 0;
  if (got != 1)
    return failed("receiving a descriptor",
                  ended_ ? "the other side has ended" : base::reason_text(errno));
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
      head->cmsg_len != CMSG_LEN(sizeof(int)))
    return failed("receiving a descriptor", "a message without one");
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(head), sizeof(fd));
  return Descriptor(fd);
}

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
