// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 13, experiment: which call tells of which error, and whether it tells again. An ordinary
/// CUDA program; membound run takes it where there is no GPU.
#include <cstdio>

__global__ void touch(int* place) { *place = 1; }

/// Asks three calls in turn, as often as an error could still be told.
void ask(const char* what) {
  std::printf("%s\n", what);
  std::printf("  cudaDeviceSynchronize  %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  std::printf("  cudaPeekAtLastError    %s\n", cudaGetErrorName(cudaPeekAtLastError()));
  std::printf("  cudaGetLastError       %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("  cudaGetLastError       %s\n", cudaGetErrorName(cudaGetLastError()));
}

int main() {
  int* d_place = nullptr;
  cudaMalloc(&d_place, sizeof(int));
  touch<<<1, 1>>>(d_place);
  ask("a launch that succeeds");
  touch<<<1, 2048>>>(d_place);
  ask("a launch that is refused: 2,048 threads a block");
  touch<<<1, 1>>>(nullptr);
  ask("a kernel that fails: a null pointer");
  std::printf("  cudaMalloc             %s\n", cudaGetErrorName(cudaMalloc(&d_place, 4)));
}
