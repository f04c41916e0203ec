// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/request_log.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace membound::runner {
namespace {

struct Head {
  std::uint32_t kind = 0, payload_bytes = 0, answer_bytes = 0, is_end = 0;
  std::uint64_t copied_bytes = 0;
};

}  // namespace

void RequestLog::write_all(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t now = write(fd_, bytes.data(), bytes.size());
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return;  // what is missing earns nothing
    bytes = bytes.subspan(static_cast<std::size_t>(now));
  }
}

void RequestLog::add(const ServedRequest& request) {
  if (is_full_) return;
  bytes_ += sizeof(Head) + request.payload.size() + request.answer.size() + request.copied.size();
  is_full_ = bytes_ > kMostBytes;
  const Head head{request.kind, static_cast<std::uint32_t>(request.payload.size()),
                  static_cast<std::uint32_t>(request.answer.size()), is_full_ ? 1U : 0U,
                  request.copied.size()};
  write_all(std::as_bytes(std::span(&head, 1)));
  if (is_full_) return;
  write_all(request.payload);
  write_all(request.answer);
  write_all(request.copied);
}

base::Result<ServedRequests> requests_of(std::span<const std::byte> log) {
  ServedRequests requests;
  while (!log.empty()) {
    const auto take = [&](std::uint64_t bytes, std::span<const std::byte>& part) {
      if (bytes > log.size()) return false;
      part = log.first(bytes);
      log = log.subspan(bytes);
      return true;
    };
    std::span<const std::byte> start;
    Head head;
    ServedRequest request;
    if (take(sizeof head, start)) std::memcpy(&head, start.data(), sizeof head);
    if (!start.empty() && head.is_end != 0) {
      requests.is_whole = false;
      return requests;
    }
    if (start.empty() || !take(head.payload_bytes, request.payload) ||
        !take(head.answer_bytes, request.answer) || !take(head.copied_bytes, request.copied))
      return base::Error{base::ErrorKind::kMachine, "a runner's log of requests",
                         "entry " + std::to_string(requests.all.size() + 1) + " is cut off",
                         "whole entries", "look whether the disk or the memory is full"};
    request.kind = head.kind;
    requests.all.push_back(request);
  }
  return requests;
}

}  // namespace membound::runner
