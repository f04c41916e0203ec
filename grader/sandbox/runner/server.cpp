// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The server's loop over requests, what it records of them, and events.
#include "grader/sandbox/runner/server.hpp"

#include <cstdio>
#include <utility>

#include "grader/sandbox/runner/call_record.hpp"
#include "grader/sandbox/runner/messages.hpp"
#include "grader/sandbox/runner/protocol.hpp"
#include "grader/sandbox/runner/virtual_services.hpp"

namespace membound::runner {
namespace {

template <typename Query, typename Answer>
[[nodiscard]] Call describe(const Query&, const Answer&) {
  return {};
}
// The kernel's name and what its parameters point to are for the server to fill in.
Call describe(const Launch& q, const NoAnswer&) {
  return {.kind = CallKind::kLaunch,
          .stream = q.stream,
          .grid = q.grid,
          .block = q.block,
          .shared_bytes = q.shared_bytes};
}
Call describe(const Allocate& q, const AddressAnswer& a) {
  return {.kind = CallKind::kAllocate, .address = a.address, .bytes = q.bytes};
}
Call describe(const Free& q, const NoAnswer&) {
  return {.kind = CallKind::kFree, .address = q.address};
}
Call describe(const SetBytes& q, const NoAnswer&) {
  return {.kind = CallKind::kFill, .stream = q.stream, .address = q.address, .bytes = q.bytes};
}
Call describe(const Upload& q, const NoAnswer&) {
  return {.kind = CallKind::kCopyIn, .host_waits = true, .address = q.address, .bytes = q.bytes};
}
Call describe(const UploadInline& q, const NoAnswer&) {
  return {
      .kind = CallKind::kCopyIn, .host_waits = true, .address = q.address, .bytes = q.data.size()};
}
Call describe(const Download& q, const NoAnswer&) {
  return {.kind = CallKind::kCopyOut, .host_waits = true, .address = q.address, .bytes = q.bytes};
}
Call describe(const CopyIn& q, const NoAnswer&) {
  return {.kind = CallKind::kCopyIn,
          .host_waits = q.pinned == 0,
          .stream = q.stream,
          .address = q.address,
          .bytes = q.bytes};
}
Call describe(const CopyOut& q, const TicketAnswer&) {
  return {.kind = CallKind::kCopyOut,
          .host_waits = q.pinned == 0,
          .stream = q.stream,
          .address = q.address,
          .bytes = q.bytes};
}
Call describe(const CopyOnDevice& q, const NoAnswer&) {
  return {.kind = CallKind::kCopyOnDevice,
          .stream = q.stream,
          .address = q.to,
          .bytes = q.bytes,
          .arguments = {q.from}};
}
Call describe(const CreateStream& q, const StreamAnswer& a) {
  return {.kind = CallKind::kCreateStream,
          .stream = a.stream,
          .non_blocking = (q.flags & cudaStreamNonBlocking) != 0};
}
Call describe(const DestroyStream& q, const NoAnswer&) {
  return {.kind = CallKind::kDestroyStream, .stream = q.stream};
}
Call describe(const CreateEvent&, const EventAnswer& a) {
  return {.kind = CallKind::kCreateEvent, .event = a.event};
}
Call describe(const DestroyEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kDestroyEvent, .event = q.event};
}
Call describe(const RecordEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kRecordEvent, .stream = q.stream, .event = q.event};
}
Call describe(const StreamWaitsForEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kStreamWaits, .stream = q.stream, .event = q.event};
}
Call describe(const AskElapsed& q, const ElapsedAnswer& a) {
  constexpr double kNsPerMs = 1e6;
  return {.kind = CallKind::kElapsed,
          .event = q.start,
          .second_event = q.stop,
          .end_ns = a.milliseconds * kNsPerMs};
}
Call describe(const WaitForStream& q, const NoAnswer&) {
  return {.kind = CallKind::kWaitStream, .host_waits = true, .stream = q.stream};
}
Call describe(const WaitForEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kWaitEvent, .host_waits = true, .event = q.event};
}
Call describe(const AskStream& q, const NoAnswer&) {
  return {.kind = CallKind::kAskStream, .stream = q.stream};
}
Call describe(const AskEvent& q, const NoAnswer&) {
  return {.kind = CallKind::kAskEvent, .event = q.event};
}
Call describe(const Synchronize&, const NoAnswer&) {
  return {.kind = CallKind::kWaitDevice, .host_waits = true};
}
Call describe(const FreeOfHost&, const NoAnswer&) {
  return {.kind = CallKind::kFreeOfHost, .host_waits = true};
}
Call describe(const AllocateAsync& q, const AddressAnswer& a) {
  return {.kind = CallKind::kAllocateInOrder,
          .stream = q.stream,
          .address = a.address,
          .bytes = q.bytes};
}
// How many bytes those are is for the server to fill in.
Call describe(const FreeAsync& q, const NoAnswer&) {
  return {.kind = CallKind::kFreeInOrder, .stream = q.stream, .address = q.address};
}
Call describe(const BeginCapture& q, const NoAnswer&) {
  return {.kind = CallKind::kBeginCapture, .stream = q.stream};
}
Call describe(const EndCapture& q, const GraphAnswer& a) {
  return {.kind = CallKind::kEndCapture, .stream = q.stream, .graph = a.graph};
}
Call describe(const InstantiateGraph&, const GraphAnswer& a) {
  return {.kind = CallKind::kInstantiateGraph, .graph = a.graph};
}
Call describe(const LaunchGraph& q, const NoAnswer&) {
  return {.kind = CallKind::kLaunchGraph, .stream = q.stream, .graph = q.executable};
}
Call describe(const DestroyGraph& q, const NoAnswer&) {
  return {.kind = CallKind::kDestroyGraph, .graph = q.graph};
}
Call describe(const DestroyExecutable& q, const NoAnswer&) {
  return {.kind = CallKind::kDestroyExecutable, .graph = q.executable};
}
Call describe(const NoteErrorCheck&, const NoAnswer&) { return {.kind = CallKind::kErrorCheck}; }

