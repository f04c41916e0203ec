// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The judge's end of one connection: typed calls to a runner that may be hostile, dead or slow.
///
/// A runner that dies or breaks the protocol is never spoken to again: every later call gives
/// kDisconnected, and problem() says what happened. Waiting is not bounded here; the harness's
/// watchdog and the judge's backstop end a runner that does not answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/sandbox/runner/channel.hpp"

namespace membound::runner {

/// Code of a call that found no runner: cudaErrorContextIsDestroyed, which no kernel can cause.
inline constexpr std::int32_t kDisconnected = 709;

/// One runner as its user sees it.
class Connection {
 public:
  /// Shakes hands: passes the shared buffer and asks what the runner is.
  [[nodiscard]] static base::Result<std::unique_ptr<Connection>> open(Descriptor socket);
  /// Says goodbye to a runner that still listens.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] const DeviceAnswer& device() const { return device_; }

  /// Asks and waits. Inside a batch a request that may be batched is only queued and gives 0; any
  /// other one sends the batch first.
  template <typename Query>
  [[nodiscard]] std::int32_t call(const Query& query, typename Query::Answer* answer = nullptr);

  /// How launches from here on run. Told with the next launch, if it is news by then.
  void sample_launches(SampleLaunches how) {
    const std::scoped_lock lock(mutex_);
    sampling_ = how;
  }

  /// Queues what follows until end_batch(), so that the runner gets it in one message and runs it
  /// without waiting for the judge in between.
  void begin_batch();
  /// Sends what is queued and waits for it: the first code that is not 0.
  [[nodiscard]] std::int32_t end_batch();

  /// Copies in slices of the shared buffer.
  [[nodiscard]] std::int32_t upload(std::uint64_t address, const void* data, std::uint64_t bytes);
  [[nodiscard]] std::int32_t download(void* data, std::uint64_t address, std::uint64_t bytes);
  /// The same in stream order. From pinned memory a copy is only begun; into pinned memory it
  /// leaves tickets, one for each slice, with which take_copy() gets the bytes once they are there.
  [[nodiscard]] std::int32_t copy_in(std::uint64_t address, const void* data, std::uint64_t bytes,
                                     std::uint32_t stream, bool pinned);
  struct Ticket {
    std::uint32_t number = 0;
    std::byte* to = nullptr;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::int32_t copy_out(void* data, std::uint64_t address, std::uint64_t bytes,
                                      std::uint32_t stream, std::vector<Ticket>* pinned);
  [[nodiscard]] std::int32_t take_copy(const Ticket& ticket);
  /// `code` is the whole file.
  [[nodiscard]] std::int32_t load_module(std::span<const std::byte> code, ModuleAnswer& module);
  /// Shows what was touched of a lazily generated array of that size, in order.
  using SeeBytes = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;
  [[nodiscard]] std::int32_t each_touched(std::uint64_t address, std::uint64_t size_bytes,
                                          const SeeBytes& see);
  /// The virtual GPU's report; empty elsewhere.
  [[nodiscard]] std::string take_report();

  /// What became of the runner; empty while all is well.
  [[nodiscard]] std::string problem() const;
  /// Whether it ended by itself (as opposed to breaking the protocol).
  [[nodiscard]] bool ended() const;
  /// Whether code of a module has been launched: from then on the runner may be in its hands.
  [[nodiscard]] bool has_launched() const;

 private:
  Connection(Descriptor socket, SharedBuffer buffer)
      : channel_(std::move(socket)), buffer_(std::move(buffer)) {}

  std::int32_t exchange(const Request& request, std::vector<std::byte>& payload);
  /// The two halves of an exchange: several may be sent before the first answer is awaited.
  std::int32_t send(const Request& request);
  std::int32_t receive(std::uint32_t kind, std::vector<std::byte>& payload);
  /// Does the slices of a copy, of which the runner works on one while we are busy with another.
  template <typename Query, typename Before, typename After>
  std::int32_t copy_slices(std::uint64_t address, std::uint64_t bytes, const Before& before,
                           const After& after);
  std::int32_t send_batch();
  std::int32_t give_up(const std::string& why);

  mutable std::recursive_mutex mutex_;  // the harness calls from one thread; others may ask
  Channel channel_;
  SharedBuffer buffer_;
  DeviceAnswer device_;
  std::uint32_t sequence_ = 0, answered_ = 0;
  bool batching_ = false;
  std::vector<std::vector<std::byte>> batch_;
  std::int32_t batch_code_ = 0;
  SampleLaunches sampling_, told_sampling_;
  std::string problem_;
  bool launched_ = false;
};

template <typename Query>
std::int32_t Connection::call(const Query& query, typename Query::Answer* answer) {
  const std::scoped_lock lock(mutex_);
  if constexpr (std::is_same_v<Query, Launch>)
    if (sampling_ != told_sampling_) {
      told_sampling_ = sampling_;
      static_cast<void>(call(sampling_));
    }
  if (batching_) {
    if constexpr (kMayBeBatched<Query>) {
      batch_.push_back(encode_for_batch(query));
      if (batch_.size() == kMaxBatch) static_cast<void>(send_batch());
      return problem_.empty() ? 0 : kDisconnected;
    }
    static_cast<void>(send_batch());
  }
  std::vector<std::byte> payload;
  if (const std::int32_t code = exchange(query, payload); code != 0) return code;
  auto decoded = decode_answer<typename Query::Answer>(payload);
  if (!decoded) return give_up("an answer to " + name_of(kind_of<Query>()) + " that has no sense");
  if (answer != nullptr) *answer = std::move(decoded->answer);
  return decoded->code;
}

}  // namespace membound::runner
