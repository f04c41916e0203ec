// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of the server that has to do with modules, kernels, launches and graphs.
#include <algorithm>
#include <utility>

#include "grader/sandbox/runner/protocol.hpp"
#include "grader/sandbox/runner/server.hpp"
#include "grader/sandbox/runner/virtual_services.hpp"

namespace membound::runner {
namespace {

constexpr std::size_t kMaxModules = 16;

}  // namespace

cudaError_t Server::handle(const LoadModule& request, ModuleAnswer& answer) {
  if (request.bytes == 0 || request.bytes > kSharedBytes || modules_.size() >= kMaxModules)
    return cudaErrorInvalidValue;
  Module module;
  const std::byte* const code_bytes = from_buffer(0, request.bytes);
  module.code.assign(code_bytes, code_bytes + request.bytes);
  module.code.push_back(std::byte{0});  // a PTX text ends where its first zero stands
  if (const cudaError_t code = cudaLibraryLoadData(&module.library, module.code.data(), nullptr,
                                                   nullptr, 0, nullptr, nullptr, 0);
      code != cudaSuccess)
    return code;
  unsigned count = 0;
  cudaError_t code = cudaLibraryGetKernelCount(&count, module.library);
  std::vector<cudaKernel_t> functions(code == cudaSuccess && count <= kMaxElements ? count : 0);
  if (code == cudaSuccess && !functions.empty())
    code = cudaLibraryEnumerateKernels(functions.data(), count, module.library);
  std::vector<Kernel> kernels;
  for (const cudaKernel_t function : functions) {
    const char* name = nullptr;
    if (code == cudaSuccess) code = cudaFuncGetName(&name, function);
    if (code != cudaSuccess) break;
    kernels.push_back({function, {name, parameters_of(function)}, next_module_});
    answer.kernels.push_back(kernels.back().info);
  }
  if (code != cudaSuccess) {
    static_cast<void>(cudaLibraryUnload(module.library));
    return code;
  }
  answer.module = next_module_;
  answer.first_kernel = static_cast<std::uint32_t>(kernels_.size());
  kernels_.insert(kernels_.end(), kernels.begin(), kernels.end());
  modules_[next_module_++] = std::move(module);
  return cudaSuccess;
}

cudaError_t Server::handle(const UnloadModule& request, NoAnswer&) {
  const auto found = modules_.find(request.module);
  if (found == modules_.end()) return cudaErrorInvalidResourceHandle;
  // A graph's nodes point into the module of their kernel.
  if (!captures_.empty() || !graphs_.empty() || !executables_.empty()) return cudaErrorNotSupported;
  const cudaError_t code = cudaLibraryUnload(found->second.library);
  for (Kernel& kernel : kernels_)
    if (kernel.module == request.module) kernel.function = nullptr;
  modules_.erase(found);
  variables_.erase(request.module);
  return code;
}

const Server::Kernel* Server::kernel(std::uint32_t index) const {
  if (index >= kernels_.size() || kernels_[index].function == nullptr) return nullptr;
  return &kernels_[index];
}

cudaError_t Server::handle(const AskKernelAttributes& request, AttributesAnswer& answer) {
  const Kernel* asked = kernel(request.kernel);
  if (asked == nullptr) return cudaErrorInvalidDeviceFunction;
  cudaFuncAttributes attributes{};
  const cudaError_t code = cudaFuncGetAttributes(&attributes, asked->function);
  const auto* bytes = reinterpret_cast<const std::byte*>(&attributes);
  answer.attributes.assign(bytes, bytes + sizeof(attributes));
  return code;
}

cudaError_t Server::handle(const AllowSharedBytes& request, NoAnswer&) {
  const Kernel* asked = kernel(request.kernel);
  if (asked == nullptr) return cudaErrorInvalidDeviceFunction;
  return cudaFuncSetAttribute(asked->function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              request.bytes);
}

cudaError_t Server::handle(const AskOccupancy& request, OccupancyAnswer& answer) {
  const Kernel* asked = kernel(request.kernel);
  if (asked == nullptr) return cudaErrorInvalidDeviceFunction;
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&answer.blocks, asked->function,
                                                       request.threads, request.shared_bytes);
}

