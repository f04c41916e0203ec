// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Modules, kernels and launches. The module's file is read here and its bytes are sent:
/// a runner has no files.
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "grader/sandbox/forward/devices.hpp"

using namespace membound::forward;  // NOLINT: the C interface below

namespace {

ForwardLibrary* library_of(cudaLibrary_t handle) {
  return reinterpret_cast<ForwardLibrary*>(handle);
}
cudaKernel_t handle_of(ForwardKernel& kernel) { return reinterpret_cast<cudaKernel_t>(&kernel); }

/// Calls `body` with the runner that holds the kernel.
template <typename Body>
cudaError_t with_kernel(const void* function, Body body) {
  std::int32_t code = cudaErrorInvalidDeviceFunction;
  const ForwardKernel* kernel = find_kernel(function, code);
  if (kernel == nullptr) return remember(code);
  return with_runner(kernel->library->device,
                     [&](Connection& runner) { return body(runner, *kernel); });
}

/// Of a library: there these two questions are asked.
const ForwardKernel& of_library(const void* function) {
  return *static_cast<const ForwardKernel*>(function);
}

}  // namespace

namespace membound::forward {

std::int32_t load_library(Connection& runner, std::span<const std::byte> code,
                          std::unique_ptr<ForwardLibrary>& out) {
  ModuleAnswer answer;
  const std::int32_t result = runner.load_module(code, answer);
  if (result != 0) return result;
  out = std::make_unique<ForwardLibrary>();
  out->device = current_device();
  out->module = answer.module;
  for (std::size_t i = 0; i < answer.kernels.size(); ++i)
    out->kernels.push_back(std::make_unique<ForwardKernel>(
        ForwardKernel{out.get(), answer.first_kernel + static_cast<std::uint32_t>(i),
                      std::move(answer.kernels[i])}));
  return result;
}

}  // namespace membound::forward

FORWARD_EXPORT cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file_name,
                                                   cudaJitOption*, void**, unsigned,
                                                   cudaLibraryOption*, void**, unsigned) {
  if (library == nullptr || file_name == nullptr) return remember(cudaErrorInvalidValue);
  std::ifstream file(file_name, std::ios::binary);
  if (!file) return remember(cudaErrorFileNotFound);
  const std::string code{std::istreambuf_iterator<char>(file), {}};
  return with_runner([&](Connection& runner) {
    std::unique_ptr<ForwardLibrary> loaded;
    const std::int32_t result = load_library(runner, std::as_bytes(std::span(code)), loaded);
    if (result != 0) return result;
    *library = reinterpret_cast<cudaLibrary_t>(loaded.release());
    return result;
  });
}

FORWARD_EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  if (handle == nullptr) return remember(cudaErrorInvalidResourceHandle);
  const std::unique_ptr<ForwardLibrary> library(library_of(handle));
  return with_runner(library->device, [&](Connection& runner) {
    return runner.call(UnloadModule{library->module});
  });
}

FORWARD_EXPORT cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  *count = static_cast<unsigned>(library_of(library)->kernels.size());
  return cudaSuccess;
}

FORWARD_EXPORT cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned room,
                                                       cudaLibrary_t library) {
  unsigned next = 0;
  for (const auto& kernel : library_of(library)->kernels)
    if (next < room) kernels[next++] = handle_of(*kernel);
  return cudaSuccess;
}

FORWARD_EXPORT cudaError_t cudaLibraryGetKernel(cudaKernel_t* out, cudaLibrary_t library,
                                                const char* name) {
  for (const auto& kernel : library_of(library)->kernels) {
    if (kernel->info.name != name) continue;
    *out = handle_of(*kernel);
    return cudaSuccess;
  }
  return remember(cudaErrorSymbolNotFound);
}

FORWARD_EXPORT cudaError_t cudaFuncGetName(const char** name, const void* function) {
  *name = of_library(function).info.name.c_str();
  return cudaSuccess;
}

FORWARD_EXPORT cudaError_t cudaFuncGetParamInfo(const void* function, std::size_t index,
                                                std::size_t* offset, std::size_t* size) {
  const std::vector<Parameter>& parameters = of_library(function).info.parameters;
  // Not remembered as the last error: asking for one too many is how parameters are counted.
  if (index >= parameters.size()) return cudaErrorInvalidValue;
  if (offset != nullptr) *offset = parameters[index].offset_bytes;
  if (size != nullptr) *size = parameters[index].size_bytes;
  return cudaSuccess;
}

FORWARD_EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                                 const void* function) {
  return with_kernel(function, [&](Connection& runner, const ForwardKernel& kernel) {
    AttributesAnswer answer;
    const std::int32_t code = runner.call(AskKernelAttributes{kernel.number}, &answer);
    if (code != 0) return code;
    if (answer.attributes.size() != sizeof(*attributes))
      return static_cast<std::int32_t>(cudaErrorNotSupported);
    std::memcpy(attributes, answer.attributes.data(), sizeof(*attributes));
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute,
                                                int value) {
  return with_kernel(function, [&](Connection& runner, const ForwardKernel& kernel) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
      return static_cast<std::int32_t>(cudaErrorNotSupported);
    return runner.call(AllowSharedBytes{kernel.number, value});
  });
}

FORWARD_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                         const void* function,
                                                                         int threads,
                                                                         std::size_t shared_bytes) {
  return with_kernel(function, [&](Connection& runner, const ForwardKernel& kernel) {
    OccupancyAnswer answer;
    const std::int32_t code =
        runner.call(AskOccupancy{kernel.number, threads, shared_bytes}, &answer);
    if (code == 0) *blocks = answer.blocks;
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                                            void** arguments, std::size_t shared_bytes,
                                            cudaStream_t stream) {
  return with_kernel(function, [&](Connection& runner, const ForwardKernel& kernel) {
    std::uint32_t in = 0;
    if (!stream_number(stream, in))
      return static_cast<std::int32_t>(cudaErrorInvalidResourceHandle);
    if (kernel.library->device != current_device())
      return static_cast<std::int32_t>(cudaErrorInvalidDeviceFunction);
    if (shared_bytes > std::numeric_limits<std::uint32_t>::max())
      return static_cast<std::int32_t>(cudaErrorInvalidConfiguration);
    Launch launch{kernel.number,
                  {grid.x, grid.y, grid.z},
                  {block.x, block.y, block.z},
                  static_cast<std::uint32_t>(shared_bytes),
                  {},
                  in};
    launch.parameters.resize(parameter_bytes(kernel.info));
    for (std::size_t i = 0; i < kernel.info.parameters.size(); ++i) {
      const Parameter& parameter = kernel.info.parameters[i];
      std::memcpy(&launch.parameters[parameter.offset_bytes], arguments[i], parameter.size_bytes);
    }
    return runner.call(launch);
  });
}
