// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/forward/runtime_state.hpp"

#include <fcntl.h>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

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

namespace {

constexpr std::size_t kPageBytes = 4096;

/// Ranges of addresses that do not meet.
class Ranges {
 public:
  bool add(const void* data, std::size_t bytes) {
    const auto start = reinterpret_cast<std::uintptr_t>(data);
    if (holds(data, 1)) return false;
    const auto after = bytes_of_.lower_bound(start);
    if (after != bytes_of_.end() && after->first < start + bytes) return false;
    bytes_of_[start] = bytes;
    return true;
  }
  bool remove(const void* data) {
    return bytes_of_.erase(reinterpret_cast<std::uintptr_t>(data)) > 0;
  }
  [[nodiscard]] bool holds(const void* data, std::size_t bytes) const {
    const auto start = reinterpret_cast<std::uintptr_t>(data);
    auto at = bytes_of_.upper_bound(start);
    if (at == bytes_of_.begin()) return false;
    --at;
    return start - at->first < at->second && bytes <= at->second - (start - at->first);
  }
  [[nodiscard]] std::vector<void*> starts() const {
    std::vector<void*> all;
    for (const auto& [start, bytes] : bytes_of_) all.push_back(reinterpret_cast<void*>(start));
    return all;
  }

 private:
  std::map<std::uintptr_t, std::size_t> bytes_of_;
};

struct Memory {
  std::mutex mutex;
  Ranges pinned, device, variables;
  /// Allocations by device and address: two virtual GPUs give the same addresses.
  std::map<std::pair<int, const void*>, std::size_t> bytes_of;
  std::map<void*, std::size_t> ours;  // what allocate_pinned() gave
  std::vector<Connection::Ticket> under_way;
};

Memory& memory() {
  static auto* const all = new Memory;  // as long as the process: programs free in destructors
  return *all;
}

}  // namespace

void* allocate_pinned(std::size_t bytes) {
  if (bytes == 0 || bytes > SIZE_MAX - kPageBytes) return nullptr;
  void* data = std::aligned_alloc(kPageBytes, (bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
  if (data == nullptr) return nullptr;
  const std::scoped_lock lock(memory().mutex);
  memory().pinned.add(data, bytes);
  memory().ours[data] = bytes;
  return data;
}

bool free_pinned(void* data) {
  const std::scoped_lock lock(memory().mutex);
  if (memory().ours.erase(data) == 0) return false;
  memory().pinned.remove(data);
  std::free(data);
  return true;
}

bool pin(void* data, std::size_t bytes) {
  const std::scoped_lock lock(memory().mutex);
  return memory().pinned.add(data, bytes);
}

bool unpin(void* data) {
  const std::scoped_lock lock(memory().mutex);
  return !memory().ours.contains(data) && memory().pinned.remove(data);
}

bool is_pinned(const void* data, std::size_t bytes) {
  const std::scoped_lock lock(memory().mutex);
  return memory().pinned.holds(data, bytes);
}

void remember_device_memory(const void* data, std::size_t bytes) {
  const std::scoped_lock lock(memory().mutex);
  memory().device.add(data, bytes);
  memory().bytes_of[{current_device(), data}] = bytes;
}

void forget_device_memory(const void* data) {
  const std::scoped_lock lock(memory().mutex);
  memory().device.remove(data);
  memory().bytes_of.erase({current_device(), data});
}

std::size_t device_memory_bytes(const void* data) {
  const std::scoped_lock lock(memory().mutex);
  const auto found = memory().bytes_of.find({current_device(), data});
  return found == memory().bytes_of.end() ? 0 : found->second;
}

std::vector<void*> device_memory() {
  const std::scoped_lock lock(memory().mutex);
  return memory().device.starts();
}

void remember_variable(const void* data, std::size_t bytes) {
  const std::scoped_lock lock(memory().mutex);
  memory().variables.add(data, bytes);
}

cudaMemcpyKind direction_of(const void* to, const void* from, cudaMemcpyKind kind) {
  if (kind != cudaMemcpyDefault) return kind;
  const std::scoped_lock lock(memory().mutex);
  const auto is_devices = [](const void* data) {
    return memory().device.holds(data, 1) || memory().variables.holds(data, 1);
  };
  const bool to_device = is_devices(to), from_device = is_devices(from);
  if (to_device) return from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

std::int32_t copy_to_host(Connection& runner, void* to, std::uint64_t from, std::size_t bytes,
                          std::uint32_t stream) {
  if (!is_pinned(to, bytes)) return runner.copy_out(to, from, bytes, stream, nullptr);
  const std::scoped_lock lock(memory().mutex);
  return runner.copy_out(to, from, bytes, stream, &memory().under_way);
}

std::int32_t delivered(Connection& runner, std::int32_t code) {
  const std::scoped_lock lock(memory().mutex);
  if (code != 0 || memory().under_way.empty()) return code;
  std::vector<Connection::Ticket> left;
  for (const Connection::Ticket& ticket : std::exchange(memory().under_way, {}))
    if (runner.take_copy(ticket) == cudaErrorNotReady) left.push_back(ticket);
  memory().under_way = std::move(left);
  return code;
}

}  // namespace membound::forward
