// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// libcudart.so.12, the name by which programs built with CUDA 12 ask for the runtime. It hands
/// calls on to libcudart.so.13 beside it; written out are those whose parameters CUDA 13 changed or
/// that it dropped. Source: cuda_runtime_api.h of CUDA 12.9 and the names that its library exports.
#ifdef MEMBOUND_NAMES_OF_13
// What it is linked with instead of that library, and never run with: the names, none of them the
// default version. The linker takes a default of 13 for our own default of that name, and ours must
// be defaults, because dlsym() finds no others.
asm(".pushsection .text\nabsent: .space 4\n"
#define ENTRY_POINT(name, what)                  \
  ".globl absent_" #name "\n.type absent_" #name \
  ", %function\n"                                \
  ".set absent_" #name                           \
  ", absent\n"                                   \
  ".symver absent_" #name ", " #name "@libcudart.so.13\n"
#include "grader/device_code/cuda_api/entry_points.def"
#undef ENTRY_POINT
    ".globl membound_vgpu_serve_cuda12\n.type membound_vgpu_serve_cuda12, %function\n"
    ".set membound_vgpu_serve_cuda12, absent\n"
    ".popsection\n");
#else
#include <cstddef>
#include <cstring>

#include "grader/base/processor.hpp"
#include "grader/vgpu/runtime/api/api.hpp"

// Both libraries export the same names, which a version tells apart: a symbol of12_NAME of this
// file is exported as NAME@@libcudart.so.12, and of13_NAME is NAME@libcudart.so.13 over there.
asm(".macro hand_on name, target\n"
    ".ifndef written_out_\\name\n"
    ".globl of12_\\name\n"
    ".type of12_\\name, %function\n"
    "of12_\\name:\n" MEMBOUND_JUMP_TO("of13_\\target")
    ".size of12_\\name, . - of12_\\name\n"
    ".symver of12_\\name, \\name@@libcudart.so.12\n"
    ".symver of13_\\target, \\target@libcudart.so.13\n"
    ".endif\n"
    ".endm\n"
    ".macro written_out name\n"
    ".set written_out_\\name, 1\n"
    ".symver of12_\\name, \\name@@libcudart.so.12\n"
    ".endm\n"
    "written_out cudaGetDeviceProperties\nwritten_out cudaGetDeviceProperties_v2\n"
    "written_out cudaRuntimeGetVersion\nwritten_out cudaMemAdvise\n"
    "written_out cudaMemPrefetchAsync\nwritten_out cudaMemPrefetchAsync_ptsz\n"
    "written_out cudaGraphAddNode\nwritten_out cudaGraphAddDependencies\n"
    "written_out cudaGraphRemoveDependencies\nwritten_out cudaGraphGetEdges\n"
    "written_out cudaGraphNodeGetDependencies\nwritten_out cudaGraphNodeGetDependentNodes\n"
    "written_out cudaStreamGetCaptureInfo\nwritten_out cudaStreamGetCaptureInfo_ptsz\n"
    "written_out cudaStreamGetCaptureInfo_v2\nwritten_out cudaStreamGetCaptureInfo_v2_ptsz\n"
    "written_out cudaStreamUpdateCaptureDependencies\n"
    "written_out cudaStreamUpdateCaptureDependencies_ptsz\n"
    "written_out cudaLaunchCooperativeKernelMultiDevice\n"
    "written_out cudaSetDoubleForDevice\nwritten_out cudaSetDoubleForHost\n"
    ".pushsection .text\n"
#define ENTRY_POINT(name, what) "hand_on " #name ", " #name "\n"
#include "grader/device_code/cuda_api/entry_points.def"
#undef ENTRY_POINT
#define RENAMED(name, target) "hand_on " #name ", " #target "\n"
#include "grader/device_code/cuda_api/renamed_by_cuda13.def"
#undef RENAMED
    ".popsection\n");