/// Kept free for the context's own needs (local memory, module code); the rest may be allocated.
constexpr std::uint64_t kReservedShare = 32;

void print_error(const base::Error& error) {
  std::fprintf(stderr, "%s\n", base::to_string(error).c_str());
}

}  // namespace

Server::Server(Descriptor socket, std::atomic<bool>& is_busy, Recorders recorders)
    : channel_(std::move(socket)),
      is_busy_(is_busy),
      recorder_(recorders.calls),
      log_(recorders.requests),
      follows_data_(recorders.follows_data),
      changed_bits_(recorders.changed_bits),
      memory_(DeviceMemory::usual_kept_bytes()) {}

Server::~Server() {
  for (const std::uint64_t texture : textures_)
    static_cast<void>(cudaDestroyTextureObject(texture));
  for (const auto& [index, picture] : pictures_) static_cast<void>(cudaFreeArray(picture.array));
  for (const auto& [address, bytes] : allocations_.all())
    static_cast<void>(cudaFree(reinterpret_cast<void*>(address)));
  for (const auto& [index, module] : modules_) static_cast<void>(cudaLibraryUnload(module.library));
  for (const auto& [index, event] : events_) static_cast<void>(cudaEventDestroy(event));
}

base::Status Server::receive_buffer() {
  auto memory = channel_.receive_descriptor();
  if (!memory) return memory.error();
  auto buffer = SharedBuffer::map(*std::move(memory));
  if (!buffer) return buffer.error();
  buffer_ = *std::move(buffer);
  return base::Done{};
}

