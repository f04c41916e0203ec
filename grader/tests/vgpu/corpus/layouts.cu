// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Which bytes belong to whom: unions, parts of one array, bit fields, constants, parameters,
// padding, the sizes and places of copies. Faulty and right side by side.
#include "corpus.cuh"

union Stages {
  int first[kCount];
  float second[kCount];
};
template <bool wait>
__device__ void two_lives(int* out) {
  __shared__ Stages tile;
  const int t = threadIdx.x;
  tile.first[t] = t;
  __syncthreads();
  const int other = tile.first[kCount - 1 - t];  // union_used_again_too_early
  if (wait) __syncthreads();
  tile.second[t] = static_cast<float>(other);  // union_used_again_too_early
  out[t] = static_cast<int>(tile.second[t]);
}
__global__ void union_used_again_too_early(int* out) { two_lives<false>(out); }
__global__ void union_used_again(int* out) { two_lives<true>(out); }

__global__ void parts_overlap(int* out, int first) {
  extern __shared__ int both[];
  int* const second = both + first;
  const int t = threadIdx.x;
  both[t] = t;        // parts_overlap
  second[t] = 2 * t;  // parts_overlap
  out[t] = both[t] + second[t];
}

struct Halves {
  unsigned int low : 12, high : 20;
};
__global__ void bits_of_one_word(int* out) {
  __shared__ Halves words[32];
  const int t = threadIdx.x;
  if (t < 32) words[t] = {0, 0};
  __syncthreads();
  if (t < 32)
    words[t].low = t;  // bits_of_one_word
  else
    words[t - 32].high = t;  // bits_of_one_word
  __syncthreads();
  out[t] = words[t % 32].low + words[t % 32].high;
}

__global__ void bits_by_atomics(int* out) {
  __shared__ unsigned int words[32];
  const int t = threadIdx.x;
  if (t < 32) words[t] = 0;
  __syncthreads();
  atomicOr(&words[t % 32], t < 32 ? t : t << 16);
  __syncthreads();
  out[t] = words[t % 32];
}

__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int counts[16];
__device__ int behind_counts[64];
__global__ void past_the_constants(int* out) {
  out[threadIdx.x] = table[threadIdx.x];  // past_the_constants
}
__global__ void past_a_device_array(int* out) {
  counts[threadIdx.x] = 1;  // past_a_device_array
  behind_counts[threadIdx.x] = 2;
  out[threadIdx.x] = counts[threadIdx.x % 16];
}
struct Weights {
  int of[4];
};
__global__ void past_the_parameters(int* out, Weights weights) {
  out[threadIdx.x] = weights.of[threadIdx.x];  // past_the_parameters
}
__global__ void within_constants_and_parameters(int* out, Weights weights) {
  out[threadIdx.x] = table[threadIdx.x % 8] + weights.of[threadIdx.x % 4];
}

__global__ void copies_too_few_zeros(int* out, const int* in, int n) {
  __shared__ alignas(16) int tile[4 * 65];
  const int t = threadIdx.x, left = n - 4 * t;
  const int zeros = left >= 4 ? 0 : 4;
  __pipeline_memcpy_async(tile + 4 * t, in + 4 * t, 16, zeros);  // copies_too_few_zeros
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = tile[4 * t];
}

__device__ void copy_of_four(unsigned int to, const int* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));  // odd_copy
}
__global__ void odd_copy(int* out, const int* in) {
  __shared__ alignas(16) int tile[4 * 32 + 4];
  const int t = threadIdx.x;
  const auto to = static_cast<unsigned int>(__cvta_generic_to_shared(tile + 4 * t + 1));
  copy_of_four(to, in + 4 * t);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[t] = tile[4 * t + 1];
}

struct Tagged {
  char tag;
  int value;
};
__global__ void writes_tagged(Tagged* to) {
  to[threadIdx.x].tag = 'x';
  to[threadIdx.x].value = 1;
}
__global__ void padding_decides(int* out, const Tagged* from) {
  const int whole = reinterpret_cast<const int*>(from)[2 * threadIdx.x];  // padding_decides
  out[threadIdx.x] = whole == 'x' ? 1 : 2;
}
__global__ void tags_decide(int* out, const Tagged* from) {
  out[threadIdx.x] = from[threadIdx.x].tag == 'x' ? from[threadIdx.x].value : 2;
}

