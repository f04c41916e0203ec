// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Calls of the runtime that must not be, and memory that is never given back. What the host does
// wrong has no line.
#include "corpus.cuh"

__device__ int kept_words[16];

__global__ void heap_never_freed(int* out, bool frees) {
  int* const mine = static_cast<int*>(malloc(4 * sizeof(int)));  // heap_never_freed
  mine[0] = 1;
  out[threadIdx.x] = mine[0];
  if (frees || threadIdx.x % 2 == 0) free(mine);
}

__device__ int* kept;
__global__ void heap_kept(int* out) {
  kept = static_cast<int*>(malloc(16));
  kept[0] = 1;
  out[0] = kept[0];
}
__global__ void heap_given_back() { free(kept); }

void run_case(const char* wanted, Arrays d) {
  static int host[2 * kCount];
  int* other = nullptr;
  const std::size_t bytes = sizeof host;
  CASE(heap_never_freed, "device heap never freed", heap_never_freed<<<1, 32>>>(d.out, false));
  CASE(wrong_direction, "refused call", cudaMemcpy(host, d.in, bytes, cudaMemcpyHostToDevice));
  CASE(destination_last, "refused call", cudaMemcpy(d.in, host, bytes, cudaMemcpyDeviceToHost));
  CASE(too_large_a_copy, "refused call", cudaMemcpy(host, d.in, 2 * bytes, cudaMemcpyDeviceToHost));
  CASE(from_behind_the_end, "refused call",
       cudaMemcpyAsync(host, d.in + kCount, bytes, cudaMemcpyDeviceToHost));
  CASE(too_large_a_fill, "refused call", cudaMemset(d.in, 0, bytes + 1));
  CASE(fills_the_host, "refused call", cudaMemset(host, 0, bytes));
  CASE(copied_to_nowhere, "refused call", cudaMemcpy(other, host, bytes, cudaMemcpyHostToDevice));
  CASE(copied_after_the_free, "refused call", {
    cudaMalloc(&other, bytes);
    cudaFree(other);
    cudaMemcpy(host, other, bytes, cudaMemcpyDeviceToHost);
  });
  CASE(freed_twice, "refused call", {
    cudaMalloc(&other, bytes);
    cudaFree(other);
    cudaFree(other);
  });
  CASE(freed_in_the_middle, "refused call", cudaFree(d.in + 1));
  CASE(freed_for_the_host, "refused call", cudaFreeHost(d.in));
  CASE(pinned_freed_as_the_devices, "refused call", {
    cudaMallocHost(&other, bytes);
    cudaFree(other);
    cudaFreeHost(other);
  });
  CASE(freed_twice_in_a_stream, "refused call", {
    cudaMallocAsync(&other, bytes, nullptr);
    cudaFreeAsync(other, nullptr);
    cudaFreeAsync(other, nullptr);
  });
  CASE(more_than_the_variable_has, "refused call",
       cudaMemcpyToSymbol(kept_words, host, sizeof kept_words, 4));
  CASE(name_for_the_variable, "refused call", cudaMemcpyToSymbol("kept_words", host, 4));
  CASE(copied_over_itself, "overlapping copy",
       cudaMemcpyAsync(d.in + 1, d.in, bytes / 2, cudaMemcpyDeviceToDevice));
  CASE(rows_over_rows, "overlapping copy",
       cudaMemcpy2D(d.in + 4, 64, d.in, 64, 32, 8, cudaMemcpyDeviceToDevice));
  RIGHT(rows_between_rows, cudaMemcpy2D(d.in + 8, 64, d.in, 64, 32, 8, cudaMemcpyDeviceToDevice));
  RIGHT(heap_freed_at_once, heap_never_freed<<<1, 32>>>(d.out, true));
  RIGHT(heap_freed_by_another_kernel, {
    heap_kept<<<1, 1>>>(d.out);
    heap_given_back<<<1, 1>>>();
  });
  RIGHT(copies_of_all_kinds, {
    cudaMallocHost(&other, bytes);
    cudaMemcpy(d.in, host, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(d.out, d.in, bytes, cudaMemcpyDeviceToDevice);
    cudaMemcpy(other, d.out, bytes, cudaMemcpyDefault);
    cudaMemcpy(host, other, bytes, cudaMemcpyHostToHost);
    cudaMemset(d.in + kCount, 0, bytes / 2);
    cudaFree(nullptr);
    cudaFreeHost(other);
  });
}
