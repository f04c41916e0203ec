// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of the stand-in for NVIDIA's driver that executes: each call is one of the virtual GPU,
/// whose libcudart.so.13 STAND_IN_RUNTIME names, so that all that a check does on a GPU can be done
/// where there is none. It takes code as a driver does: machine code for its card alone, PTX for no
/// newer card and of no newer version than its own.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "grader/device_code/cuda_api/driver.hpp"
#include "grader/device_code/fatbin/fatbin.hpp"

using namespace membound::cuda_api;  // NOLINT: the driver's own interface below
namespace fatbin = membound::fatbin;

extern "C" {
int cuDeviceGetAttribute(int* value, int attribute, int device);
int cuDriverGetVersion(int* version);
}

namespace {

template <typename Type>
Type* of_runtime(const char* name) {
  static void* const library = [] {
    const char* const path = std::getenv("STAND_IN_RUNTIME");
    void* const found = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (found == nullptr) std::fprintf(stderr, "stand-in: no STAND_IN_RUNTIME\n");
    return found;
  }();
  return reinterpret_cast<Type*>(dlsym(library, name));
}

/// The function of that name.
#define RUNTIME(name) (*of_runtime<decltype(name)>(#name))

void* pointer(Address address) { return reinterpret_cast<void*>(address); }
cudaKernel_t kernel_of(Function function) { return reinterpret_cast<cudaKernel_t>(function); }
cudaLibrary_t library_of(CodeModule code) { return reinterpret_cast<cudaLibrary_t>(code); }
cudaArray_t array_of(Array array) { return reinterpret_cast<cudaArray_t>(array); }

/// What a driver finds when it looks for code for its card.
int why_refused(const void* image) {
  const auto modules = fatbin::read_image(image);
  if (!modules) return cudaErrorInvalidKernelImage;
  int major = 0, minor = 0, cuda = 0;
  cuDeviceGetAttribute(&major, 75, 0);
  cuDeviceGetAttribute(&minor, 76, 0);
  cuDriverGetVersion(&cuda);
  const int card = 10 * major + minor;
  constexpr int kPtxBehindCuda = 40;  // CUDA 12.4 brought PTX 8.4
  const int newest_ptx = cuda / 1000 * 10 + cuda % 1000 / 10 - kPtxBehindCuda;
  int code = cudaErrorNoKernelImageForDevice;
  for (const fatbin::Entry& entry : modules->front()) {
    if (entry.kind == fatbin::EntryKind::kElf) {
      if (static_cast<int>(entry.arch) == card) return cudaSuccess;
      continue;
    }
    const std::string text(entry.text());
    int target = 0, ptx_major = 0, ptx_minor = 0;
    std::sscanf(text.c_str() + text.find(".target sm_"), ".target sm_%d", &target);
    std::sscanf(text.c_str() + text.find(".version "), ".version %d.%d", &ptx_major, &ptx_minor);
    if (target > card) continue;
    if (10 * ptx_major + ptx_minor <= newest_ptx) return cudaSuccess;
    code = cudaErrorUnsupportedPtxVersion;
  }
  return code;
}

}  // namespace

/// What the rest of the stand-in does not say of itself, the virtual GPU does.
int attribute_of_runtime(int* value, int attribute) {
  if (std::getenv("STAND_IN_RUNTIME") == nullptr) return cudaErrorInvalidValue;
  return RUNTIME(cudaDeviceGetAttribute)(value, static_cast<cudaDeviceAttr>(attribute), 0);
}

extern "C" {

int cuDevicePrimaryCtxRetain(Context* context, int device) {
  *context = reinterpret_cast<Context>(static_cast<std::intptr_t>(device + 1));
  return cudaSuccess;
}
int cuCtxSetCurrent(Context) { return cudaSuccess; }
int cuCtxSynchronize() { return RUNTIME(cudaDeviceSynchronize)(); }
int cuCtxSetLimit(int limit, std::size_t value) {
  return RUNTIME(cudaDeviceSetLimit)(static_cast<cudaLimit>(limit), value);
}
int cuCtxResetPersistingL2Cache() { return RUNTIME(cudaCtxResetPersistingL2Cache)(); }
int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return RUNTIME(cudaDeviceGetStreamPriorityRange)(least, greatest);
}

