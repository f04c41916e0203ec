// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Accesses outside of arrays, misaligned ones, and memory that is gone.
#include "corpus.cuh"

__global__ void one_too_many(int* out) { out[2 * threadIdx.x + 2] = 1; }  // one_too_many

__global__ void before_the_start(int* out) {
  const int i = threadIdx.x;
  out[i - 1] = i;  // before_the_start
}

__global__ void reversed_by_one(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - i] = i;  // reversed_by_one
}

__global__ void neighbour_past_the_end(int* out, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + in[i + 1];  // neighbour_past_the_end
}

__global__ void no_guard(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;  // no_guard
}

__global__ void rows_for_columns(int* out, int rows, int cols) {
  const int row = threadIdx.y, col = threadIdx.x;
  if (row < rows && col < cols) out[col * cols + row] = 1;  // rows_for_columns
}

__global__ void guard_lets_one_through(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = 1;  // guard_lets_one_through
}

__global__ void vector_at_an_odd_word(int* out, const int* in) {
  reinterpret_cast<int4*>(out)[threadIdx.x] =
      *reinterpret_cast<const int4*>(in + 1 + 4 * threadIdx.x);  // vector_at_an_odd_word
}

__global__ void double_at_an_odd_word(int* out) {
  *reinterpret_cast<double*>(out + 2 * threadIdx.x + 1) = 1;  // double_at_an_odd_word
}

__global__ void atomic_past_the_end(int* out) {
  atomicAdd(&out[threadIdx.x + 2 * kCount], 1);  // atomic_past_the_end
}

__global__ void tile_too_small(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = 1;  // tile_too_small
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x % 32];
}

__global__ void halo_left_of_the_tile(int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[static_cast<int>(threadIdx.x) - 1];  // halo_left_of_the_tile
}

__global__ void dynamic_tile_too_small(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = 1;  // dynamic_tile_too_small
  __syncthreads();
  out[threadIdx.x] = tile[0];
}

__global__ void bytes_for_elements(int* out) {
  extern __shared__ int tile[];
  if (threadIdx.x < 16) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x % 64];  // bytes_for_elements
}

__global__ void past_a_local_array(int* out, int index) {
  volatile int mine[4] = {1, 2, 3, 4};
  out[threadIdx.x] = mine[index];  // past_a_local_array
}

__global__ void reads(int* out, const int* in) {
  out[threadIdx.x] = in[threadIdx.x];  // freed, null, of_the_host
}

__global__ void heap_past_the_end(int* out) {
  int* const mine = static_cast<int*>(malloc(4 * sizeof(int)));
  for (int i = 0; i <= 4; ++i) mine[i] = i;  // heap_past_the_end
  out[threadIdx.x] = mine[3];
  free(mine);
}

__global__ void heap_after_free(int* out) {
  int* const mine = static_cast<int*>(malloc(4 * sizeof(int)));
  mine[0] = 1;
  free(mine);
  out[threadIdx.x] = *static_cast<volatile int*>(mine);  // heap_after_free
}

__global__ void heap_freed_twice(int* out) {
  int* const mine = static_cast<int*>(malloc(16));
  out[threadIdx.x] = mine != nullptr;
  free(mine);
  free(mine);  // heap_freed_twice
}

__global__ void into_the_next_tile(int* out) {
  __shared__ int first[32], second[32];
  second[threadIdx.x % 32] = 0;
  __syncthreads();
  first[threadIdx.x] = 1;  // into_the_next_tile
  __syncthreads();
  out[threadIdx.x] = first[threadIdx.x % 32] + second[threadIdx.x % 32];
}

__global__ void out_of_the_last_tile(int* out) {
  __shared__ int first[32], second[32];
  first[threadIdx.x % 32] = second[threadIdx.x % 32] = 1;
  __syncthreads();
  out[threadIdx.x] = second[static_cast<int>(threadIdx.x) - 1] +  // out_of_the_last_tile
                     first[static_cast<int>(threadIdx.x) - 1];    // out_of_the_last_tile
}

__global__ void into_the_dynamic_part(int* out) {
  __shared__ int counts[8];
  extern __shared__ int tile[];
  tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x < 9) atomicAdd(&counts[threadIdx.x], 1);  // into_the_dynamic_part
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

void run_case(const char* wanted, Arrays d) {
  CASE(one_too_many, "out of bounds write", one_too_many<<<1, kCount>>>(d.out));
  CASE(before_the_start, "out of bounds write", before_the_start<<<1, 32>>>(d.out));
  CASE(reversed_by_one, "out of bounds write", reversed_by_one<<<2, kCount>>>(d.out, 2 * kCount));
  CASE(neighbour_past_the_end, "out of bounds read",
       neighbour_past_the_end<<<2, kCount>>>(d.out, d.in, 2 * kCount));
  CASE(no_guard, "out of bounds write", no_guard<<<3, kCount>>>(d.out));
  CASE(rows_for_columns, "out of bounds write",
       rows_for_columns<<<1, dim3(32, 16)>>>(d.out, 16, 32));
  CASE(guard_lets_one_through, "out of bounds write",
       guard_lets_one_through<<<3, kCount>>>(d.out, 2 * kCount));
  CASE(vector_at_an_odd_word, "misaligned access", vector_at_an_odd_word<<<1, 32>>>(d.out, d.in));
  CASE(double_at_an_odd_word, "misaligned access", double_at_an_odd_word<<<1, 32>>>(d.out));
  CASE(atomic_past_the_end, "out of bounds atomic", atomic_past_the_end<<<1, 32>>>(d.out));
  CASE(tile_too_small, "out of bounds write", tile_too_small<<<1, 64>>>(d.out));
  CASE(halo_left_of_the_tile, "out of bounds read", halo_left_of_the_tile<<<1, 64>>>(d.out));
  CASE(dynamic_tile_too_small, "out of bounds write",
       dynamic_tile_too_small<<<1, 64, 128>>>(d.out));
  CASE(bytes_for_elements, "out of bounds read", bytes_for_elements<<<1, 64, 64>>>(d.out));
  CASE(past_a_local_array, "out of bounds read", past_a_local_array<<<1, 32>>>(d.out, 4));
  CASE(freed, "use after free", {
    int* other;
    cudaMalloc(&other, 128);
    cudaMemset(other, 0, 128);
    cudaFree(other);
    reads<<<1, 32>>>(d.out, other);
  });
  CASE(null, "out of bounds read", reads<<<1, 32>>>(d.out, nullptr));
  CASE(of_the_host, "out of bounds read", {
    static int on_the_host[32];
    reads<<<1, 32>>>(d.out, on_the_host);
  });
  CASE(heap_past_the_end, "out of bounds write", heap_past_the_end<<<1, 1>>>(d.out));
  CASE(heap_after_free, "use after free", heap_after_free<<<1, 1>>>(d.out));
  CASE(heap_freed_twice, "illegal address", heap_freed_twice<<<1, 1>>>(d.out));
  CASE(into_the_next_tile, "out of bounds write", into_the_next_tile<<<1, 33>>>(d.out));
  CASE(out_of_the_last_tile, "out of bounds read", out_of_the_last_tile<<<1, 32>>>(d.out));
  CASE(into_the_dynamic_part, "out of bounds atomic", into_the_dynamic_part<<<1, 32, 128>>>(d.out));
}
