// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of the server that has to do with events (server.hpp).
#include "grader/sandbox/runner/server.hpp"

namespace membound::runner {
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
