// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The other kernels of blind.cu: shared and local memory, atomics, barriers.
#include "grader/gpu_truth/advice/fresh.cuh"

/// Walks through the entries of a table in shared memory. Fault: entries are 16 words apart;
/// mended, 17.
template <u32 kPitch>
__global__ void table_walk(u32* out) {
  __shared__ u32 table[64 * kPitch];
  for (u32 i = threadIdx.x; i < 64 * kPitch; i += blockDim.x) table[i] = i * 40503u;
  __syncthreads();
  u32 sum = 0;
#pragma unroll 4
  for (u32 k = 0; k < 64; ++k) sum += table[(threadIdx.x + k) % 64 * kPitch];
  out[thread_of_grid()] = sum;
}

/// Sorts 16 words a thread in shared memory, by neighbours that change places. Fault: a thread's
/// words stand side by side; mended, the first words of all threads do.
template <bool kSideBySide>
__global__ void small_sorts(u32* out) {
  __shared__ u32 words[16 * 128];
  const u32 first = kSideBySide ? threadIdx.x * 16 : threadIdx.x;
  const u32 step = kSideBySide ? 1 : 128;
  for (u32 k = 0; k < 16; ++k) words[first + k * step] = (thread_of_grid() + k) * 2654435761u;
#pragma unroll 1
  for (u32 pass = 0; pass < 16; ++pass)
    for (u32 k = pass % 2; k + 1 < 16; k += 2) {
      const u32 a = words[first + k * step], b = words[first + (k + 1) * step];
      words[first + k * step] = min(a, b);
      words[first + (k + 1) * step] = max(a, b);
    }
  out[thread_of_grid()] = words[first] + words[first + 15 * step];
}

/// The best that fits into knapsacks of up to 31, a set of values a thread. Fault: the table of
/// sizes is an array of the thread; mended, it is in shared memory, a bank a lane.
template <bool kLocal>
__global__ void knapsack(const u32* weights, u32* out, u32 items) {
  __shared__ u32 shared_best[kLocal ? 1 : 32 * 128];
  u32 local_best[32];
  const auto best = [&](u32 w) -> u32& {
    return kLocal ? local_best[w] : shared_best[w * 128 + threadIdx.x];
  };
#pragma unroll 1
  for (u32 w = 0; w < 32; ++w) best(w) = 0;
#pragma unroll 1
  for (u32 k = 0; k < items; ++k) {
    const u32 weight = weights[k], value = (thread_of_grid() + k) % 97;
#pragma unroll 1
    for (u32 w = 31; w >= weight; --w) best(w) = max(best(w), best(w - weight) + value);
  }
  out[thread_of_grid()] = best(31);
}

/// A stream of pseudo-random words from a shuffled state of 64, a stream a thread. Fault: the
/// state is an array of the thread; mended, it is in shared memory, a bank a lane.
template <bool kLocal>
__global__ void shuffled_state(u32* out, u32 steps) {
  __shared__ u32 shared_state[kLocal ? 1 : 64 * 128];
  u32 local_state[64];
  const auto state = [&](u32 i) -> u32& {
    return kLocal ? local_state[i] : shared_state[i * 128 + threadIdx.x];
  };
#pragma unroll 1
  for (u32 i = 0; i < 64; ++i) state(i) = i;
  u32 j = 0, sum = 0;
#pragma unroll 1
  for (u32 k = 0; k < steps; ++k) {
    const u32 a = state(k % 64);
    j = (j + a + thread_of_grid()) % 64;
    const u32 b = state(j);
    state(k % 64) = b;
    state(j) = a;
    sum += state((a + b) % 64);
  }
  out[thread_of_grid()] = sum;
}

/// Votes for eight candidates, sixteen a thread. Fault: each goes to the count in global memory.
__global__ void votes_one_by_one(const u32* ballots, u32* counts, u32 n) {
  for (u32 k = 0; k < 16; ++k) atomicAdd(&counts[ballots[thread_of_grid() + k * (n / 16)] % 8], 1);
}

/// The same; warps and then blocks count first.
__global__ void votes_of_blocks(const u32* ballots, u32* counts, u32 n) {
  __shared__ u32 of_block[8];
  if (threadIdx.x < 8) of_block[threadIdx.x] = 0;
  __syncthreads();
  u32 mine[8] = {};
  for (u32 k = 0; k < 16; ++k) {
    const u32 vote = ballots[thread_of_grid() + k * (n / 16)] % 8;
#pragma unroll
    for (u32 c = 0; c < 8; ++c) mine[c] += vote == c ? 1 : 0;
  }
#pragma unroll
  for (u32 c = 0; c < 8; ++c) {
    const u32 of_warp = __reduce_add_sync(~0u, mine[c]);
    if (threadIdx.x % 32 == 0) atomicAdd(&of_block[c], of_warp);
  }
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&counts[threadIdx.x], of_block[threadIdx.x]);
}

