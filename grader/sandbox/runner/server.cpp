// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/server.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "grader/sandbox/runner/describe_call.hpp"
#include "grader/sandbox/runner/protocol.hpp"
#include "grader/sandbox/runner/virtual_services.hpp"

namespace membound::runner {
namespace {

/// Kept free for the context's own needs (local memory, module code); the rest may be allocated.
constexpr std::uint64_t kReservedShare = 32;
constexpr std::size_t kMaxModules = 16, kMaxEvents = 256;

/// Whether the shared buffer has all of these bytes.
bool is_shared(std::uint64_t at, std::uint64_t bytes) {
  return at <= kSharedBytes && bytes <= kSharedBytes - at;
}

void print_error(const base::Error& error) {
  std::fprintf(stderr, "%s\n", base::to_string(error).c_str());
}

}  // namespace

Server::Server(Descriptor socket, std::atomic<bool>& is_busy, CallRecorder* recorder)
    : channel_(std::move(socket)),
      is_busy_(is_busy),
      recorder_(recorder),
      memory_(DeviceMemory::usual_kept_bytes()) {}

Server::~Server() {
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
    const std::vector<std::byte> answer = respond(*request);
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

cudaError_t Server::handle(const AskMemory&, MemoryAnswer& answer) {
  std::size_t free_bytes = 0, total_bytes = 0;
  const cudaError_t code = cudaMemGetInfo(&free_bytes, &total_bytes);
  answer = {free_bytes + memory_.kept_bytes(), total_bytes};
  return code;
}

cudaError_t Server::handle(const Synchronize&, NoAnswer&) { return cudaDeviceSynchronize(); }
cudaError_t Server::handle(const FreeOfHost&, NoAnswer&) { return cudaDeviceSynchronize(); }

cudaError_t Server::handle(const Allocate& request, AddressAnswer& answer) {
  if (!allocations_.fits(request.bytes)) return cudaErrorMemoryAllocation;
  void* data = nullptr;
  if (const cudaError_t code = memory_.allocate(request.bytes, data); code != cudaSuccess)
    return code;
  answer.address = reinterpret_cast<std::uintptr_t>(data);
  if (data != nullptr) allocations_.add(answer.address, request.bytes);
  return cudaSuccess;
}

cudaError_t Server::handle(const Free& request, NoAnswer&) {
  if (request.address == 0) return cudaSuccess;
  const auto bytes = allocations_.remove(request.address);
  if (!bytes) return cudaErrorInvalidValue;
  return memory_.free(reinterpret_cast<void*>(request.address), *bytes);
}

cudaError_t Server::handle(const SetBytes& request, NoAnswer&) {
  if (!holds(request.address, request.bytes)) return cudaErrorInvalidValue;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  if (request.bytes == 0) return cudaSuccess;
  return cudaMemsetAsync(reinterpret_cast<void*>(request.address), request.value, request.bytes,
                         in);
}

cudaError_t Server::handle(const Upload& request, NoAnswer&) {
  if (!is_shared(request.at, request.bytes) || !holds(request.address, request.bytes))
    return cudaErrorInvalidValue;
  return cudaMemcpy(reinterpret_cast<void*>(request.address), buffer_->data() + request.at,
                    request.bytes, cudaMemcpyHostToDevice);
}

cudaError_t Server::handle(const UploadInline& request, NoAnswer&) {
  if (!holds(request.address, request.data.size())) return cudaErrorInvalidValue;
  return cudaMemcpy(reinterpret_cast<void*>(request.address), request.data.data(),
                    request.data.size(), cudaMemcpyHostToDevice);
}

cudaError_t Server::handle(const Download& request, NoAnswer&) {
  if (!is_shared(request.at, request.bytes) || !holds(request.address, request.bytes))
    return cudaErrorInvalidValue;
  return cudaMemcpy(buffer_->data() + request.at, reinterpret_cast<const void*>(request.address),
                    request.bytes, cudaMemcpyDeviceToHost);
}

cudaError_t Server::handle(const CopyOnDevice& request, NoAnswer&) {
  if (!holds(request.to, request.bytes) || !holds(request.from, request.bytes))
    return cudaErrorInvalidValue;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  if (request.bytes == 0) return cudaSuccess;
  return cudaMemcpyAsync(reinterpret_cast<void*>(request.to),
                         reinterpret_cast<const void*>(request.from), request.bytes,
                         cudaMemcpyDeviceToDevice, in);
}

cudaError_t Server::handle(const LoadModule& request, ModuleAnswer& answer) {
  if (request.bytes == 0 || request.bytes > kSharedBytes || modules_.size() >= kMaxModules)
    return cudaErrorInvalidValue;
  Module module;
  module.code.assign(buffer_->data(), buffer_->data() + request.bytes);
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

bool Server::holds(std::uint64_t address, std::uint64_t bytes) const {
  // Of nothing there is enough everywhere: programs copy 0 bytes to where 0 bytes were allocated.
  return bytes == 0 || allocations_.contain(address, bytes) ||
         std::any_of(variables_.begin(), variables_.end(),
                     [&](const auto& one) { return one.second.contain(address, bytes); });
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
  if (!launch_is_legal(request, asked->info, limits_)) return cudaErrorInvalidConfiguration;
  cudaStream_t in = nullptr;
  if (const cudaError_t code = stream(request.stream, in); code != cudaSuccess) return code;
  std::vector<std::byte> bytes = request.parameters;
  std::vector<void*> addresses;
  for (const Parameter& parameter : asked->info.parameters)
    addresses.push_back(bytes.data() + parameter.offset_bytes);
  return cudaLaunchKernel(asked->function, {request.grid[0], request.grid[1], request.grid[2]},
                          {request.block[0], request.block[1], request.block[2]}, addresses.data(),
                          request.shared_bytes, in);
}

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

std::uint64_t scrub_device() {
  if (!virtual_gpu_name().empty()) return 0;
  std::vector<void*> pieces;
  std::uint64_t scrubbed = 0;
  // Large pieces first: what is left between them is taken by smaller ones.
  for (std::size_t bytes = std::size_t{1} << 32; bytes >= std::size_t{1} << 21; bytes >>= 1) {
    void* piece = nullptr;
    while (cudaMalloc(&piece, bytes) == cudaSuccess) {
      pieces.push_back(piece);
      if (cudaMemset(piece, 0, bytes) == cudaSuccess) scrubbed += bytes;
    }
    static_cast<void>(cudaGetLastError());
  }
  static_cast<void>(cudaDeviceSynchronize());
  for (void* piece : pieces) static_cast<void>(cudaFree(piece));
  return scrubbed;
}

}  // namespace membound::runner