/// Declares the function of libcudart.so.13.
#define OF_13(name, parameters)                             \
  asm(".symver of13_" #name ", " #name "@libcudart.so.13"); \
  extern "C" cudaError_t of13_##name parameters

OF_13(cudaGetDeviceProperties, (cudaDeviceProp * properties, int device));
OF_13(cudaDeviceGetAttribute, (int* value, int attribute, int device));
OF_13(cudaGetDevice, (int* device));
OF_13(cudaMemAdvise, (const void* pointer, std::size_t bytes, int advice, cudaMemLocation where));
OF_13(cudaMemPrefetchAsync, (const void* pointer, std::size_t bytes, cudaMemLocation where,
                             unsigned int flags, cudaStream_t stream));
OF_13(cudaMemPrefetchAsync_ptsz, (const void* pointer, std::size_t bytes, cudaMemLocation where,
                                  unsigned int flags, cudaStream_t stream));
OF_13(cudaGraphAddNode,
      (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t* before,
       const cudaGraphEdgeData* edges, std::size_t count, cudaGraphNodeParams* what));
OF_13(cudaGraphAddDependencies,
      (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
       const cudaGraphEdgeData* edges, std::size_t count));
OF_13(cudaGraphRemoveDependencies,
      (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
       const cudaGraphEdgeData* edges, std::size_t count));
OF_13(cudaGraphGetEdges, (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                          cudaGraphEdgeData* edges, std::size_t* count));
OF_13(cudaGraphNodeGetDependencies,
      (cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* edges, std::size_t* count));
OF_13(cudaGraphNodeGetDependentNodes,
      (cudaGraphNode_t node, cudaGraphNode_t* out, cudaGraphEdgeData* edges, std::size_t* count));
OF_13(cudaStreamGetCaptureInfo,
      (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
       cudaGraph_t* graph, const cudaGraphNode_t** front, const cudaGraphEdgeData** edges,
       std::size_t* count));
OF_13(cudaStreamGetCaptureInfo_ptsz,
      (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
       cudaGraph_t* graph, const cudaGraphNode_t** front, const cudaGraphEdgeData** edges,
       std::size_t* count));
OF_13(cudaStreamUpdateCaptureDependencies,
      (cudaStream_t stream, cudaGraphNode_t* front, const cudaGraphEdgeData* edges,
       std::size_t count, unsigned int flags));
OF_13(cudaStreamUpdateCaptureDependencies_ptsz,
      (cudaStream_t stream, cudaGraphNode_t* front, const cudaGraphEdgeData* edges,
       std::size_t count, unsigned int flags));
OF_13(cudaLaunchCooperativeKernel, (const void* function, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared_bytes, cudaStream_t stream));

namespace {

struct Properties12 {
#define BOTH(type, name, extent) type name extent;
#define OF_12(type, name, extent) type name extent;
#include "grader/device_code/cuda_api/cuda12_properties.def"
#undef OF_12
#undef BOTH
};
static_assert(sizeof(Properties12) == 1032);

/// cudaDeviceAttr of the members that CUDA 13 dropped.
struct Dropped {
  int Properties12::*member;
  int attribute;
};
constexpr Dropped kDropped[] = {{&Properties12::clockRate, 13},
                                {&Properties12::deviceOverlap, 15},
                                {&Properties12::kernelExecTimeoutEnabled, 17},
                                {&Properties12::computeMode, 20},
                                {&Properties12::memoryClockRate, 36},
                                {&Properties12::maxTexture1DLinear, 69},
                                {&Properties12::singleToDoublePrecisionPerfRatio, 87},
                                {&Properties12::cooperativeMultiDeviceLaunch, 96}};

cudaError_t properties_12(Properties12& out, int device) {
  cudaDeviceProp newer{};
  if (const cudaError_t code = of13_cudaGetDeviceProperties(&newer, device); code != cudaSuccess)
    return code;
  out = {};
#define BOTH(type, name, extent) std::memcpy(&out.name, &newer.name, sizeof(out.name));
#define OF_12(type, name, extent)
#include "grader/device_code/cuda_api/cuda12_properties.def"
#undef OF_12
#undef BOTH
  for (const Dropped& each : kDropped)
    static_cast<void>(of13_cudaDeviceGetAttribute(&(out.*each.member), each.attribute, device));
  return cudaSuccess;
}

/// What CUDA 12 calls a device, or the host by -1 (cudaCpuDeviceId).
cudaMemLocation location_of(int device) {
  constexpr int kCpu = -1, kOnDevice = 1, kOnHost = 2;
  cudaMemLocation place{};
  place.type = static_cast<decltype(place.type)>(device == kCpu ? kOnHost : kOnDevice);
  place.id = device == kCpu ? 0 : device;
  return place;
}

/// cudaLaunchParams.
struct LaunchOnDevice {
  void* function;
  dim3 grid, block;
  void** arguments;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

}  // namespace

CUDA_EXPORT void membound_vgpu_serve_cuda12();
// That a program asked for this library can be told by its being loaded, after the one beside it.
__attribute__((constructor)) static void tell_which_is_served() { membound_vgpu_serve_cuda12(); }

CUDA_CALL of12_cudaGetDeviceProperties_v2(void* out, int device) {
  if (out == nullptr) return of13_cudaGetDeviceProperties(nullptr, device);
  Properties12 properties;
  const cudaError_t code = properties_12(properties, device);
  if (code == cudaSuccess) std::memcpy(out, &properties, sizeof(properties));
  return code;
}

// By this name only what was compiled with CUDA 11 asks, whose structure ends earlier.
CUDA_CALL of12_cudaGetDeviceProperties(void* out, int device) {
  if (out == nullptr) return of13_cudaGetDeviceProperties(nullptr, device);
  Properties12 properties;
  const cudaError_t code = properties_12(properties, device);
  if (code == cudaSuccess)
    std::memcpy(out, &properties, offsetof(Properties12, hostRegisterSupported));
  return code;
}

CUDA_CALL of12_cudaRuntimeGetVersion(int* version) {
  constexpr int kVersion = 12090;
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = kVersion;
  return cudaSuccess;
}

CUDA_CALL of12_cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, int device) {
  return of13_cudaMemAdvise(pointer, bytes, advice, location_of(device));
}

CUDA_CALL of12_cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device,
                                    cudaStream_t stream) {
  return of13_cudaMemPrefetchAsync(pointer, bytes, location_of(device), 0, stream);
}

