// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Values that nobody has written, and asynchronous copies that nobody has waited for.
#include "corpus.cuh"

__global__ void never_copied_to(int* out, const int* raw) {
  out[threadIdx.x] = raw[threadIdx.x] + 1;  // never_copied_to
}

__global__ void bins_never_cleared(int* raw) {
  atomicAdd(&raw[threadIdx.x % 8], 1);  // bins_never_cleared
}

__global__ void half_a_tile(int* out) {
  __shared__ int tile[64];
  if (threadIdx.x < 32) tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];  // half_a_tile
}

__global__ void halo_not_filled(int* out, const int* in) {
  __shared__ int tile[66];
  tile[threadIdx.x + 1] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 2];  // halo_not_filled
}

__global__ void counter_never_cleared(int* out) {
  __shared__ int counter;
  atomicAdd(&counter, 1);  // counter_never_cleared
  __syncthreads();
  if (threadIdx.x == 0) *out = counter;
}

__global__ void last_tile_not_padded(int* out, const int* in, int n) {
  __shared__ int tile[64];
  const int i = threadIdx.x;
  if (i < n) tile[i] = in[i];
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 64; ++k) sum += tile[k];  // last_tile_not_padded
  out[i] = sum;
}

__global__ void decides_a_branch(int* out, const int* raw) {
  if (raw[threadIdx.x] > 7) out[threadIdx.x] = 1;  // decides_a_branch
}

__global__ void is_an_index(int* out, const int* raw) {
  out[raw[threadIdx.x] & 255] = 1;  // is_an_index
}

__global__ void moved_before_use(int* out, const int* raw) {
  __shared__ int tile[64];
  tile[threadIdx.x] = raw[threadIdx.x];  // moved_before_use
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void joined_by_shuffles(int* out, const int* raw) {
  int value = threadIdx.x == 5 ? raw[5] : 1;  // joined_by_shuffles
  for (int by = 16; by > 0; by /= 2) value += __shfl_xor_sync(kAll, value, by);
  out[threadIdx.x] = value;
}

__global__ void local_array_half_filled(int* out, int from, int index) {
  volatile int mine[8];
  for (int i = from; i < 8; ++i) mine[i] = i;
  out[threadIdx.x] = mine[index];  // local_array_half_filled
}

__global__ void heap_never_written(int* out) {
  int* const mine = static_cast<int*>(malloc(64));
  out[threadIdx.x] = mine[3] + 1;  // heap_never_written
  free(mine);
}

__global__ void read_in_flight(int* out, const int* in) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  out[threadIdx.x] = tile[threadIdx.x];  // read_in_flight
}

__global__ void barrier_but_no_wait(int* out, const int* in) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // barrier_but_no_wait
}

__global__ void wait_but_no_barrier(int* out, const int* in) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[63 - threadIdx.x];  // wait_but_no_barrier
}

__global__ void barrier_before_the_wait(int* out, const int* in) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[63 - threadIdx.x];  // barrier_before_the_wait
}

__global__ void waits_for_one_too_few(int* out, const int* in) {
  __shared__ int tile[2][64];
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&tile[k][threadIdx.x], &in[64 * k + threadIdx.x], sizeof(int));
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  out[threadIdx.x] =
      tile[0][63 - threadIdx.x] + tile[1][63 - threadIdx.x];  // waits_for_one_too_few
}

__global__ void overwritten_in_flight(int* out, const int* in) {
  __shared__ int tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int));
  tile[threadIdx.x] = 0;  // overwritten_in_flight
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void copied_to_twice(int* out, const int* in) {
  __shared__ int tile[64];
  for (int k = 0; k < 2; ++k)
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[64 * k], sizeof(int));  // copied_to_twice
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void refilled_while_it_is_read(int* out, const int* in) {
  __shared__ int tile[64];
  for (int k = 0; k < 2; ++k) {
    const int* const from = in + 64 * k + threadIdx.x;
    __pipeline_memcpy_async(&tile[threadIdx.x], from, sizeof(int));  // refilled_while_it_is_read
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[64 * k + threadIdx.x] = tile[63 - threadIdx.x];
  }
}

// Four neighbours' sums, stored together: the last one reaches behind what was fetched.
__global__ void one_of_four_sums(int4* out, const int* in) {
  __shared__ int tile[130];
  const int t = threadIdx.x, first = 4 * t;
  for (int i = t; i < 128; i += 32) tile[i] = in[i];
  __syncthreads();
  int4 sums;
  sums.x = tile[first] + tile[first + 1];
  sums.y = tile[first + 1] + tile[first + 2];
  sums.z = tile[first + 2] + tile[first + 3];
  sums.w = tile[first + 3] + tile[first + 4];  // one_of_four_sums
  out[t] = sums;
}

void run_case(const char* wanted, Arrays d) {
  CASE(never_copied_to, "uninitialised read", never_copied_to<<<1, 64>>>(d.out, d.raw));
  CASE(bins_never_cleared, "uninitialised read", bins_never_cleared<<<1, 64>>>(d.raw));
  CASE(half_a_tile, "uninitialised read", half_a_tile<<<1, 64>>>(d.out));
  CASE(halo_not_filled, "uninitialised read", halo_not_filled<<<1, 64>>>(d.out, d.in));
  CASE(counter_never_cleared, "uninitialised read", counter_never_cleared<<<1, 64>>>(d.out));
  CASE(last_tile_not_padded, "uninitialised read",
       last_tile_not_padded<<<1, 64>>>(d.out, d.in, 50));
  CASE(decides_a_branch, "uninitialised read", decides_a_branch<<<1, 64>>>(d.out, d.raw));
  CASE(is_an_index, "uninitialised read", is_an_index<<<1, 64>>>(d.out, d.raw));
  CASE(moved_before_use, "uninitialised read", moved_before_use<<<1, 64>>>(d.out, d.raw));
  CASE(joined_by_shuffles, "uninitialised read", joined_by_shuffles<<<1, 32>>>(d.out, d.raw));
  CASE(local_array_half_filled, "uninitialised read",
       local_array_half_filled<<<1, 32>>>(d.out, 4, 2));
  CASE(heap_never_written, "uninitialised read", heap_never_written<<<1, 1>>>(d.out));
  CASE(one_of_four_sums, "uninitialised read",
       one_of_four_sums<<<1, 32>>>(reinterpret_cast<int4*>(d.out), d.in));
  CASE(read_in_flight, "copy in flight", read_in_flight<<<1, 64>>>(d.out, d.in));
  CASE(barrier_but_no_wait, "copy in flight", barrier_but_no_wait<<<1, 64>>>(d.out, d.in));
  CASE(wait_but_no_barrier, "data race", wait_but_no_barrier<<<1, 64>>>(d.out, d.in));
  CASE(barrier_before_the_wait, "copy in flight", barrier_before_the_wait<<<1, 64>>>(d.out, d.in));
  CASE(waits_for_one_too_few, "copy in flight", waits_for_one_too_few<<<1, 64>>>(d.out, d.in));
  CASE(overwritten_in_flight, "copy in flight", overwritten_in_flight<<<1, 64>>>(d.out, d.in));
  CASE(copied_to_twice, "copy in flight", copied_to_twice<<<1, 64>>>(d.out, d.in));
  CASE(refilled_while_it_is_read, "data race", refilled_while_it_is_read<<<1, 64>>>(d.out, d.in));
}
