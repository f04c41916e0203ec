// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device code by name, launches and textures. The driver tells what kernels a module has, and what
/// their parameters are, from CUDA 12.4 on; here it is read from the PTX in the code, which all
/// code of ours has, because the virtual GPU executes it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "grader/device_code/fatbin/fatbin.hpp"
#include "grader/device_code/ptx/parser.hpp"
#include "grader/gpu_runtime/gpu_runtime.hpp"

/// A kernel, as its handle points to it.
struct CUkern_st {
  struct Parameter {
    std::size_t offset_bytes, size_bytes;
  };
  std::string name;
  std::vector<Parameter> parameters;
  membound::cuda_api::Function function = nullptr;
};

/// A library.
struct CUlib_st {
  std::vector<char> file;  ///< its code, where it came from a file
  membound::cuda_api::CodeModule code = nullptr;
  std::vector<std::unique_ptr<CUkern_st>> kernels;
};

namespace membound::gpu_runtime {
namespace {

namespace ptx = membound::ptx;
using Driver = cuda_api::Functions;

/// cudaFuncAttributes' members by the number that the driver gives them.
constexpr int kMaxThreads = 0, kShared = 1, kConst = 2, kLocal = 3, kRegisters = 4, kPtxVersion = 5,
              kBinaryVersion = 6, kCacheMode = 7, kMaxDynamicShared = 8, kCarveout = 9;

/// Parameters lie one after the other, each aligned as it is declared.
std::unique_ptr<CUkern_st> kernel_of(const ptx::Function& entry) {
  auto kernel = std::make_unique<CUkern_st>();
  kernel->name = std::string(entry.name);
  std::size_t end = 0;
  for (const ptx::Variable& parameter : entry.parameters) {
    const std::size_t alignment = std::max<std::size_t>(parameter.alignment_bytes, 1);
    const std::size_t offset = (end + alignment - 1) / alignment * alignment;
    kernel->parameters.push_back({offset, parameter.size_bytes});
    end = offset + parameter.size_bytes;
  }
  return kernel;
}

/// The kernels in the PTX of `image`; a code.
int read_kernels(const void* image, CUlib_st& library) {
  const auto modules = fatbin::read_image(image);
  if (!modules) return cudaErrorInvalidKernelImage;
  for (const std::vector<fatbin::Entry>& entries : *modules) {
    const auto text = fatbin::choose_ptx(entries, 0, "device code");
    if (!text) return cudaErrorInvalidKernelImage;
    const ptx::Parsed parsed = ptx::parse_collecting((*text)->text(), "device code");
    for (const ptx::Function& function : parsed.module.functions)
      if (function.is_entry && function.has_body) library.kernels.push_back(kernel_of(function));
  }
  return cudaSuccess;
}

/// Hands the code to the driver, whose compiler tells on stderr what it cannot make of PTX.
int load_code(const Driver& driver, const void* image, CUlib_st& library) {
  enum { kErrorLog = 5, kErrorLogBytes = 6 };
  std::array<char, 4096> log{};
  std::array<int, 2> options = {kErrorLog, kErrorLogBytes};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const int code = driver.cuModuleLoadDataEx(&library.code, image, options.size(), options.data(),
                                             values.data());
  if (log[0] != '\0') std::fprintf(stderr, "the driver's compiler: %s\n", log.data());
  return code;
}

cudaError_t load(cudaLibrary_t* out, std::unique_ptr<CUlib_st> library, const void* image) {
  return in_context([&](const Driver& driver) -> int {
    if (const int code = read_kernels(image, *library); code != cudaSuccess) return code;
    if (const int code = load_code(driver, image, *library); code != cudaSuccess) return code;
    for (const auto& kernel : library->kernels) {
      const int code =
          driver.cuModuleGetFunction(&kernel->function, library->code, kernel->name.c_str());
      if (code == cudaSuccess) continue;
      static_cast<void>(driver.cuModuleUnload(library->code));
      return code;
    }
    *out = library.release();
    return cudaSuccess;
  });
}

cuda_api::Function function_of(const void* kernel) {
  return static_cast<const CUkern_st*>(kernel)->function;
}

/// The bytes of shared memory as the driver takes them: NVIDIA's runtime cuts them off at 32 bits,
/// too. The driver refuses bad shapes and too many bytes itself, with cudaErrorInvalidValue, and
/// CUDA 13's runtime passes that on.
unsigned for_driver(std::size_t shared_bytes) { return static_cast<unsigned>(shared_bytes); }

/// A channel's type, as the driver's arrays have it; 0: none that is known here.
int array_format(const cudaChannelFormatDesc& channels) {
  if (channels.f == cudaChannelFormatKindFloat)
    return channels.x == 32 ? 0x20 : channels.x == 16 ? 0x10 : 0;
  const int size = channels.x == 8 ? 1 : channels.x == 16 ? 2 : channels.x == 32 ? 3 : 0;
  if (size == 0 || channels.f == cudaChannelFormatKindNone) return 0;
  return channels.f == cudaChannelFormatKindSigned ? 7 + size : size;
}

cuda_api::Array array_of(cudaArray_t array) { return reinterpret_cast<cuda_api::Array>(array); }

}  // namespace
}  // namespace membound::gpu_runtime

