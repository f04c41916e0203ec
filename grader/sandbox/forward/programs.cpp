// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Ordinary programs: what nvcc's host code calls by itself, registering device code before main
/// and the two halves of `<<<…>>>`. The code is sent to the runner when a kernel is first needed.
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "grader/sandbox/forward/devices.hpp"
#include "grader/sandbox/forward/host_memory.hpp"

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
