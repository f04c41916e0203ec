// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Our declarations of the runtime's binary interface against the toolkit's headers, where there is
// a toolkit: every size and the offsets of the fields we read or write.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <gtest/gtest.h>

#ifndef __dv  // the toolkit's headers leave it defined or not; ours do not use it
#define __dv(v)
#endif

namespace ours {
#include "grader/device_code/cuda_api/cuda_abi.hpp"
}  // namespace ours

namespace {

#define EXPECT_SAME_SIZE(type) EXPECT_EQ(sizeof(ours::type), sizeof(::type))
#define EXPECT_SAME_PLACE(type, field) \
  EXPECT_EQ(offsetof(ours::type, field), offsetof(::type, field))

TEST(Abi, SizesAreTheToolkits) {
  EXPECT_SAME_SIZE(dim3);
  EXPECT_SAME_SIZE(cudaChannelFormatDesc);
  EXPECT_SAME_SIZE(cudaExtent);
  EXPECT_SAME_SIZE(cudaPitchedPtr);
  EXPECT_SAME_SIZE(cudaMemcpy3DParms);
  EXPECT_SAME_SIZE(cudaMemcpy3DPeerParms);
  EXPECT_SAME_SIZE(cudaMemcpyNodeParams);
  EXPECT_SAME_SIZE(cudaMemsetParams);
  EXPECT_SAME_SIZE(cudaHostNodeParams);
  EXPECT_SAME_SIZE(cudaKernelNodeParams);
  EXPECT_SAME_SIZE(cudaPointerAttributes);
  EXPECT_SAME_SIZE(cudaFuncAttributes);
  EXPECT_SAME_SIZE(cudaResourceDesc);
  EXPECT_SAME_SIZE(cudaResourceViewDesc);
  EXPECT_SAME_SIZE(cudaTextureDesc);
  EXPECT_SAME_SIZE(cudaMemPoolProps);
  EXPECT_SAME_SIZE(cudaMemAllocNodeParams);
  EXPECT_SAME_SIZE(cudaMemAccessDesc);
  EXPECT_SAME_SIZE(cudaGraphNodeParams);
  EXPECT_SAME_SIZE(cudaGraphInstantiateParams);
  EXPECT_SAME_SIZE(cudaGraphExecUpdateResultInfo);
  EXPECT_SAME_SIZE(cudaLaunchAttribute);
  EXPECT_SAME_SIZE(cudaLaunchAttributeValue);
  EXPECT_SAME_SIZE(cudaLaunchConfig_t);
  EXPECT_SAME_SIZE(cudaGraphEdgeData);
  EXPECT_SAME_SIZE(cudaDeviceProp);
}

// The harness's own header declares every function as the toolkit does; it does not compile else.
#define RUNTIME_FUNCTION(name, parameters) \
  static_assert(std::is_same_v<decltype(::name), cudaError_t parameters>);
#include "grader/device_code/cuda_api/include/runtime_functions.def"
#undef RUNTIME_FUNCTION

// Programs of ours pass these to the real runtime, too.
#define RUNTIME_CONSTANT(type, name, value) static_assert((name) == (value));
#include "grader/device_code/cuda_api/include/runtime_constants.def"
#undef RUNTIME_CONSTANT

#define EXPECT_SAME_NUMBER(name) EXPECT_EQ(static_cast<int>(ours::name), static_cast<int>(::name))

TEST(Abi, EnumeratorsAreNumberedAsInTheToolkit) {
  EXPECT_SAME_NUMBER(cudaMemcpyHostToHost);
  EXPECT_SAME_NUMBER(cudaMemcpyHostToDevice);
  EXPECT_SAME_NUMBER(cudaMemcpyDeviceToHost);
  EXPECT_SAME_NUMBER(cudaMemcpyDeviceToDevice);
  EXPECT_SAME_NUMBER(cudaMemcpyDefault);
  EXPECT_SAME_NUMBER(cudaChannelFormatKindSigned);
  EXPECT_SAME_NUMBER(cudaChannelFormatKindUnsigned);
  EXPECT_SAME_NUMBER(cudaChannelFormatKindFloat);
  EXPECT_SAME_NUMBER(cudaChannelFormatKindNone);
  EXPECT_SAME_NUMBER(cudaMemoryTypeUnregistered);
  EXPECT_SAME_NUMBER(cudaMemoryTypeHost);
  EXPECT_SAME_NUMBER(cudaMemoryTypeDevice);
  EXPECT_SAME_NUMBER(cudaMemoryTypeManaged);
  EXPECT_SAME_NUMBER(cudaFuncAttributeMaxDynamicSharedMemorySize);
  EXPECT_SAME_NUMBER(cudaFuncAttributePreferredSharedMemoryCarveout);
  EXPECT_SAME_NUMBER(cudaFuncAttributeClusterDimMustBeSet);
  EXPECT_SAME_NUMBER(cudaFuncAttributeRequiredClusterWidth);
  EXPECT_SAME_NUMBER(cudaFuncAttributeRequiredClusterHeight);
  EXPECT_SAME_NUMBER(cudaFuncAttributeRequiredClusterDepth);
  EXPECT_SAME_NUMBER(cudaFuncAttributeNonPortableClusterSizeAllowed);
  EXPECT_SAME_NUMBER(cudaFuncAttributeClusterSchedulingPolicyPreference);
  EXPECT_SAME_NUMBER(cudaLimitStackSize);
  EXPECT_SAME_NUMBER(cudaLimitPrintfFifoSize);
  EXPECT_SAME_NUMBER(cudaLimitMallocHeapSize);
  EXPECT_SAME_NUMBER(cudaLimitDevRuntimeSyncDepth);
  EXPECT_SAME_NUMBER(cudaLimitDevRuntimePendingLaunchCount);
  EXPECT_SAME_NUMBER(cudaLimitMaxL2FetchGranularity);
  EXPECT_SAME_NUMBER(cudaLimitPersistingL2CacheSize);
  EXPECT_SAME_NUMBER(cudaResourceTypeArray);
  EXPECT_SAME_NUMBER(cudaResourceTypeMipmappedArray);
  EXPECT_SAME_NUMBER(cudaResourceTypeLinear);
  EXPECT_SAME_NUMBER(cudaResourceTypePitch2D);
  EXPECT_SAME_NUMBER(cudaAddressModeWrap);
  EXPECT_SAME_NUMBER(cudaAddressModeClamp);
  EXPECT_SAME_NUMBER(cudaAddressModeMirror);
  EXPECT_SAME_NUMBER(cudaAddressModeBorder);
  EXPECT_SAME_NUMBER(cudaFilterModePoint);
  EXPECT_SAME_NUMBER(cudaFilterModeLinear);
  EXPECT_SAME_NUMBER(cudaReadModeElementType);
  EXPECT_SAME_NUMBER(cudaReadModeNormalizedFloat);
  EXPECT_SAME_NUMBER(cudaMemPoolReuseFollowEventDependencies);
  EXPECT_SAME_NUMBER(cudaMemPoolReuseAllowOpportunistic);
  EXPECT_SAME_NUMBER(cudaMemPoolReuseAllowInternalDependencies);
  EXPECT_SAME_NUMBER(cudaMemPoolAttrReleaseThreshold);
  EXPECT_SAME_NUMBER(cudaMemPoolAttrReservedMemCurrent);
  EXPECT_SAME_NUMBER(cudaMemPoolAttrReservedMemHigh);
  EXPECT_SAME_NUMBER(cudaMemPoolAttrUsedMemCurrent);
  EXPECT_SAME_NUMBER(cudaMemPoolAttrUsedMemHigh);
  EXPECT_SAME_NUMBER(cudaStreamCaptureStatusNone);
  EXPECT_SAME_NUMBER(cudaStreamCaptureStatusActive);
  EXPECT_SAME_NUMBER(cudaStreamCaptureStatusInvalidated);
  EXPECT_SAME_NUMBER(cudaStreamCaptureModeGlobal);
  EXPECT_SAME_NUMBER(cudaStreamCaptureModeThreadLocal);
  EXPECT_SAME_NUMBER(cudaStreamCaptureModeRelaxed);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeKernel);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeMemcpy);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeMemset);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeHost);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeGraph);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeEmpty);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeWaitEvent);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeEventRecord);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeMemAlloc);
  EXPECT_SAME_NUMBER(cudaGraphNodeTypeMemFree);
  EXPECT_SAME_NUMBER(cudaGraphExecUpdateSuccess);
  EXPECT_SAME_NUMBER(cudaGraphExecUpdateError);
  EXPECT_SAME_NUMBER(cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_SAME_NUMBER(cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_SAME_NUMBER(cudaLaunchAttributeCooperative);
  EXPECT_SAME_NUMBER(cudaLaunchAttributeClusterDimension);
  EXPECT_SAME_NUMBER(cudaLaunchAttributePriority);
}

TEST(Abi, AnExtentLeftOutIsOne) {
  const ours::dim3 blocks(7);
  EXPECT_EQ(blocks.x, 7u);
  EXPECT_EQ(blocks.y, 1u);
  EXPECT_EQ(blocks.z, 1u);
}

TEST(Abi, FieldsLieWhereTheToolkitPutsThem) {
  EXPECT_SAME_PLACE(cudaMemcpy3DParms, kind);
  EXPECT_SAME_PLACE(cudaMemcpy3DParms, dstPtr);
  EXPECT_SAME_PLACE(cudaPointerAttributes, hostPointer);
  EXPECT_SAME_PLACE(cudaFuncAttributes, numRegs);
  EXPECT_SAME_PLACE(cudaFuncAttributes, maxDynamicSharedSizeBytes);
  EXPECT_SAME_PLACE(cudaResourceDesc, res.pitch2D.pitchInBytes);
  EXPECT_SAME_PLACE(cudaResourceDesc, res.linear.sizeInBytes);
  EXPECT_SAME_PLACE(cudaTextureDesc, normalizedCoords);
  EXPECT_SAME_PLACE(cudaTextureDesc, borderColor);
  EXPECT_SAME_PLACE(cudaKernelNodeParams, kernelParams);
  EXPECT_SAME_PLACE(cudaGraphNodeParams, kernel);
  EXPECT_SAME_PLACE(cudaLaunchConfig_t, attrs);
  EXPECT_SAME_PLACE(cudaLaunchAttribute, val);
}

TEST(Abi, PropertiesOfADeviceLieWhereTheToolkitPutsThem) {
  EXPECT_SAME_PLACE(cudaDeviceProp, name);
  EXPECT_SAME_PLACE(cudaDeviceProp, uuid);
  EXPECT_SAME_PLACE(cudaDeviceProp, luid);
  EXPECT_SAME_PLACE(cudaDeviceProp, luidDeviceNodeMask);
  EXPECT_SAME_PLACE(cudaDeviceProp, totalGlobalMem);
  EXPECT_SAME_PLACE(cudaDeviceProp, sharedMemPerBlock);
  EXPECT_SAME_PLACE(cudaDeviceProp, regsPerBlock);
  EXPECT_SAME_PLACE(cudaDeviceProp, warpSize);
  EXPECT_SAME_PLACE(cudaDeviceProp, memPitch);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxThreadsPerBlock);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxThreadsDim);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxGridSize);
  EXPECT_SAME_PLACE(cudaDeviceProp, totalConstMem);
  EXPECT_SAME_PLACE(cudaDeviceProp, major);
  EXPECT_SAME_PLACE(cudaDeviceProp, minor);
  EXPECT_SAME_PLACE(cudaDeviceProp, textureAlignment);
  EXPECT_SAME_PLACE(cudaDeviceProp, texturePitchAlignment);
  EXPECT_SAME_PLACE(cudaDeviceProp, multiProcessorCount);
  EXPECT_SAME_PLACE(cudaDeviceProp, integrated);
  EXPECT_SAME_PLACE(cudaDeviceProp, canMapHostMemory);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture1D);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture1DMipmap);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture2D);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture2DMipmap);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture2DLinear);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture2DGather);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture3D);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture3DAlt);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTextureCubemap);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture1DLayered);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTexture2DLayered);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxTextureCubemapLayered);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxSurface1D);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxSurface2D);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxSurface3D);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxSurface1DLayered);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxSurface2DLayered);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxSurfaceCubemap);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxSurfaceCubemapLayered);
  EXPECT_SAME_PLACE(cudaDeviceProp, surfaceAlignment);
  EXPECT_SAME_PLACE(cudaDeviceProp, concurrentKernels);
  EXPECT_SAME_PLACE(cudaDeviceProp, ECCEnabled);
  EXPECT_SAME_PLACE(cudaDeviceProp, pciBusID);
  EXPECT_SAME_PLACE(cudaDeviceProp, pciDeviceID);
  EXPECT_SAME_PLACE(cudaDeviceProp, pciDomainID);
  EXPECT_SAME_PLACE(cudaDeviceProp, tccDriver);
  EXPECT_SAME_PLACE(cudaDeviceProp, asyncEngineCount);
  EXPECT_SAME_PLACE(cudaDeviceProp, unifiedAddressing);
  EXPECT_SAME_PLACE(cudaDeviceProp, memoryBusWidth);
  EXPECT_SAME_PLACE(cudaDeviceProp, l2CacheSize);
  EXPECT_SAME_PLACE(cudaDeviceProp, persistingL2CacheMaxSize);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxThreadsPerMultiProcessor);
  EXPECT_SAME_PLACE(cudaDeviceProp, streamPrioritiesSupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, globalL1CacheSupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, localL1CacheSupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, sharedMemPerMultiprocessor);
  EXPECT_SAME_PLACE(cudaDeviceProp, regsPerMultiprocessor);
  EXPECT_SAME_PLACE(cudaDeviceProp, managedMemory);
  EXPECT_SAME_PLACE(cudaDeviceProp, isMultiGpuBoard);
  EXPECT_SAME_PLACE(cudaDeviceProp, multiGpuBoardGroupID);
  EXPECT_SAME_PLACE(cudaDeviceProp, hostNativeAtomicSupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, pageableMemoryAccess);
  EXPECT_SAME_PLACE(cudaDeviceProp, concurrentManagedAccess);
  EXPECT_SAME_PLACE(cudaDeviceProp, computePreemptionSupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, canUseHostPointerForRegisteredMem);
  EXPECT_SAME_PLACE(cudaDeviceProp, cooperativeLaunch);
  EXPECT_SAME_PLACE(cudaDeviceProp, sharedMemPerBlockOptin);
  EXPECT_SAME_PLACE(cudaDeviceProp, pageableMemoryAccessUsesHostPageTables);
  EXPECT_SAME_PLACE(cudaDeviceProp, directManagedMemAccessFromHost);
  EXPECT_SAME_PLACE(cudaDeviceProp, maxBlocksPerMultiProcessor);
  EXPECT_SAME_PLACE(cudaDeviceProp, accessPolicyMaxWindowSize);
  EXPECT_SAME_PLACE(cudaDeviceProp, reservedSharedMemPerBlock);
  EXPECT_SAME_PLACE(cudaDeviceProp, hostRegisterSupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, sparseCudaArraySupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, hostRegisterReadOnlySupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, timelineSemaphoreInteropSupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, memoryPoolsSupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, gpuDirectRDMASupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, gpuDirectRDMAFlushWritesOptions);
  EXPECT_SAME_PLACE(cudaDeviceProp, gpuDirectRDMAWritesOrdering);
  EXPECT_SAME_PLACE(cudaDeviceProp, memoryPoolSupportedHandleTypes);
  EXPECT_SAME_PLACE(cudaDeviceProp, deferredMappingCudaArraySupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, ipcEventSupported);
  EXPECT_SAME_PLACE(cudaDeviceProp, clusterLaunch);
  EXPECT_SAME_PLACE(cudaDeviceProp, unifiedFunctionPointers);
  EXPECT_SAME_PLACE(cudaDeviceProp, deviceNumaConfig);
  EXPECT_SAME_PLACE(cudaDeviceProp, deviceNumaId);
  EXPECT_SAME_PLACE(cudaDeviceProp, mpsEnabled);
  EXPECT_SAME_PLACE(cudaDeviceProp, hostNumaId);
  EXPECT_SAME_PLACE(cudaDeviceProp, gpuPciDeviceID);
  EXPECT_SAME_PLACE(cudaDeviceProp, gpuPciSubsystemID);
  EXPECT_SAME_PLACE(cudaDeviceProp, hostNumaMultinodeIpcSupported);
}

TEST(Abi, ErrorNumbersAreTheToolkits) {
#define CUDA_ERROR(name, number, text) EXPECT_EQ(static_cast<int>(::name), number) << #name;
#include "grader/device_code/cuda_api/error_table.def"
#undef CUDA_ERROR
}

TEST(Abi, DeviceAttributesAreNumberedAsInTheToolkit) {
  EXPECT_EQ(::cudaDevAttrMaxThreadsPerBlock, 1);
  EXPECT_EQ(::cudaDevAttrMultiProcessorCount, 16);
  EXPECT_EQ(::cudaDevAttrComputeCapabilityMajor, 75);
  EXPECT_EQ(::cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81);
  EXPECT_EQ(::cudaDevAttrCooperativeLaunch, 95);
  EXPECT_EQ(::cudaDevAttrMaxSharedMemoryPerBlockOptin, 97);
  EXPECT_EQ(::cudaDevAttrMaxBlocksPerMultiprocessor, 106);
  EXPECT_EQ(::cudaDevAttrMemoryPoolsSupported, 115);
}

}  // namespace