using namespace membound::gpu_runtime;  // NOLINT: the C interface below
using Driver = membound::cuda_api::Functions;

GPU_CALL cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                             unsigned int, cudaLibraryOption*, void**, unsigned int) {
  if (library == nullptr || code == nullptr) return remember(cudaErrorInvalidValue);
  return load(library, std::make_unique<CUlib_st>(), code);
}

GPU_CALL cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file, cudaJitOption*, void**,
                                 unsigned int, cudaLibraryOption*, void**, unsigned int) {
  if (library == nullptr || file == nullptr) return remember(cudaErrorInvalidValue);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return remember(cudaErrorFileNotFound);
  auto made = std::make_unique<CUlib_st>();
  made->file.assign(std::istreambuf_iterator<char>(stream), {});
  made->file.push_back('\0');  // where PTX ends
  const void* const image = made->file.data();
  return load(library, std::move(made), image);
}

GPU_CALL cudaLibraryUnload(cudaLibrary_t library) {
  return in_context([&](const Driver& driver) {
    const int code = driver.cuModuleUnload(library->code);
    delete library;
    return code;
  });
}

GPU_CALL cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t library) {
  *count = static_cast<unsigned>(library->kernels.size());
  return cudaSuccess;
}

GPU_CALL cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int room,
                                     cudaLibrary_t library) {
  for (std::size_t i = 0; i < library->kernels.size() && i < room; ++i)
    kernels[i] = library->kernels[i].get();
  return cudaSuccess;
}

GPU_CALL cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  for (const auto& one : library->kernels)
    if (one->name == name) {
      *kernel = one.get();
      return cudaSuccess;
    }
  return remember(cudaErrorSymbolNotFound);
}

GPU_CALL cudaLibraryGetGlobal(void** pointer, std::size_t* bytes, cudaLibrary_t library,
                              const char* name) {
  return in_context([&](const Driver& driver) {
    membound::cuda_api::Address found = 0;
    std::size_t room = 0;
    const int code = driver.cuModuleGetGlobal_v2(&found, &room, library->code, name);
    if (pointer != nullptr) *pointer = reinterpret_cast<void*>(found);
    if (bytes != nullptr) *bytes = room;
    return code;
  });
}

GPU_CALL cudaFuncGetName(const char** name, const void* kernel) {
  *name = static_cast<const CUkern_st*>(kernel)->name.c_str();
  return cudaSuccess;
}

GPU_CALL cudaFuncGetParamInfo(const void* kernel, std::size_t index, std::size_t* offset,
                              std::size_t* size) {
  const auto& parameters = static_cast<const CUkern_st*>(kernel)->parameters;
  if (index >= parameters.size()) return remember(cudaErrorInvalidValue);
  *offset = parameters[index].offset_bytes;
  if (size != nullptr) *size = parameters[index].size_bytes;
  return cudaSuccess;
}

GPU_CALL cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return in_context([&](const Driver& driver) {
    cudaFuncAttributes& all = *attributes = cudaFuncAttributes{};
    int code = cudaSuccess;
    const auto ask = [&](int number, auto& member) {
      int value = 0;
      if (code == cudaSuccess)
        code = driver.cuFuncGetAttribute(&value, number, function_of(kernel));
      member = static_cast<std::remove_reference_t<decltype(member)>>(value);
    };
    ask(kMaxThreads, all.maxThreadsPerBlock);
    ask(kShared, all.sharedSizeBytes);
    ask(kConst, all.constSizeBytes);
    ask(kLocal, all.localSizeBytes);
    ask(kRegisters, all.numRegs);
    ask(kPtxVersion, all.ptxVersion);
    ask(kBinaryVersion, all.binaryVersion);
    ask(kCacheMode, all.cacheModeCA);
    ask(kMaxDynamicShared, all.maxDynamicSharedSizeBytes);
    ask(kCarveout, all.preferredShmemCarveout);
    return code;
  });
}