cudaError_t Server::handle(const Launch& request, NoAnswer&) {
  const Kernel* asked = kernel(request.kernel);
  if (asked == nullptr) return cudaErrorInvalidDeviceFunction;
  // As CUDA 13's runtime, which gives this code on an H100 and an H200 where that of CUDA 12 gave
  // cudaErrorInvalidConfiguration.
  if (!launch_is_legal(request, asked->info, limits_)) return cudaErrorInvalidValue;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  std::vector<std::byte> bytes = request.parameters;
  std::vector<void*> addresses;
  for (const Parameter& parameter : asked->info.parameters)
    addresses.push_back(bytes.data() + parameter.offset_bytes);
  const auto call = request.cooperative != 0 ? &cudaLaunchCooperativeKernel : &cudaLaunchKernel;
  return call(asked->function, {request.grid[0], request.grid[1], request.grid[2]},
              {request.block[0], request.block[1], request.block[2]}, addresses.data(),
              request.shared_bytes, in);
}

namespace {

constexpr std::size_t kMaxGraphs = 64;
/// Calls of one graph: putting its nodes in order takes time that grows with their square.
constexpr std::size_t kMaxNodes = 1024;

}  // namespace

Server::Captured* Server::capture_of(std::uint32_t index) {
  cudaStream_t in = nullptr;
  if (captures_.empty() || index == 0 || stream(index, in) != cudaSuccess) return nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  if (cudaStreamGetCaptureInfo(in, &status, &number, nullptr, nullptr, nullptr, nullptr) !=
          cudaSuccess ||
      status == cudaStreamCaptureStatusNone)
    return nullptr;
  const auto found = captures_.find(number);
  return found == captures_.end() ? nullptr : &found->second;
}

bool Server::capture_is_full(std::uint32_t index) {
  const Captured* capture = capture_of(index);
  return capture != nullptr && capture->calls.size() >= kMaxNodes;
}

cudaError_t Server::handle(const BeginCapture& request, NoAnswer&) {
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  if (captures_.size() >= kMaxGraphs) return cudaErrorMemoryAllocation;
  if (request.mode < cudaStreamCaptureModeGlobal || request.mode > cudaStreamCaptureModeRelaxed)
    return cudaErrorInvalidValue;
  if (const cudaError_t code =
          cudaStreamBeginCapture(in, static_cast<cudaStreamCaptureMode>(request.mode));
      code != cudaSuccess)
    return code;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  const cudaError_t code =
      cudaStreamGetCaptureInfo(in, &status, &number, nullptr, nullptr, nullptr, nullptr);
  captures_[number] = {request.stream, {}};
  return code;
}

cudaError_t Server::handle(const EndCapture& request, GraphAnswer& answer) {
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  Captured* capture = capture_of(request.stream);
  if (capture == nullptr) return cudaErrorIllegalState;
  cudaGraph_t made = nullptr;
  const cudaError_t code = cudaStreamEndCapture(in, &made);
  if (capture_of(request.stream) != nullptr) return code;  // it goes on: not ended where it began
  Captured captured = std::move(*capture);
  std::erase_if(captures_, [&](const auto& one) { return &one.second == capture; });
  if (code != cudaSuccess) return code;
  if (graphs_.size() >= kMaxGraphs) {
    static_cast<void>(cudaGraphDestroy(made));
    return cudaErrorMemoryAllocation;
  }
  answer.graph = next_graph_;
  graphs_[next_graph_++] = {made, std::move(captured)};
  return cudaSuccess;
}

cudaError_t Server::handle(const AskCapture& request, NumberAnswer& answer) {
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long number = 0;
  const cudaError_t code =
      cudaStreamGetCaptureInfo(in, &status, &number, nullptr, nullptr, nullptr, nullptr);
  answer.number = status;
  return code;
}

cudaError_t Server::handle(const InstantiateGraph& request, GraphAnswer& answer) {
  const auto found = graphs_.find(request.graph);
  if (found == graphs_.end()) return cudaErrorInvalidValue;
  if (executables_.size() >= kMaxGraphs) return cudaErrorMemoryAllocation;
  Executable made{nullptr, found->second.captured, next_event_++};
  if (const cudaError_t code = cudaGraphInstantiate(&made.handle, found->second.handle, 0);
      code != cudaSuccess)
    return code;
  std::map<std::uint32_t, std::uint32_t> streams, events;
  for (Call& call : made.captured.calls) {
    call.graph = next_graph_;
    if (call.stream != made.captured.origin)
      call.stream = streams.try_emplace(call.stream, next_stream_ + streams.size()).first->second;
    if (call.kind == CallKind::kRecordEvent || call.kind == CallKind::kStreamWaits)
      call.event = events.try_emplace(call.event, next_event_ + events.size()).first->second;
  }
  next_stream_ += static_cast<std::uint32_t>(streams.size());
  next_event_ += static_cast<std::uint32_t>(events.size());
  // Streams inside a graph know nothing of the default one.
  if (recorder_ != nullptr)
    for (const auto& [captured, own] : streams)
      recorder_->add({.kind = CallKind::kCreateStream,
                      .stream = own,
                      .non_blocking = true,
                      .graph = next_graph_});
  answer.graph = next_graph_;
  executables_[next_graph_++] = std::move(made);
  return cudaSuccess;
}