CUDA_CALL of12_cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes, int device,
                                         cudaStream_t stream) {
  return of13_cudaMemPrefetchAsync_ptsz(pointer, bytes, location_of(device), 0, stream);
}

CUDA_CALL of12_cudaGraphAddNode(cudaGraphNode_t* out, cudaGraph_t graph,
                                const cudaGraphNode_t* before, std::size_t count,
                                cudaGraphNodeParams* what) {
  return of13_cudaGraphAddNode(out, graph, before, nullptr, count, what);
}

CUDA_CALL of12_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, std::size_t count) {
  return of13_cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

CUDA_CALL of12_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                           const cudaGraphNode_t* to, std::size_t count) {
  return of13_cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}

CUDA_CALL of12_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                 std::size_t* count) {
  return of13_cudaGraphGetEdges(graph, from, to, nullptr, count);
}

CUDA_CALL of12_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* out,
                                            std::size_t* count) {
  return of13_cudaGraphNodeGetDependencies(node, out, nullptr, count);
}

CUDA_CALL of12_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* out,
                                              std::size_t* count) {
  return of13_cudaGraphNodeGetDependentNodes(node, out, nullptr, count);
}

CUDA_CALL of12_cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                        unsigned long long* id) {
  return of13_cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUDA_CALL of12_cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                             unsigned long long* id) {
  return of13_cudaStreamGetCaptureInfo_ptsz(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUDA_CALL of12_cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                           unsigned long long* id, cudaGraph_t* graph,
                                           const cudaGraphNode_t** front, std::size_t* count) {
  return of13_cudaStreamGetCaptureInfo(stream, status, id, graph, front, nullptr, count);
}

CUDA_CALL of12_cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream,
                                                cudaStreamCaptureStatus* status,
                                                unsigned long long* id, cudaGraph_t* graph,
                                                const cudaGraphNode_t** front, std::size_t* count) {
  return of13_cudaStreamGetCaptureInfo_ptsz(stream, status, id, graph, front, nullptr, count);
}

CUDA_CALL of12_cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* front,
                                                   std::size_t count, unsigned int flags) {
  return of13_cudaStreamUpdateCaptureDependencies(stream, front, nullptr, count, flags);
}

CUDA_CALL of12_cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t* front,
                                                        std::size_t count, unsigned int flags) {
  return of13_cudaStreamUpdateCaptureDependencies_ptsz(stream, front, nullptr, count, flags);
}

// There is one device.
CUDA_CALL of12_cudaLaunchCooperativeKernelMultiDevice(LaunchOnDevice* launches, unsigned int count,
                                                      unsigned int) {
  if (launches == nullptr || count != 1) return cudaErrorInvalidValue;
  return of13_cudaLaunchCooperativeKernel(launches->function, launches->grid, launches->block,
                                          launches->arguments, launches->shared_bytes,
                                          launches->stream);
}

// GPUs without double precision, for which these were, are gone.
CUDA_CALL of12_cudaSetDoubleForDevice(double*) { return cudaSuccess; }
CUDA_CALL of12_cudaSetDoubleForHost(double*) { return cudaSuccess; }
#endif
