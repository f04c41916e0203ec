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
  EXPECT_SAME_SIZE(cudaDeviceProp);
}

// The harness's own header declares every function as the toolkit does; it does not compile else.
#define RUNTIME_FUNCTION(name, parameters) \
  static_assert(std::is_same_v<decltype(::name), cudaError_t parameters>);
#include "grader/device_code/cuda_api/include/runtime_functions.def"
#undef RUNTIME_FUNCTION

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
  EXPECT_SAME_PLACE(cudaDeviceProp, totalGlobalMem);
  EXPECT_SAME_PLACE(cudaDeviceProp, major);
  EXPECT_SAME_PLACE(cudaDeviceProp, multiProcessorCount);
  EXPECT_SAME_PLACE(cudaDeviceProp, l2CacheSize);
  EXPECT_SAME_PLACE(cudaDeviceProp, sharedMemPerBlockOptin);
  EXPECT_SAME_PLACE(cudaDeviceProp, memoryPoolsSupported);
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
