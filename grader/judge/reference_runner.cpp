// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/reference_runner.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "grader/sandbox/jail/jail.hpp"

namespace membound::judge {
namespace {

/// A runner whose judge is gone ends itself after half a second of work.
constexpr int kPatienceMs = 10'000;
constexpr auto kLookAgain = std::chrono::milliseconds(2);

}  // namespace

base::Status ReferenceRunner::start(const jail::JailRequest& how) {
  auto pair = runner::make_socket_pair();
  if (!pair) return pair.error();
  control_ = std::move(pair->first);
  must_end_ = has_ended_ = false;
  jail::JailRequest request = how;
  const int socket = pair->second.get();
  request.arguments.insert(request.arguments.end(), {"--sessions", std::to_string(socket)});
  request.descriptors = {socket};
  // Each run has limits of its own, and this lives as long as the batch.
  request.limits.wall_seconds = std::numeric_limits<int>::max();
  request.stop = &must_end_;
  // It dies with the thread that started it.
  thread_ = std::thread([this, request = std::move(request), theirs = std::move(pair->second)] {
    outcome_ = jail::run_unjailed(request);
    has_ended_ = true;
    shutdown(theirs.get(), SHUT_RDWR);
  });
  return base::Done{};
}

base::Result<runner::Descriptor> ReferenceRunner::begin(const jail::JailRequest& how) {
  if (has_ended_) stop();
  if (!control_)
    if (const auto started = start(how); !started) return started.error();
  auto pair = runner::make_socket_pair();
  if (!pair) return pair.error();
  const runner::Channel control(runner::Descriptor(dup(control_.get())));
  if (const auto sent = control.send_descriptor(pair->second.get()); !sent) return sent.error();
  return std::move(pair->first);
}

base::Result<jail::JailOutcome> ReferenceRunner::end() {
  char word = 0;
  if (wait_for_word() && recv(control_.get(), &word, 1, MSG_DONTWAIT) == 1)
    return jail::JailOutcome{.exit_code = 0};
  stop();
  return outcome_;
}

bool ReferenceRunner::wait_for_word() const {
  pollfd watched{control_.get(), POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&watched, 1, kPatienceMs)) < 0 && errno == EINTR) {
  }
  return ready > 0;
}

void ReferenceRunner::stop() {
  if (!thread_.joinable()) return;
  shutdown(control_.get(), SHUT_RDWR);
  const auto start = std::chrono::steady_clock::now();
  while (!has_ended_ &&
         std::chrono::steady_clock::now() < start + std::chrono::milliseconds(kPatienceMs))
    std::this_thread::sleep_for(kLookAgain);
  must_end_ = true;
  thread_.join();
  control_ = {};
  has_ended_ = false;
}

}  // namespace membound::judge