int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* all_bytes) {
  return RUNTIME(cudaMemGetInfo)(free_bytes, all_bytes);
}
int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  if (bytes == 0) return cudaErrorInvalidValue;
  return RUNTIME(cudaMalloc)(reinterpret_cast<void**>(address), bytes);
}
int cuMemFree_v2(Address address) { return RUNTIME(cudaFree)(pointer(address)); }
int cuMemAllocAsync(Address* address, std::size_t bytes, cudaStream_t stream) {
  return RUNTIME(cudaMallocAsync)(reinterpret_cast<void**>(address), bytes, stream);
}
int cuMemFreeAsync(Address address, cudaStream_t stream) {
  return RUNTIME(cudaFreeAsync)(pointer(address), stream);
}
int cuMemAllocHost_v2(void** memory, std::size_t bytes) {
  return RUNTIME(cudaMallocHost)(memory, bytes);
}
int cuMemFreeHost(void* memory) { return RUNTIME(cudaFreeHost)(memory); }
int cuMemsetD8_v2(Address address, unsigned char value, std::size_t bytes) {
  return RUNTIME(cudaMemset)(pointer(address), value, bytes);
}
int cuMemsetD8Async(Address address, unsigned char value, std::size_t bytes, cudaStream_t stream) {
  return RUNTIME(cudaMemsetAsync)(pointer(address), value, bytes, stream);
}
int cuMemcpy(Address to, Address from, std::size_t bytes) {
  return RUNTIME(cudaMemcpy)(pointer(to), pointer(from), bytes, cudaMemcpyDefault);
}
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  return RUNTIME(cudaMemcpy)(pointer(to), from, bytes, cudaMemcpyHostToDevice);
}
int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  return RUNTIME(cudaMemcpy)(to, pointer(from), bytes, cudaMemcpyDeviceToHost);
}
int cuMemcpyDtoD_v2(Address to, Address from, std::size_t bytes) {
  return RUNTIME(cudaMemcpy)(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice);
}
int cuMemcpyAsync(Address to, Address from, std::size_t bytes, cudaStream_t stream) {
  return RUNTIME(cudaMemcpyAsync)(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream);
}
int cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, cudaStream_t stream) {
  return RUNTIME(cudaMemcpyAsync)(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream);
}
int cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, cudaStream_t stream) {
  return RUNTIME(cudaMemcpyAsync)(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream);
}
int cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, cudaStream_t stream) {
  return RUNTIME(cudaMemcpyAsync)(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice,
                                  stream);
}

int cuEventCreate(cudaEvent_t* event, unsigned flags) {
  return RUNTIME(cudaEventCreateWithFlags)(event, flags);
}
int cuEventDestroy_v2(cudaEvent_t event) { return RUNTIME(cudaEventDestroy)(event); }
int cuEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return RUNTIME(cudaEventRecord)(event, stream);
}
int cuEventQuery(cudaEvent_t event) { return RUNTIME(cudaEventQuery)(event); }
int cuEventSynchronize(cudaEvent_t event) { return RUNTIME(cudaEventSynchronize)(event); }
int cuEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return RUNTIME(cudaEventElapsedTime)(milliseconds, begin, end);
}

int cuStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return RUNTIME(cudaStreamCreateWithPriority)(stream, flags, priority);
}
int cuStreamDestroy_v2(cudaStream_t stream) { return RUNTIME(cudaStreamDestroy)(stream); }
int cuStreamSynchronize(cudaStream_t stream) { return RUNTIME(cudaStreamSynchronize)(stream); }
int cuStreamQuery(cudaStream_t stream) { return RUNTIME(cudaStreamQuery)(stream); }
int cuStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return RUNTIME(cudaStreamWaitEvent)(stream, event, flags);
}
int cuStreamBeginCapture_v2(cudaStream_t stream, int mode) {
  return RUNTIME(cudaStreamBeginCapture)(stream, static_cast<cudaStreamCaptureMode>(mode));
}
int cuStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return RUNTIME(cudaStreamEndCapture)(stream, graph);
}
int cuStreamGetCaptureInfo_v2(cudaStream_t stream, int* status, unsigned long long* number,
                              cudaGraph_t* graph, const cudaGraphNode_t** nodes,
                              std::size_t* count) {
  cudaStreamCaptureStatus found{};
  const int code =
      RUNTIME(cudaStreamGetCaptureInfo)(stream, &found, number, graph, nodes, nullptr, count);
  *status = found;
  return code;
}
int cuGraphInstantiateWithFlags(cudaGraphExec_t* ready, cudaGraph_t graph,
                                unsigned long long flags) {
  return RUNTIME(cudaGraphInstantiate)(ready, graph, flags);
}
int cuGraphLaunch(cudaGraphExec_t ready, cudaStream_t stream) {
  return RUNTIME(cudaGraphLaunch)(ready, stream);
}
int cuGraphDestroy(cudaGraph_t graph) { return RUNTIME(cudaGraphDestroy)(graph); }
int cuGraphExecDestroy(cudaGraphExec_t ready) { return RUNTIME(cudaGraphExecDestroy)(ready); }