GPU_CALL cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return in_context([&](const Driver& driver) {
    return driver.cuFuncSetAttribute(function_of(kernel), static_cast<int>(attribute), value);
  });
}

GPU_CALL cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                       std::size_t shared_bytes) {
  return in_context([&](const Driver& driver) {
    return driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function_of(kernel), threads,
                                                              shared_bytes);
  });
}

GPU_CALL cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                          std::size_t shared_bytes, cudaStream_t stream) {
  return in_context([&](const Driver& driver) -> int {
    return driver.cuLaunchKernel(function_of(kernel), grid.x, grid.y, grid.z, block.x, block.y,
                                 block.z, for_driver(shared_bytes), stream, arguments, nullptr);
  });
}

GPU_CALL cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                     std::size_t shared_bytes, cudaStream_t stream) {
  return in_context([&](const Driver& driver) -> int {
    return driver.cuLaunchCooperativeKernel(function_of(kernel), grid.x, grid.y, grid.z, block.x,
                                            block.y, block.z, for_driver(shared_bytes), stream,
                                            arguments);
  });
}

GPU_CALL cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels,
                         std::size_t width, std::size_t height, unsigned int flags) {
  return in_context([&](const Driver& driver) -> int {
    const unsigned count = 1U + (channels->y > 0 ? 1U : 0U) + (channels->w > 0 ? 2U : 0U);
    const membound::cuda_api::ArrayShape shape{width, height, array_format(*channels), count};
    if (flags != 0 || shape.format == 0) return cudaErrorNotSupported;
    membound::cuda_api::Array made = nullptr;
    const int code = driver.cuArrayCreate_v2(&made, &shape);
    *array = reinterpret_cast<cudaArray_t>(made);
    return code;
  });
}

GPU_CALL cudaFreeArray(cudaArray_t array) {
  return in_context([&](const Driver& driver) {
    return array == nullptr ? 0 : driver.cuArrayDestroy(array_of(array));
  });
}

GPU_CALL cudaMemcpy2DToArray(cudaArray_t to, std::size_t x_bytes, std::size_t y, const void* from,
                             std::size_t pitch, std::size_t width, std::size_t height,
                             cudaMemcpyKind kind) {
  return in_context([&](const Driver& driver) {
    constexpr int kHost = 1, kDevice = 2, kArray = 3, kAsItLies = 4;
    membound::cuda_api::Copy2D copy{};
    copy.from.memory_type = kind == cudaMemcpyHostToDevice     ? kHost
                            : kind == cudaMemcpyDeviceToDevice ? kDevice
                                                               : kAsItLies;
    copy.from.host = const_cast<void*>(from);
    copy.from.device = address(from);
    copy.from.pitch = pitch;
    copy.to.memory_type = kArray;
    copy.to.array = array_of(to);
    copy.to.x_bytes = x_bytes;
    copy.to.y = y;
    copy.width_bytes = width;
    copy.height = height;
    return driver.cuMemcpy2D_v2(&copy);
  });
}

/// Of arrays of floats, which are all that the harness makes.
GPU_CALL cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                 const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
  return in_context([&](const Driver& driver) -> int {
    if (resource->resType != cudaResourceTypeArray || view != nullptr) return cudaErrorNotSupported;
    constexpr unsigned kNormalized = 2;
    membound::cuda_api::TextureSource source{};
    source.array = array_of(resource->res.array.array);
    membound::cuda_api::TextureReading reading{};
    for (int i = 0; i < 3; ++i) reading.address_mode[i] = how->addressMode[i];
    reading.filter_mode = how->filterMode;
    reading.flags = how->normalizedCoords != 0 ? kNormalized : 0;
    return driver.cuTexObjectCreate(texture, &source, &reading, nullptr);
  });
}

GPU_CALL cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return in_context([&](const Driver& driver) { return driver.cuTexObjectDestroy(texture); });
}
