// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device code: what nvcc's host code registers before main and the two halves of `<<<…>>>`,
/// libraries, their kernels, and launches. The code is sent to the runner when a kernel is first
/// needed.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "grader/sandbox/forward/runtime_state.hpp"

using namespace membound::forward;  // NOLINT: the C interface below

namespace {

/// What __cudaRegisterFatBinary is given (docs/virtual_gpu_fatbin.md).
struct Wrapper {
  std::uint32_t magic, version;
  const std::byte* container;
};
constexpr std::uint32_t kWrapperMagic = 0x466243B1, kContainerMagic = 0xBA55ED50;

/// The device code of one source file.
struct Image {
  std::span<const std::byte> code;
  std::unique_ptr<ForwardLibrary> library;
};
/// The host function that stands for a kernel.
struct Stub {
  Image* image;
  std::string name;
};
struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  void* stream;
};

/// The host variable that stands for one of the device's.
struct Shadow {
  Image* image;
  std::string name;
  std::uint64_t address = 0, bytes = 0;  // once it was asked for
};

struct Program {
  std::mutex mutex;
  std::map<const void*, Stub> stubs;
  std::map<const void*, Shadow> shadows;
};
Program& program() {
  static auto* const only = new Program;  // registering happens before and after main
  return *only;
}

thread_local std::vector<Configuration> configurations;

/// Bytes of the container by its own header: u32 magic | u16 version | u16 header | u64 entries.
std::span<const std::byte> container_of(const Wrapper& wrapper) {
  std::uint32_t magic = 0;
  std::uint16_t header = 0;
  std::uint64_t entries = 0;
  if (wrapper.magic != kWrapperMagic || wrapper.container == nullptr) return {};
  std::memcpy(&magic, wrapper.container, sizeof magic);
  std::memcpy(&header, wrapper.container + 6, sizeof header);
  std::memcpy(&entries, wrapper.container + 8, sizeof entries);
  if (magic != kContainerMagic) return {};
  return {wrapper.container, header + entries};
}

/// Sends the code if it was not yet.
std::int32_t load(Image& image) {
  if (image.library != nullptr) return 0;
  Connection* runner = connection();
  return runner == nullptr ? kDisconnected : load_library(*runner, image.code, image.library);
}

}  // namespace

namespace membound::forward {

const ForwardKernel* find_kernel(const void* function, std::int32_t& code) {
  code = cudaErrorInvalidDeviceFunction;
  const std::scoped_lock lock(program().mutex);
  const auto stub = program().stubs.find(function);
  // Not of this program: the handle of a library's kernel.
  if (stub == program().stubs.end()) return static_cast<const ForwardKernel*>(function);
  Image& image = *stub->second.image;
  if (code = load(image); code != 0) return nullptr;
  for (const auto& kernel : image.library->kernels)
    if (kernel->info.name == stub->second.name) return kernel.get();
  code = cudaErrorInvalidDeviceFunction;
  return nullptr;
}

std::int32_t find_variable(const void* symbol, VariableAnswer& out) {
  const std::scoped_lock lock(program().mutex);
  const auto found = program().shadows.find(symbol);
  if (found == program().shadows.end()) return cudaErrorInvalidSymbol;
  Shadow& shadow = found->second;
  if (shadow.address == 0) {
    if (const std::int32_t code = load(*shadow.image); code != 0) return code;
    Connection* runner = connection(shadow.image->library->device);
    if (runner == nullptr) return kDisconnected;
    const FindVariable question{shadow.image->library->module, shadow.name};
    if (const std::int32_t code = runner->call(question, &out); code != 0) return code;
    shadow.address = out.address;
    shadow.bytes = out.bytes;
    remember_variable(reinterpret_cast<const void*>(out.address), out.bytes);
  }
  out = {shadow.address, shadow.bytes};
  return 0;
}

}  // namespace membound::forward

// NOLINTBEGIN(bugprone-reserved-identifier): the names are those that nvcc's programs call
FORWARD_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  Wrapper content{};
  if (wrapper != nullptr) std::memcpy(&content, wrapper, sizeof content);
  return reinterpret_cast<void**>(new Image{container_of(content), nullptr});
}

