// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/client.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace membound::runner {
namespace {

/// Small enough that little waits for the first slice of a copy, large enough that a message for
/// each is nothing.
constexpr std::uint64_t kCopySliceBytes = std::uint64_t{2} << 20;

/// Whether code of the loaded module may be running while the runner works on the request.
bool may_run_kernels(const Request& request) {
  return std::holds_alternative<Launch>(request) || std::holds_alternative<Batch>(request) ||
         std::holds_alternative<LaunchGraph>(request);
}

}  // namespace

base::Result<std::unique_ptr<Connection>> Connection::open(Descriptor socket) {
  auto buffer = SharedBuffer::make();
  if (!buffer) return buffer.error();
  std::unique_ptr<Connection> connection(new Connection(std::move(socket), *std::move(buffer)));
  if (auto sent = connection->channel_.send_descriptor(connection->buffer_.fd()); !sent)
    return sent.error();
  const std::int32_t code = connection->call(DescribeDevice{}, &connection->device_);
  if (!connection->problem_.empty() || code != 0)
    return base::Error{
        base::ErrorKind::kMachine, "a runner",
        connection->problem_.empty() ? "CUDA error " + std::to_string(code) : connection->problem_,
        "a runner with a device", "`membound doctor` tells what is missing"};
  return {std::move(connection)};
}

Connection::~Connection() {
  batching_ = false;
  if (problem_.empty()) static_cast<void>(call(Goodbye{}));
}

std::int32_t Connection::give_up(const std::string& why) {
  if (problem_.empty()) problem_ = why;
  batch_.clear();
  return kDisconnected;
}

std::int32_t Connection::send(const Request& request) {
  if (!problem_.empty()) return kDisconnected;
  launched_ = launched_ || may_run_kernels(request);
  const auto sent =
      channel_.send(++sequence_, static_cast<std::uint32_t>(request.index()), encode(request));
  return sent ? 0 : give_up(sent.error().found);
}

std::int32_t Connection::receive(std::uint32_t kind, std::vector<std::byte>& payload) {
  if (!problem_.empty()) return kDisconnected;
  auto frame = channel_.receive();
  if (!frame) return give_up(frame.error().found);
  if (frame->header.sequence != ++answered_ || frame->header.kind != (kind | kAnswerBit))
    return give_up("an answer that was not asked for");
  payload = std::move(frame->payload);
  return 0;
}

std::int32_t Connection::exchange(const Request& request, std::vector<std::byte>& payload) {
  if (const std::int32_t code = send(request); code != 0) return code;
  return receive(static_cast<std::uint32_t>(request.index()), payload);
}

void Connection::begin_batch() {
  const std::scoped_lock lock(mutex_);
  batching_ = true;
  batch_code_ = 0;
}

std::int32_t Connection::send_batch() {
  if (batch_.empty()) return batch_code_;
  const Batch batch{std::exchange(batch_, {})};
  std::vector<std::byte> payload;
  if (const std::int32_t code = exchange(batch, payload); code != 0) return batch_code_ = code;
  const auto decoded = decode_answer<CodesAnswer>(payload);
  if (!decoded || decoded->answer.codes.size() > batch.requests.size())
    return batch_code_ = give_up("an answer to a batch that has no sense");
  for (const std::int32_t code : decoded->answer.codes)
    if (batch_code_ == 0) batch_code_ = code;
  if (batch_code_ == 0) batch_code_ = decoded->code;
  return batch_code_;
}

std::int32_t Connection::end_batch() {
  const std::scoped_lock lock(mutex_);
  const std::int32_t code = send_batch();
  batching_ = false;
  return problem_.empty() ? code : kDisconnected;
}

template <typename Query, typename Before, typename After>
std::int32_t Connection::copy_slices(std::uint64_t address, std::uint64_t bytes,
                                     const Before& before, const After& after) {
  if (batching_) static_cast<void>(send_batch());
  // What a program's copy does is noted slice by slice, each as large as can be.
  const bool is_noted = device_.records_calls != 0;
  const std::uint64_t most = is_noted ? kSharedBytes : kCopySliceBytes;
  const std::uint64_t places = is_noted ? 1 : 2;
  const std::uint64_t count = (bytes + most - 1) / most;
  const auto slice = [&](std::uint64_t i) {
    return Query{address + i * most, std::min(most, bytes - i * most), i % places * most};
  };
  std::int32_t first = 0;
  std::uint64_t sent = 0;
  for (std::uint64_t done = 0; done < (first == 0 ? count : sent); ++done) {
    for (; first == 0 && sent < count && sent < done + places; ++sent) {
      before(slice(sent), sent * most);
      if (const std::int32_t code = send(slice(sent)); code != 0) return code;
    }
    std::vector<std::byte> payload;
    if (const std::int32_t code = receive(kind_of<Query>(), payload); code != 0) return code;
    const auto decoded = decode_answer<NoAnswer>(payload);
    if (!decoded)
      return give_up("an answer to " + name_of(kind_of<Query>()) + " that has no sense");
    if (first == 0) first = decoded->code;
    if (first == 0) after(slice(done), done * most);
  }
  return first;
}

