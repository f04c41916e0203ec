// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Device code alone: loaded by libraries.cu as fat binaries of every compression and as PTX.
__device__ int factor = 3;
__constant__ int summand = 10;

extern "C" __global__ void scale(int* data) {
  data[threadIdx.x] = data[threadIdx.x] * factor + summand;
}