int cuModuleLoadDataEx(CodeModule* code, const void* image, unsigned, int*, void**) {
  if (const int refused = why_refused(image); refused != cudaSuccess) return refused;
  return RUNTIME(cudaLibraryLoadData)(reinterpret_cast<cudaLibrary_t*>(code), image, nullptr,
                                      nullptr, 0, nullptr, nullptr, 0);
}
int cuModuleUnload(CodeModule code) { return RUNTIME(cudaLibraryUnload)(library_of(code)); }
int cuModuleGetFunction(Function* function, CodeModule code, const char* name) {
  return RUNTIME(cudaLibraryGetKernel)(reinterpret_cast<cudaKernel_t*>(function), library_of(code),
                                       name);
}
int cuModuleGetGlobal_v2(Address* address, std::size_t* bytes, CodeModule code, const char* name) {
  return RUNTIME(cudaLibraryGetGlobal)(reinterpret_cast<void**>(address), bytes, library_of(code),
                                       name);
}
int cuFuncGetAttribute(int* value, int attribute, Function function) {
  cudaFuncAttributes all{};
  const int code = RUNTIME(cudaFuncGetAttributes)(&all, kernel_of(function));
  const int values[] = {all.maxThreadsPerBlock,
                        static_cast<int>(all.sharedSizeBytes),
                        static_cast<int>(all.constSizeBytes),
                        static_cast<int>(all.localSizeBytes),
                        all.numRegs,
                        all.ptxVersion,
                        all.binaryVersion,
                        all.cacheModeCA,
                        all.maxDynamicSharedSizeBytes,
                        all.preferredShmemCarveout};
  if (attribute < 0 || attribute >= static_cast<int>(std::size(values)))
    return cudaErrorInvalidValue;
  *value = values[attribute];
  return code;
}
int cuFuncSetAttribute(Function function, int attribute, int value) {
  return RUNTIME(cudaFuncSetAttribute)(kernel_of(function),
                                       static_cast<cudaFuncAttribute>(attribute), value);
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function function, int threads,
                                                std::size_t shared_bytes) {
  return RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor)(blocks, kernel_of(function),
                                                                threads, shared_bytes);
}
int cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   cudaStream_t stream, void** arguments, void**) {
  return RUNTIME(cudaLaunchKernel)(kernel_of(function), {grid_x, grid_y, grid_z},
                                   {block_x, block_y, block_z}, arguments, shared_bytes, stream);
}
int cuLaunchCooperativeKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, cudaStream_t stream, void** arguments) {
  return RUNTIME(cudaLaunchCooperativeKernel)(kernel_of(function), {grid_x, grid_y, grid_z},
                                              {block_x, block_y, block_z}, arguments, shared_bytes,
                                              stream);
}

int cuArrayCreate_v2(Array* array, const ArrayShape* shape) {
  constexpr int kFloat = 0x20;
  if (shape->format != kFloat || shape->channels != 1) return cudaErrorNotSupported;
  const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};
  return RUNTIME(cudaMallocArray)(reinterpret_cast<cudaArray_t*>(array), &floats, shape->width,
                                  shape->height, 0);
}
int cuArrayDestroy(Array array) { return RUNTIME(cudaFreeArray)(array_of(array)); }
int cuMemcpy2D_v2(const Copy2D* copy) {
  return RUNTIME(cudaMemcpy2DToArray)(array_of(copy->to.array), copy->to.x_bytes, copy->to.y,
                                      pointer(copy->from.device), copy->from.pitch,
                                      copy->width_bytes, copy->height, cudaMemcpyDeviceToDevice);
}
int cuTexObjectCreate(cudaTextureObject_t* texture, const TextureSource* source,
                      const TextureReading* reading, const void*) {
  cudaResourceDesc resource{};
  resource.resType = static_cast<cudaResourceType>(source->type);
  resource.res.array.array = array_of(source->array);
  cudaTextureDesc how{};
  for (int i = 0; i < 3; ++i)
    how.addressMode[i] = static_cast<cudaTextureAddressMode>(reading->address_mode[i]);
  how.filterMode = static_cast<cudaTextureFilterMode>(reading->filter_mode);
  return RUNTIME(cudaCreateTextureObject)(texture, &resource, &how, nullptr);
}
int cuTexObjectDestroy(cudaTextureObject_t texture) {
  return RUNTIME(cudaDestroyTextureObject)(texture);
}

}  // extern "C"