std::int32_t Connection::upload(std::uint64_t address, const void* data, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto* from = static_cast<const std::byte*>(data);
  if (bytes <= kInlineBytes) return call(UploadInline{address, {from, from + bytes}});
  return copy_slices<Upload>(
      address, bytes,
      [&](const Upload& slice, std::uint64_t done) {
        std::memcpy(buffer_.data() + slice.at, from + done, slice.bytes);
      },
      [](const Upload&, std::uint64_t) {});
}

std::int32_t Connection::download(void* data, std::uint64_t address, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  auto* to = static_cast<std::byte*>(data);
  return copy_slices<Download>(
      address, bytes, [](const Download&, std::uint64_t) {},
      [&](const Download& slice, std::uint64_t done) {
        std::memcpy(to + done, buffer_.data() + slice.at, slice.bytes);
      });
}

std::int32_t Connection::copy_in(std::uint64_t address, const void* data, std::uint64_t bytes,
                                 std::uint32_t stream, bool pinned) {
  const std::scoped_lock lock(mutex_);
  const auto* from = static_cast<const std::byte*>(data);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t slice = std::min(kSharedBytes, bytes - done);
    std::memcpy(buffer_.data(), from + done, slice);
    const CopyIn request{address + done, slice, stream, static_cast<std::uint8_t>(pinned)};
    if (const std::int32_t code = call(request); code != 0) return code;
    done += slice;
  }
  return 0;
}

std::int32_t Connection::copy_out(void* data, std::uint64_t address, std::uint64_t bytes,
                                  std::uint32_t stream, std::vector<Ticket>* pinned) {
  const std::scoped_lock lock(mutex_);
  auto* to = static_cast<std::byte*>(data);
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t slice = std::min(kSharedBytes, bytes - done);
    const CopyOut request{address + done, slice, stream,
                          static_cast<std::uint8_t>(pinned != nullptr)};
    TicketAnswer answer;
    if (const std::int32_t code = call(request, &answer); code != 0) return code;
    if (pinned == nullptr)
      std::memcpy(to + done, buffer_.data(), slice);
    else
      pinned->push_back({answer.ticket, to + done, slice});
    done += slice;
  }
  return 0;
}

std::int32_t Connection::take_copy(const Ticket& ticket) {
  const std::scoped_lock lock(mutex_);
  const std::int32_t code = call(TakeCopy{ticket.number});
  if (code == 0) std::memcpy(ticket.to, buffer_.data(), ticket.bytes);
  return code;
}

std::int32_t Connection::load_module(std::span<const std::byte> code, ModuleAnswer& module) {
  const std::scoped_lock lock(mutex_);
  constexpr std::int32_t kInvalidValue = 1;  // cudaErrorInvalidValue
  if (code.empty() || code.size() > kSharedBytes) return kInvalidValue;
  std::memcpy(buffer_.data(), code.data(), code.size());
  return call(LoadModule{code.size()}, &module);
}

std::int32_t Connection::each_touched(std::uint64_t address, std::uint64_t size_bytes,
                                      const SeeBytes& see) {
  const std::scoped_lock lock(mutex_);
  AskTouched question{address, 0};
  TouchedAnswer answer;
  do {
    if (const std::int32_t code = call(question, &answer); code != 0) return code;
    std::vector<std::byte> bytes;
    const std::byte* from = buffer_.data();
    for (const auto& [offset, count] : answer.ranges) {
      const bool is_inside = offset <= size_bytes && count <= size_bytes - offset;
      const bool is_whole = count % kChunkBytes == 0 || offset + count == size_bytes;
      if (offset < question.from || !is_inside || !is_whole)
        return give_up("chunks of an array that has no such");
      bytes.assign(from, from + count);  // the runner could still write to the shared buffer
      see(offset, bytes);
      from += count;
      question.from = offset + count;
    }
  } while (answer.more != 0);
  return 0;
}

std::string Connection::take_report() {
  const std::scoped_lock lock(mutex_);
  if (device_.virtual_name.empty()) return {};
  ReportAnswer answer;
  if (call(TakeReport{}, &answer) != 0) return {};
  return {reinterpret_cast<const char*>(buffer_.data()), answer.bytes};
}

std::string Connection::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

bool Connection::ended() const {
  const std::scoped_lock lock(mutex_);
  return channel_.ended();
}

bool Connection::has_launched() const {
  const std::scoped_lock lock(mutex_);
  return launched_;
}

}  // namespace membound::runner