ServerEnd Server::serve() {
  if (const auto received = receive_buffer(); !received) {
    if (channel_.ended()) return ServerEnd::kJudgeGone;
    print_error(received.error());
    return ServerEnd::kBrokenProtocol;
  }
  while (true) {
    auto frame = channel_.receive();
    if (!frame) {
      if (channel_.ended()) return ServerEnd::kJudgeGone;
      print_error(frame.error());
      return ServerEnd::kBrokenProtocol;
    }
    const auto request = decode_request(frame->header.kind, frame->payload);
    if (!request) {
      print_error(request.error());
      return ServerEnd::kBrokenProtocol;
    }
    if (recorder_ != nullptr && recorder_->is_full()) {
      std::fprintf(stderr, "more than %zu calls\n", CallRecorder::kMostCalls);
      return ServerEnd::kBrokenProtocol;
    }
    is_busy_ = true;
    copied_.clear();
    const std::vector<std::byte> answer = respond(*request);
    if (log_ != nullptr) log_->add({frame->header.kind, frame->payload, answer, copied_});
    is_busy_ = false;
    const auto sent =
        channel_.send(frame->header.sequence, frame->header.kind | kAnswerBit, answer);
    if (!sent) return ServerEnd::kJudgeGone;
    if (std::holds_alternative<Goodbye>(*request)) return ServerEnd::kGoodbye;
  }
}

std::vector<std::byte> Server::respond(const Request& request) {
  return std::visit(
      [this]<typename Query>(const Query& query) {
        typename Query::Answer answer;
        cudaError_t code = cudaSuccess;
        if constexpr (kBecomesANode<Query>)
          if (capture_is_full(query.stream)) code = cudaErrorMemoryAllocation;
        if (code == cudaSuccess) code = handle(query, answer);
        if (recorder_ != nullptr) {
          Call call = describe(query, answer);
          if constexpr (std::is_same_v<Query, Launch>)
            if (const Kernel* launched = kernel(query.kernel)) {
              call.kernel = launched->info.name;
              call.arguments = memory_of(query, launched->info);
            }
          if constexpr (std::is_same_v<Query, FreeAsync>) call.bytes = freed_bytes_;
          record(std::move(call), code);
          if constexpr (std::is_same_v<Query, LaunchGraph>)
            if (code == cudaSuccess) record_graph(query.executable, query.stream);
        }
        if (code == cudaSuccess) return encode_answer(0, answer);
        // The code travels with its answer; a later call must not find it again.
        static_cast<void>(cudaGetLastError());
        if constexpr (std::is_same_v<Query, Batch>)
          return encode_answer(code, answer);
        else
          return encode_answer(code, typename Query::Answer{});
      },
      request);
}

cudaError_t Server::handle(const DescribeDevice&, DeviceAnswer& answer) {
  cudaDeviceProp properties{};
  if (const cudaError_t code = cudaGetDeviceProperties(&properties, 0); code != cudaSuccess)
    return code;
  std::size_t free_bytes = 0, total_bytes = 0;
  if (const cudaError_t code = cudaMemGetInfo(&free_bytes, &total_bytes); code != cudaSuccess)
    return code;
  answer.allocatable_bytes = free_bytes - total_bytes / kReservedShare;
  if (allocations_.all().empty()) allocations_ = Allocations(answer.allocatable_bytes);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    limits_.grid[axis] = static_cast<std::uint32_t>(properties.maxGridSize[axis]);
    limits_.block[axis] = static_cast<std::uint32_t>(properties.maxThreadsDim[axis]);
  }
  limits_.threads_per_block = static_cast<std::uint32_t>(properties.maxThreadsPerBlock);
  limits_.shared_bytes = static_cast<std::uint32_t>(properties.sharedMemPerBlockOptin);
  const auto* bytes = reinterpret_cast<const std::byte*>(&properties);
  answer.properties.assign(bytes, bytes + sizeof(properties));
  answer.pageable_access = properties.pageableMemoryAccess != 0 ? 1 : 0;
  answer.virtual_name = virtual_gpu_name();
  answer.records_calls = recorder_ != nullptr ? 1 : 0;
  static_cast<void>(cudaDriverGetVersion(&answer.driver_version));
  static_cast<void>(cudaRuntimeGetVersion(&answer.runtime_version));
  char bus_id[32] = {};
  if (answer.virtual_name.empty() &&
      cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), 0) == cudaSuccess)
    answer.pci_bus_id = bus_id;
  return cudaSuccess;
}

