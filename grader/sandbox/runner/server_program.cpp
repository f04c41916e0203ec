// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of the server that only whole programs use: streams, copies in stream order, and the
/// record of their calls (server.hpp).
#include <cstring>

#include "grader/sandbox/runner/protocol.hpp"
#include "grader/sandbox/runner/server.hpp"
#include "grader/sandbox/runner/virtual_services.hpp"

namespace membound::runner {
namespace {

constexpr std::size_t kMaxStreams = 256;

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

/// Whether it is not done at once where its stream is captured.
bool becomes_a_node(CallKind kind) {
  return kind == CallKind::kLaunch || kind == CallKind::kCopyOnDevice || kind == CallKind::kFill ||
         kind == CallKind::kRecordEvent || kind == CallKind::kStreamWaits;
}

}  // namespace

std::vector<std::uint64_t> Server::memory_of(const Launch& launch, const KernelInfo& kernel) const {
  std::vector<std::uint64_t> all;
  for (const Parameter& parameter : kernel.parameters) {
    std::uint64_t value = 0;
    if (parameter.size_bytes == sizeof value &&
        parameter.offset_bytes + sizeof value <= launch.parameters.size())
      std::memcpy(&value, launch.parameters.data() + parameter.offset_bytes, sizeof value);
    all.push_back(holds(value, 1) ? value : 0);
  }
  return all;
}

void Server::record(Call call, cudaError_t code) {
  if (call.kind == CallKind::kNone || code == cudaErrorNotReady) return;
  call.code = code;
  const bool is_nothing = is_work(call.kind) && call.kind != CallKind::kLaunch && call.bytes == 0;
  if (code == cudaSuccess && becomes_a_node(call.kind) && !is_nothing)
    if (Captured* capture = capture_of(call.stream)) {
      capture->calls.push_back(std::move(call));
      return;
    }
  if (code == cudaSuccess && is_work(call.kind) && !is_nothing)
    last_virtual_work(call.start_ns, call.end_ns);
  if (follows_data_ && call.kind == CallKind::kLaunch && code == cudaSuccess)
    if (auto uses = take_virtual_uses(); !uses.empty()) call.uses = std::move(uses.back());
  recorder_->add(call);
}

cudaError_t Server::stream(std::uint32_t index, cudaStream_t& out) const {
  out = nullptr;
  if (index == 0) return cudaSuccess;
  const auto found = streams_.find(index);
  if (found == streams_.end()) return cudaErrorInvalidResourceHandle;
  out = found->second;
  return cudaSuccess;
}

cudaError_t Server::handle(const CreateStream& request, StreamAnswer& answer) {
  if (streams_.size() >= kMaxStreams) return cudaErrorMemoryAllocation;
  cudaStream_t made = nullptr;
  if (const cudaError_t code = cudaStreamCreateWithPriority(&made, request.flags, request.priority);
      code != cudaSuccess)
    return code;
  answer.stream = next_stream_;
  streams_[next_stream_++] = made;
  return cudaSuccess;
}

cudaError_t Server::handle(const DestroyStream& request, NoAnswer&) {
  const auto found = streams_.find(request.stream);
  if (found == streams_.end()) return cudaErrorInvalidResourceHandle;
  const cudaStream_t gone = found->second;
  streams_.erase(found);
  return cudaStreamDestroy(gone);
}

cudaError_t Server::handle(const WaitForStream& request, NoAnswer&) {
  cudaStream_t found = nullptr;
  if (const cudaError_t code = stream(request.stream, found); code != cudaSuccess) return code;
  return cudaStreamSynchronize(found);
}

cudaError_t Server::handle(const AskStream& request, NoAnswer&) {
  cudaStream_t found = nullptr;
  if (const cudaError_t code = stream(request.stream, found); code != cudaSuccess) return code;
  return cudaStreamQuery(found);
}

cudaError_t Server::handle(const AskEvent& request, NoAnswer&) {
  cudaEvent_t found = nullptr;
  if (const cudaError_t code = event(request.event, found); code != cudaSuccess) return code;
  return cudaEventQuery(found);
}

cudaError_t Server::handle(const StreamWaitsForEvent& request, NoAnswer&) {
  cudaStream_t waiting = nullptr;
  cudaEvent_t awaited = nullptr;
  if (const cudaError_t code = stream(request.stream, waiting); code != cudaSuccess) return code;
  if (const cudaError_t code = event(request.event, awaited); code != cudaSuccess) return code;
  return cudaStreamWaitEvent(waiting, awaited, 0);
}

cudaError_t Server::handle(const CopyIn& request, NoAnswer&) {
  if (request.bytes > kSharedBytes || !holds(request.address, request.bytes))
    return cudaErrorInvalidValue;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  if (capture_of(request.stream) != nullptr) return cudaErrorStreamCaptureUnsupported;
  const std::byte* const from = from_buffer(0, request.bytes);
  if (request.pinned != 0)
    return staging_.copy_in(pointer(request.address), {from, request.bytes}, in);
  return cudaMemcpyAsync(pointer(request.address), from, request.bytes, cudaMemcpyHostToDevice, in);
}

cudaError_t Server::handle(const CopyOut& request, TicketAnswer& answer) {
  if (request.bytes > kSharedBytes || !holds(request.address, request.bytes))
    return cudaErrorInvalidValue;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  if (capture_of(request.stream) != nullptr) return cudaErrorStreamCaptureUnsupported;
  if (request.pinned != 0) {
    const cudaError_t code =
        staging_.copy_out(pointer(request.address), request.bytes, in, answer.ticket);
    // The virtual GPU, the only one whose requests are kept, has done it by now.
    if (log_ != nullptr && code == cudaSuccess) {
      const std::span<const std::byte> bytes = staging_.result_of(answer.ticket);
      copied_.assign(bytes.begin(), bytes.end());
    }
    return code;
  }
  const cudaError_t code =
      cudaMemcpyAsync(room_for_copy(0, request.bytes), pointer(request.address), request.bytes,
                      cudaMemcpyDeviceToHost, in);
  to_buffer(0, request.bytes);
  return code;
}

cudaError_t Server::handle(const TakeCopy& request, NoAnswer&) {
  const cudaError_t code = staging_.take(request.ticket, {buffer_->data(), kSharedBytes});
  if (code == cudaSuccess) to_buffer(0, staging_.result_of(request.ticket).size());
  return code;
}

cudaError_t Server::handle(const NoteErrorCheck&, NoAnswer&) { return cudaSuccess; }

cudaError_t Server::handle(const FindVariable& request, VariableAnswer& answer) {
  const auto module = modules_.find(request.module);
  if (module == modules_.end()) return cudaErrorInvalidResourceHandle;
  void* found = nullptr;
  std::size_t bytes = 0;
  if (const cudaError_t code =
          cudaLibraryGetGlobal(&found, &bytes, module->second.library, request.name.c_str());
      code != cudaSuccess)
    return code;
  answer = {reinterpret_cast<std::uintptr_t>(found), bytes};
  // Not among the allocations: nobody may free it.
  variables_.try_emplace(request.module, bytes).first->second.add(answer.address, bytes);
  return cudaSuccess;
}

cudaError_t Server::handle(const AskAttribute& request, NumberAnswer& answer) {
  int number = 0;
  const cudaError_t code =
      cudaDeviceGetAttribute(&number, static_cast<cudaDeviceAttr>(request.attribute), 0);
  answer.number = number;
  return code;
}

cudaError_t Server::handle(const AskStreamPriorities&, PrioritiesAnswer& answer) {
  int least = 0, greatest = 0;
  const cudaError_t code = cudaDeviceGetStreamPriorityRange(&least, &greatest);
  answer = {least, greatest};
  return code;
}

}  // namespace membound::runner