__global__ void rounds_without_the_second_barrier(int* out) {
  __shared__ int buffer[2][64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    buffer[0][t] = i;  // rounds_without_the_second_barrier
    __syncthreads();
    sum += buffer[0][63 - t];  // rounds_without_the_second_barrier
  }
  out[t] = sum;
}

// A local variable has the same address in every thread: each finds its own there.
template <typename Other>
__device__ int at_the_place_of(Other other) {
  __shared__ int* places[64];
  volatile int mine = threadIdx.x;
  places[threadIdx.x] = const_cast<int*>(&mine);
  __syncthreads();
  const int got = *places[other(threadIdx.x)];  // local_read_by_another
  __syncthreads();
  return got + mine;
}
__global__ void local_read_by_another(int* out) {
  out[threadIdx.x] = at_the_place_of([](int t) { return 63 - t; });
}
__global__ void local_by_way_of_shared_memory(int* out) {
  out[threadIdx.x] = at_the_place_of([](int t) { return t; });
}
__global__ void local_written_by_another(int* out) {
  volatile int mine = 0;
  auto* const first =
      reinterpret_cast<int*>(__shfl_sync(kAll, reinterpret_cast<unsigned long long>(&mine), 0));
  if (threadIdx.x == 5) *first = 7;  // local_written_by_another
  __syncwarp();
  out[threadIdx.x] = mine;
}
__global__ void leaves_the_address_of_a_local(int* out, int** place) {
  volatile int mine = threadIdx.x;
  if (threadIdx.x == 40) *place = const_cast<int*>(&mine);
  out[threadIdx.x] = mine;
}
__global__ void local_of_an_earlier_kernel(int* out, int** place) {
  out[threadIdx.x] = **place;  // local_of_an_earlier_kernel
}

void run_case(const char* wanted, Arrays d) {
  const auto tagged = reinterpret_cast<Tagged*>(d.raw);
  const auto places = reinterpret_cast<int**>(d.in);
  CASE(union_used_again_too_early, "data race", union_used_again_too_early<<<1, kCount>>>(d.out));
  CASE(parts_overlap, "data race", parts_overlap<<<1, 64, 512>>>(d.out, 60));
  CASE(bits_of_one_word, "data race", bits_of_one_word<<<1, 64>>>(d.out));
  CASE(rounds_without_the_second_barrier, "data race",
       rounds_without_the_second_barrier<<<1, 64>>>(d.out));
  CASE(past_the_constants, "out of bounds read", past_the_constants<<<1, 64>>>(d.out));
  CASE(past_a_device_array, "out of bounds write", past_a_device_array<<<1, 17>>>(d.out));
  CASE(past_the_parameters, "out of bounds read",
       past_the_parameters<<<1, 64>>>(d.out, {{1, 2, 3, 4}}));
  CASE(copies_too_few_zeros, "out of bounds read",
       copies_too_few_zeros<<<1, 65>>>(d.out, d.in + kCount, kCount));
  CASE(odd_copy, "misaligned access", odd_copy<<<1, 32>>>(d.out, d.in));
  CASE(padding_decides, "uninitialised read", {
    writes_tagged<<<1, 64>>>(tagged);
    padding_decides<<<1, 64>>>(d.out, tagged);
  });
  CASE(local_read_by_another, "local memory of another thread",
       local_read_by_another<<<1, 64>>>(d.out));
  CASE(local_written_by_another, "local memory of another thread",
       local_written_by_another<<<1, 32>>>(d.out));
  CASE(local_of_an_earlier_kernel, "local memory of another thread", {
    leaves_the_address_of_a_local<<<1, 64>>>(d.out, places);
    local_of_an_earlier_kernel<<<1, 32>>>(d.out, places);
  });
  RIGHT(local_by_way_of_shared_memory, local_by_way_of_shared_memory<<<1, 64>>>(d.out));
  RIGHT(union_used_again, union_used_again<<<1, kCount>>>(d.out));
  RIGHT(bits_by_atomics, bits_by_atomics<<<1, 64>>>(d.out));
  RIGHT(within_constants_and_parameters,
        within_constants_and_parameters<<<1, 64>>>(d.out, {{1, 2, 3, 4}}));
  RIGHT(tags_decide, {
    writes_tagged<<<1, 64>>>(tagged);
    tags_decide<<<1, 64>>>(d.out, tagged);
  });
}