cudaError_t Server::handle(const LaunchGraph& request, NoAnswer&) {
  const auto found = executables_.find(request.executable);
  if (found == executables_.end()) return cudaErrorInvalidValue;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  // Graphs within graphs would double with each capture.
  if (capture_of(request.stream) != nullptr) return cudaErrorStreamCaptureUnsupported;
  // Memory may have been freed since it was captured.
  for (const Call& call : found->second.captured.calls) {
    if (call.kind != CallKind::kFill && call.kind != CallKind::kCopyOnDevice) continue;
    if (!holds(call.address, call.bytes)) return cudaErrorInvalidValue;
    for (const std::uint64_t from : call.arguments)
      if (!holds(from, call.bytes)) return cudaErrorInvalidValue;
  }
  return cudaGraphLaunch(found->second.handle, in);
}

void Server::record_graph(std::uint32_t executable, std::uint32_t launched_in) {
  const Executable& graph = executables_.at(executable);
  const std::vector<std::array<double, 2>> spans = last_virtual_graph();
  std::vector<std::vector<MemoryUse>> uses;
  if (follows_data_) uses = take_virtual_uses();
  // Before the graph's operations are those of copies and fills since the latest launch.
  const std::size_t before = uses.size() - std::min(uses.size(), spans.size());
  const auto at_the_end = [&](CallKind kind) {
    recorder_->add({.kind = kind, .stream = launched_in, .event = graph.done, .graph = executable});
  };
  // Launches of one graph never run at the same time.
  at_the_end(CallKind::kStreamWaits);
  std::size_t node = 0;
  for (Call call : graph.captured.calls) {
    if (recorder_->is_full()) return;
    if (call.stream == graph.captured.origin) call.stream = launched_in;
    if (is_work(call.kind) && node < spans.size()) {
      if (before + node < uses.size()) call.uses = std::move(uses[before + node]);
      call.start_ns = spans[node][0];
      call.end_ns = spans[node++][1];
    }
    recorder_->add(call);
  }
  at_the_end(CallKind::kRecordEvent);
}

cudaError_t Server::handle(const DestroyGraph& request, NoAnswer&) {
  const auto found = graphs_.find(request.graph);
  if (found == graphs_.end()) return cudaErrorInvalidValue;
  const cudaGraph_t gone = found->second.handle;
  graphs_.erase(found);
  return cudaGraphDestroy(gone);
}

cudaError_t Server::handle(const DestroyExecutable& request, NoAnswer&) {
  const auto found = executables_.find(request.executable);
  if (found == executables_.end()) return cudaErrorInvalidValue;
  const cudaGraphExec_t gone = found->second.handle;
  executables_.erase(found);
  return cudaGraphExecDestroy(gone);
}

cudaError_t Server::handle(const AllocateAsync& request, AddressAnswer& answer) {
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  // A graph that allocates would do so in each launch, which no list of ours could follow.
  if (capture_of(request.stream) != nullptr) return cudaErrorStreamCaptureUnsupported;
  if (!allocations_.fits(request.bytes)) return cudaErrorMemoryAllocation;
  void* data = nullptr;
  if (const cudaError_t code = cudaMallocAsync(&data, request.bytes, in); code != cudaSuccess)
    return code;
  answer.address = reinterpret_cast<std::uintptr_t>(data);
  if (data != nullptr) allocations_.add(answer.address, request.bytes);
  return cudaSuccess;
}

cudaError_t Server::handle(const FreeAsync& request, NoAnswer&) {
  freed_bytes_ = 0;
  if (request.address == 0) return cudaSuccess;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  if (capture_of(request.stream) != nullptr) return cudaErrorStreamCaptureUnsupported;
  const auto bytes = allocations_.remove(request.address);
  if (!bytes) return cudaErrorInvalidValue;
  freed_bytes_ = *bytes;
  auto* data = reinterpret_cast<void*>(request.address);
  // Whoever gets these pages next, in whichever process, finds nothing in them.
  if (virtual_gpu_name().empty())
    if (const cudaError_t code = cudaMemsetAsync(data, 0, *bytes, in); code != cudaSuccess)
      return code;
  return cudaFreeAsync(data, in);
}

}  // namespace membound::runner
