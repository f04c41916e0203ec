// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Right kernels that look wrong: no checker may say a word. programs/right.cu has 17 more.
#include "corpus.cuh"

__global__ void fetches_ahead(int* out, const int* raw) {
  int next = raw[threadIdx.x], sum = 0;
  for (int i = 0; i < 4; ++i) {
    const int now = next;
    next = raw[64 + threadIdx.x];
    sum += now & 0;
  }
  out[threadIdx.x] = sum;
}

__global__ void looks_behind_the_end_but_chooses(int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  if (t < 32) tile[t] = t;
  __syncthreads();
  out[t] = t < 32 && tile[t] > 4 ? 1 : 0;
}

__global__ void fills_what_it_uses(int* out, int n) {
  volatile int mine[8];
  for (int i = 0; i < n; ++i) mine[i] = i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += mine[i];
  out[threadIdx.x] = sum;
}

struct Padded {
  char tag;
  double value;
};
__global__ void writes_padded(Padded* to) {
  to[threadIdx.x].tag = 'x';
  to[threadIdx.x].value = 1;
}
__global__ void copies_padded(Padded* to, const Padded* from) {
  to[threadIdx.x] = from[threadIdx.x];
}

__global__ void scales_three_of_four(float4* to, const float4* from) {
  float4 point = from[threadIdx.x];
  point.x *= 2;
  point.y *= 2;
  point.z = __shfl_xor_sync(kAll, point.z, 1);
  to[threadIdx.x] = point;
}
__global__ void writes_three_of_four(float4* to) {
  to[threadIdx.x].x = 1;
  to[threadIdx.x].y = 2;
  to[threadIdx.x].z = 3;
}

__global__ void flag_in_a_warp(int* out) {
  __shared__ volatile int flag;
  __shared__ int data;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 42;
    __threadfence_block();
    flag = 1;
  } else {
    while (flag == 0) {
    }
    __threadfence_block();
    out[threadIdx.x] = data;
  }
}

__global__ void volatile_words_with_warp_barriers(int* out) {
  __shared__ volatile int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncwarp();
  for (int by = 16; by > 0; by /= 2) {
    const int other = tile[t ^ by];
    __syncwarp();
    tile[t] = tile[t] + other;
    __syncwarp();
  }
  out[t] = tile[0];
}

