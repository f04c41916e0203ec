// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of the server that loads modules and launches their kernels (server.hpp).
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

}  // namespace membound::runner