FORWARD_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

FORWARD_EXPORT void __cudaUnregisterFatBinary(void**) {}

FORWARD_EXPORT void __cudaRegisterFunction(void** image, const char* host_stub, char*,
                                           const char* device_name, int, void*, void*, void*, void*,
                                           int*) {
  const std::scoped_lock lock(program().mutex);
  program().stubs[host_stub] = {reinterpret_cast<Image*>(image), device_name};
}

FORWARD_EXPORT void __cudaRegisterVar(void** image, char* host_variable, char*,
                                      const char* device_name, int, std::size_t, int, int) {
  const std::scoped_lock lock(program().mutex);
  program().shadows[host_variable] = {reinterpret_cast<Image*>(image), device_name};
}

FORWARD_EXPORT char __cudaInitModule(void**) { return 1; }

FORWARD_EXPORT unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                        std::size_t shared_bytes, void* stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

FORWARD_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                                      std::size_t* shared_bytes, void* stream) {
  if (configurations.empty()) return remember(cudaErrorMissingConfiguration);
  const Configuration top = configurations.back();
  configurations.pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  std::memcpy(stream, &top.stream, sizeof top.stream);
  return cudaSuccess;
}

FORWARD_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* host_stub) {
  // The stub itself will do for a handle: whoever launches looks it up.
  *out = reinterpret_cast<cudaKernel_t>(const_cast<void*>(host_stub));
  return cudaSuccess;
}

FORWARD_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                              void** arguments, std::size_t shared_bytes,
                                              cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
// NOLINTEND(bugprone-reserved-identifier)

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

FORWARD_EXPORT cudaError_t cudaLibraryGetGlobal(void** address, std::size_t* bytes,
                                                cudaLibrary_t handle, const char* name) {
  if (address == nullptr || bytes == nullptr || name == nullptr)
    return remember(cudaErrorInvalidValue);
  const ForwardLibrary& library = *library_of(handle);
  return with_runner(library.device, [&](Connection& runner) {
    VariableAnswer answer;
    const std::int32_t code = runner.call(FindVariable{library.module, name}, &answer);
    if (code != 0) return code;
    *address = reinterpret_cast<void*>(answer.address);
    *bytes = answer.bytes;
    remember_variable(*address, *bytes);
    return code;
  });
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

namespace {

cudaError_t forward_launch(const void* function, dim3 grid, dim3 block, void** arguments,
                           std::size_t shared_bytes, cudaStream_t stream, bool cooperative) {
  return with_kernel(function, [&](Connection& runner, const ForwardKernel& kernel) {
    std::uint32_t in = 0;
    if (!stream_number(stream, in))
      return static_cast<std::int32_t>(cudaErrorInvalidResourceHandle);
    if (kernel.library->device != current_device())
      return static_cast<std::int32_t>(cudaErrorInvalidDeviceFunction);
    // Of a program's launches its timeline is judged, which knows none of this kind.
    if (cooperative && runner.device().records_calls != 0)
      return static_cast<std::int32_t>(cudaErrorNotSupported);
    Launch launch{kernel.number,
                  {grid.x, grid.y, grid.z},
                  {block.x, block.y, block.z},
                  static_cast<std::uint32_t>(shared_bytes),  // as a driver takes them
                  {},
                  in,
                  cooperative ? 1U : 0U};
    launch.parameters.resize(parameter_bytes(kernel.info));
    for (std::size_t i = 0; i < kernel.info.parameters.size(); ++i) {
      const Parameter& parameter = kernel.info.parameters[i];
      std::memcpy(&launch.parameters[parameter.offset_bytes], arguments[i], parameter.size_bytes);
    }
    return runner.call(launch);
  });
}

}  // namespace

FORWARD_EXPORT cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                                            void** arguments, std::size_t shared_bytes,
                                            cudaStream_t stream) {
  return forward_launch(function, grid, block, arguments, shared_bytes, stream, false);
}

FORWARD_EXPORT cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                                       void** arguments, std::size_t shared_bytes,
                                                       cudaStream_t stream) {
  return forward_launch(function, grid, block, arguments, shared_bytes, stream, true);
}
