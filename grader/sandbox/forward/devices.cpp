// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/forward/devices.hpp"

#include <fcntl.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace membound::forward {
namespace {

/// One runner, opened when it is first needed.
struct Device {
  int socket = -1;
  std::unique_ptr<Connection> connection;
  std::string problem;
};

std::vector<int> sockets_of(std::string_view text) {
  std::vector<int> sockets;
  while (!text.empty()) {
    int fd = -1;
    const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), fd);
    if (failure != std::errc() || fd < 0) return {};
    sockets.push_back(fd);
    text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
    if (!text.empty() && text.front() != ',') return {};
    if (!text.empty()) text.remove_prefix(1);
  }
  return sockets;
}

std::vector<Device> make_devices() {
  std::vector<Device> devices;
  const char* text = std::getenv("MEMBOUND_REMOTE_SOCKETS");
  for (const int fd : sockets_of(text == nullptr ? "" : text)) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);  // ours from here on, and not for programs we start
    devices.push_back({fd, nullptr, {}});
  }
  return devices;
}

std::vector<Device>& devices() {
  // Lives as long as the process: objects of the program may free their memory after us. The
  // sockets' end tells the runners that it is over.
  static auto* const all = new std::vector<Device>(make_devices());
  return *all;
}

std::mutex& opening() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

int device_count() { return static_cast<int>(devices().size()); }

int& current_device() {
  thread_local int current = 0;
  return current;
}

cudaError_t& last_error() {
  thread_local cudaError_t last = cudaSuccess;
  return last;
}

cudaError_t remember(cudaError_t code) {
  if (code != cudaSuccess) last_error() = code;
  return code;
}

Connection* connection(int device) {
  if (device < 0 || device >= device_count()) return nullptr;
  const std::scoped_lock lock(opening());
  // The first one first: a submission's runner scrubs when it is opened, which takes all free
  // memory of the GPU. The reference's has its context by then, and wants nothing while we wait
  // here.
  for (int number = 0; number <= device; ++number) {
    Device& one = devices()[static_cast<std::size_t>(number)];
    if (one.connection != nullptr || !one.problem.empty()) continue;
    auto opened = Connection::open(Descriptor(one.socket));
    if (opened)
      one.connection = *std::move(opened);
    else
      one.problem = base::to_string(opened.error());
  }
  return devices()[static_cast<std::size_t>(device)].connection.get();
}

Connection* connection() { return connection(current_device()); }

std::string problem_of(int device) {
  if (device < 0 || device >= device_count()) return {};
  const Device& chosen = devices()[static_cast<std::size_t>(device)];
  return chosen.connection == nullptr ? chosen.problem : chosen.connection->problem();
}

}  // namespace membound::forward