cudaError_t Server::handle(const Synchronize&, NoAnswer&) { return cudaDeviceSynchronize(); }
cudaError_t Server::handle(const FreeOfHost&, NoAnswer&) { return cudaDeviceSynchronize(); }

cudaError_t Server::handle(const ResetPersistingL2&, NoAnswer&) {
  return cudaCtxResetPersistingL2Cache();
}

cudaError_t Server::handle(const TakeReport&, ReportAnswer& answer) {
  answer.bytes = take_virtual_report({buffer_->data(), kSharedBytes});
  return cudaSuccess;
}

cudaError_t Server::handle(const Batch& request, CodesAnswer& answer) {
  // A program's calls are noted one by one.
  if (recorder_ != nullptr) return cudaErrorNotSupported;
  if (request.requests.size() > kMaxBatch) return cudaErrorInvalidValue;
  // All are decoded before the first one runs: between two launches nothing should be left to do.
  std::vector<Request> all;
  for (const auto& bytes : request.requests) {
    auto one = decode_from_batch(bytes);
    if (!one) {
      print_error(one.error());
      return cudaErrorInvalidValue;
    }
    all.push_back(*std::move(one));
  }
  for (const Request& one : all) {
    const cudaError_t code = std::visit(
        [this]<typename Query>(const Query& query) {
          typename Query::Answer nothing;
          return handle(query, nothing);
        },
        one);
    answer.codes.push_back(code);
    if (code != cudaSuccess) return code;
  }
  return cudaSuccess;
}

cudaError_t Server::handle(const Goodbye&, NoAnswer&) { return cudaSuccess; }

namespace {

constexpr std::size_t kMaxEvents = 256;

}  // namespace

cudaError_t Server::event(std::uint32_t index, cudaEvent_t& out) const {
  const auto found = events_.find(index);
  if (found == events_.end()) return cudaErrorInvalidResourceHandle;
  out = found->second;
  return cudaSuccess;
}

cudaError_t Server::handle(const CreateEvent& request, EventAnswer& answer) {
  if (events_.size() >= kMaxEvents) return cudaErrorInvalidValue;
  cudaEvent_t event = nullptr;
  if (const cudaError_t code = cudaEventCreateWithFlags(&event, request.flags); code != cudaSuccess)
    return code;
  answer.event = next_event_;
  events_[next_event_++] = event;
  return cudaSuccess;
}

cudaError_t Server::handle(const DestroyEvent& request, NoAnswer&) {
  cudaEvent_t found = nullptr;
  if (const cudaError_t code = event(request.event, found); code != cudaSuccess) return code;
  events_.erase(request.event);
  return cudaEventDestroy(found);
}

cudaError_t Server::handle(const RecordEvent& request, NoAnswer&) {
  cudaEvent_t found = nullptr;
  if (const cudaError_t code = event(request.event, found); code != cudaSuccess) return code;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  return cudaEventRecord(found, in);
}

cudaError_t Server::handle(const WaitForEvent& request, NoAnswer&) {
  cudaEvent_t found = nullptr;
  if (const cudaError_t code = event(request.event, found); code != cudaSuccess) return code;
  return cudaEventSynchronize(found);
}

cudaError_t Server::handle(const AskElapsed& request, ElapsedAnswer& answer) {
  cudaEvent_t start = nullptr, stop = nullptr;
  if (const cudaError_t code = event(request.start, start); code != cudaSuccess) return code;
  if (const cudaError_t code = event(request.stop, stop); code != cudaSuccess) return code;
  return cudaEventElapsedTime(&answer.milliseconds, start, stop);
}

}  // namespace membound::runner