/// The largest even and the largest odd word of a block, sixteen words a thread. Fault: two words
/// of shared memory for all lanes; mended, two a lane, looked through in the end.
template <u32 kCopies>
__global__ void largest_of_both(const u32* in, u32* out, u32 n) {
  __shared__ u32 most[2 * kCopies];
  for (u32 i = threadIdx.x; i < 2 * kCopies; i += blockDim.x) most[i] = 0;
  __syncthreads();
  for (u32 k = 0; k < 16; ++k) {
    const u32 word = in[thread_of_grid() + k * (n / 16)];
    atomicMax(&most[word % 2 * kCopies + threadIdx.x % kCopies], word);
  }
  __syncthreads();
  if (threadIdx.x < 2) {
    u32 largest = 0;
    for (u32 k = 0; k < kCopies; ++k) largest = max(largest, most[threadIdx.x * kCopies + k]);
    out[blockIdx.x * 2 + threadIdx.x] = largest;
  }
}

/// Hadamard transforms of 32 words, a warp each, through shared memory. Fault: the whole block
/// meets after each step, though no warp reads another's words.
template <bool kBlock>
__global__ void hadamard(float* out, u32 rounds) {
  __shared__ float words[1024];
  const auto meet = [] {
    if (kBlock)
      __syncthreads();
    else
      __syncwarp();
  };
  float x = static_cast<float>(thread_of_grid());
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r)
    for (u32 d = 1; d < 32; d *= 2) {
      words[threadIdx.x] = x;
      meet();
      const float y = words[threadIdx.x ^ d];
      x = (threadIdx.x & d) != 0 ? y - x : y + x;
      meet();
    }
  out[thread_of_grid()] = x;
}

/// Jobs of warps, in rounds; in each round one warp of a block has a long one. Fault: the block
/// meets after each round.
template <bool kMeet>
__global__ void rounds_of_jobs(float* out, u32 lengthy) {
  const u32 warp = threadIdx.x / 32;
  float x = static_cast<float>(threadIdx.x + 1) / 1030.0f;
#pragma unroll 1
  for (u32 round = 0; round < 32; ++round) {
    x = logistic(x, (warp * 7 + round * 13) % 32 == 0 ? lengthy : 2);
    if (kMeet) __syncthreads();
  }
  out[thread_of_grid()] = x;
}

int main(int argc, char** argv) {
  Pairs pair(argc, argv);
  const u32 s = pair.scale();
  float* out = empty<float>((std::size_t{1} << 19) * s);
  u32* words = reinterpret_cast<u32*>(out);
  pair(
      "bank-conflicts", "entries 16 words apart", [=] { table_walk<16><<<528 * s, 256>>>(words); },
      [=] { table_walk<17><<<528 * s, 256>>>(words); });
  pair(
      "bank-conflicts", "sorts of 16 words side by side",
      [=] { small_sorts<true><<<264 * s, 128>>>(words); },
      [=] { small_sorts<false><<<264 * s, 128>>>(words); });
  {
    const u32* weights = uploaded(std::vector<u32>{3, 5, 2, 7, 4, 1, 6, 3});
    pair(
        "local-memory", "knapsacks in a thread's array",
        [=] { knapsack<true><<<264 * s, 128>>>(weights, words, 8); },
        [=] { knapsack<false><<<264 * s, 128>>>(weights, words, 8); });
  }
  pair(
      "local-memory", "a shuffled state in a thread's array",
      [=] { shuffled_state<true><<<264 * s, 128>>>(words, 64); },
      [=] { shuffled_state<false><<<264 * s, 128>>>(words, 64); });
  {
    const u32 n = (2u << 20) * s;
    const u32* ballots = timed::drawn<u32>(n);
    pair(
        "same-address-atomics", "votes one by one",
        [=] { votes_one_by_one<<<n / 16 / 256, 256>>>(ballots, words, n); },
        [=] { votes_of_blocks<<<n / 16 / 256, 256>>>(ballots, words, n); });
    pair(
        "shared-atomics", "largest even and odd word",
        [=] { largest_of_both<1><<<n / 16 / 256, 256>>>(ballots, words, n); },
        [=] { largest_of_both<32><<<n / 16 / 256, 256>>>(ballots, words, n); });
  }
  pair(
      "barriers", "transforms of a warp, the block meets",
      [=] { hadamard<true><<<264 * s, 1024>>>(out, 8); },
      [=] { hadamard<false><<<264 * s, 1024>>>(out, 8); });
  pair(
      "barriers", "one long job a round",
      [=] { rounds_of_jobs<true><<<264 * s, 1024>>>(out, 128); },
      [=] { rounds_of_jobs<false><<<264 * s, 1024>>>(out, 128); });
  return 0;
}