__global__ void volatile_words_of_its_own(int* out) {
  __shared__ volatile int tile[64];
  tile[threadIdx.x] = 1;
  for (int i = 0; i < 4; ++i) tile[threadIdx.x] = tile[threadIdx.x] + i;
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void vote_after_some_have_left(int* out, int n) {
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = __any_sync(kAll, threadIdx.x == 3);
  __syncwarp();
  if (threadIdx.x == 0) out[n] = 1;
}

__global__ void sums_a_part_of_a_warp(int* out, int n) {
  const unsigned int members = __ballot_sync(kAll, threadIdx.x < n);
  if (threadIdx.x >= n) return;
  int value = threadIdx.x;
  for (int by = 16; by > 0; by /= 2) {
    const int other = __shfl_down_sync(members, value, by);
    if (threadIdx.x + by < n) value += other;
  }
  if (threadIdx.x == 0) *out = value;
}

__global__ void halves_vote_for_themselves(int* out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __ballot_sync(0xffff, threadIdx.x % 2);
  else
    out[threadIdx.x] = __ballot_sync(0xffff0000, threadIdx.x % 3);
}

__global__ void half_a_warp_is_a_block(int* out) {
  int value = threadIdx.x;
  for (int by = 8; by > 0; by /= 2) value += __shfl_xor_sync(kAll, value, by);
  out[threadIdx.x] = value;
}

__global__ void adds_for_its_group(int* out) {
  const auto group = cg::coalesced_threads();
  int base = 0;
  if (group.thread_rank() == 0) base = atomicAdd(out, static_cast<int>(group.size()));
  base = group.shfl(base, 0);
  out[1 + base + group.thread_rank()] = 1;
}

__global__ void all_set_one_flag(int* out) {
  __shared__ int found;
  found = 0;
  __syncthreads();
  if (threadIdx.x % 3 == 0) found = 1;
  __syncthreads();
  out[threadIdx.x] = found;
}

__global__ void in_place_of_its_own(int* out) { out[threadIdx.x] = out[threadIdx.x] * 2 + 1; }

__global__ void takes_tickets(int* out) {
  for (bool done = false; !done;) {
    if (atomicCAS(out, 0, 1) != 0) continue;
    __threadfence();
    *static_cast<volatile int*>(out + 1) += 1;
    __threadfence();
    atomicExch(out, 0);
    done = true;
  }
}

__global__ void exchanges_into_fresh_memory(int* raw, int* out) {
  atomicExch(&raw[threadIdx.x], 1);
  out[threadIdx.x] = raw[threadIdx.x];
}

__device__ __noinline__ int fills_and_sums(int n) {
  volatile int mine[4] = {n, n, n, n};
  return mine[n & 3] + mine[(n + 1) & 3];
}
__global__ void calls(int* out) { out[threadIdx.x] = fills_and_sums(threadIdx.x); }

__global__ void heap_of_its_own(int* out) {
  int* const mine = static_cast<int*>(malloc(16));
  if (mine == nullptr) return;
  for (int i = 0; i < 4; ++i) mine[i] = i;
  out[threadIdx.x] = mine[threadIdx.x % 4];
  free(mine);
}

__device__ float add_by_swaps(float* to, float value) {
  int* const word = reinterpret_cast<int*>(to);
  int old = *word, expected;
  do {
    expected = old;
    old = atomicCAS(word, expected, __float_as_int(value + __int_as_float(expected)));
  } while (expected != old);
  return __int_as_float(old);
}
__global__ void atomic_of_ones_own(float* out) { add_by_swaps(out, threadIdx.x); }

__global__ void largest_by_swaps(int* out, const int* in) {
  __shared__ unsigned long long most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  const unsigned long long mine = in[threadIdx.x];
  unsigned long long seen = most;
  while (seen < mine) {
    const unsigned long long before = atomicCAS(&most, seen, mine);
    if (before == seen) break;
    seen = before;
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = static_cast<int>(most);
}

void run_case(const char* wanted, Arrays d) {
  RIGHT(fetches_ahead, fetches_ahead<<<1, 64>>>(d.out, d.raw));
  RIGHT(looks_behind_the_end_but_chooses, looks_behind_the_end_but_chooses<<<1, 64>>>(d.out));
  RIGHT(fills_what_it_uses, fills_what_it_uses<<<1, 64>>>(d.out, 5));
  RIGHT(copies_padded, {
    writes_padded<<<1, 16>>>(reinterpret_cast<Padded*>(d.raw));
    copies_padded<<<1, 16>>>(reinterpret_cast<Padded*>(d.out),
                             reinterpret_cast<const Padded*>(d.raw));
  });
  RIGHT(scales_three_of_four, {
    writes_three_of_four<<<1, 32>>>(reinterpret_cast<float4*>(d.raw));
    scales_three_of_four<<<1, 32>>>(reinterpret_cast<float4*>(d.out),
                                    reinterpret_cast<const float4*>(d.raw));
  });
  RIGHT(flag_in_a_warp, flag_in_a_warp<<<1, 32>>>(d.out));
  RIGHT(volatile_words_with_warp_barriers, volatile_words_with_warp_barriers<<<1, 32>>>(d.out));
  RIGHT(volatile_words_of_its_own, volatile_words_of_its_own<<<1, 64>>>(d.out));
  RIGHT(vote_after_some_have_left, vote_after_some_have_left<<<1, 32>>>(d.out, 20));
  RIGHT(sums_a_part_of_a_warp, sums_a_part_of_a_warp<<<1, 32>>>(d.out, 21));
  RIGHT(halves_vote_for_themselves, halves_vote_for_themselves<<<1, 32>>>(d.out));
  RIGHT(half_a_warp_is_a_block, half_a_warp_is_a_block<<<1, 16>>>(d.out));
  RIGHT(adds_for_its_group, adds_for_its_group<<<1, 64>>>(d.out));
  RIGHT(all_set_one_flag, all_set_one_flag<<<1, 64>>>(d.out));
  RIGHT(in_place_of_its_own, in_place_of_its_own<<<1, 64>>>(d.out));
  RIGHT(takes_tickets, takes_tickets<<<2, 32>>>(d.out));
  RIGHT(exchanges_into_fresh_memory, exchanges_into_fresh_memory<<<1, 64>>>(d.raw, d.out));
  RIGHT(calls, calls<<<1, 64>>>(d.out));
  RIGHT(atomic_of_ones_own, atomic_of_ones_own<<<4, 64>>>(reinterpret_cast<float*>(d.out)));
  RIGHT(largest_by_swaps, largest_by_swaps<<<1, 64>>>(d.out, d.in));
  RIGHT(heap_of_its_own, heap_of_its_own<<<1, 32>>>(d.out));
}
