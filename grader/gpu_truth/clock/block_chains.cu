// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Blocks that hand something over to other blocks: in a row, each to the next one; over a lock or
/// a token that all of them poll; to and fro between two; and as a decoupled look-back does, where
/// they need not wait in a row.
///
/// Words that blocks poll are not cleared between launches: each launch has an epoch of its own,
/// and a word of an earlier epoch says nothing.
#include "grader/vgpu/calibration/timed.cuh"

namespace {

using u32 = unsigned;
using u64 = unsigned long long;

constexpr u32 kThreads = 128;
constexpr u32 kMostBlocks = 8192;

__device__ u32 load(const u32* word) { return *static_cast<const volatile u32*>(word); }
__device__ void store(u32* word, u32 value) { *static_cast<volatile u32*>(word) = value; }
__device__ u64 load(const u64* word) { return *static_cast<const volatile u64*>(word); }
__device__ void store(u64* word, u64 value) { *static_cast<volatile u64*>(word) = value; }

/// The sum of a tile of four words a thread, in thread 0.
__device__ u32 tile_sum(const u32* in, u32 tile) {
  __shared__ u32 of_warp[kThreads / 32];
  const uint4 item = reinterpret_cast<const uint4*>(in)[tile * kThreads + threadIdx.x];
  const u32 sum = __reduce_add_sync(~0u, item.x + item.y + item.z + item.w);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  return of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
}

/// Waits until the tile before it has handed on its sum, before it reads anything itself.
__global__ void wait_first(const u32* in, u64* states, u32* out, u32 epoch) {
  __shared__ u32 before;
  const u32 tile = blockIdx.x;
  if (threadIdx.x == 0) {
    u64 state = u64{epoch} << 32;
    while (tile != 0 && (state = load(states + tile - 1)) >> 32 != epoch) {
    }
    before = static_cast<u32>(state);
  }
  __syncthreads();
  const u32 sum = before + tile_sum(in, tile);
  if (threadIdx.x == 0) store(states + tile, u64{epoch} << 32 | sum);
  out[tile * kThreads + threadIdx.x] = sum;
}

/// Has a ticket, and waits once it has its own sum.
__global__ void wait_last(const u32* in, u64* states, u32* out, u32* ticket, u32 first, u32 epoch) {
  __shared__ u32 taken, before;
  if (threadIdx.x == 0) taken = atomicAdd(ticket, 1) - first;
  __syncthreads();
  const u32 tile = taken;
  const u32 sum = tile_sum(in, tile);
  if (threadIdx.x == 0) {
    u64 state = u64{epoch} << 32;
    while (tile != 0 && (state = load(states + tile - 1)) >> 32 != epoch) {
    }
    before = static_cast<u32>(state);
    store(states + tile, u64{epoch} << 32 | (before + sum));
  }
  __syncthreads();
  out[tile * kThreads + threadIdx.x] = before + sum;
}

/// Tells its own sum at once, and adds those of 32 tiles before it at a time: twice the epoch says
/// a tile's own sum, one more the sum up to its end.
__global__ void look_back(const u32* in, u64* states, u32* out, u32* ticket, u32 first, u32 epoch) {
  __shared__ u32 taken, before;
  if (threadIdx.x == 0) taken = atomicAdd(ticket, 1) - first;
  __syncthreads();
  const u32 tile = taken;
  const u32 sum = tile_sum(in, tile);
  const u32 aggregate = 2 * epoch, prefix = 2 * epoch + 1;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) store(states + tile, u64{tile == 0 ? prefix : aggregate} << 32 | sum);
    u32 all = 0;
    for (int nearest = static_cast<int>(tile) - 1; nearest >= 0; nearest -= 32) {
      const int other = nearest - static_cast<int>(threadIdx.x);
      u64 state;
      u32 prefixes, wanted;
      do {
        state = other >= 0 ? load(states + other) : u64{prefix} << 32;
        prefixes = __ballot_sync(~0u, state >> 32 == prefix);
        wanted = prefixes ^ (prefixes - 1);
      } while ((__ballot_sync(~0u, state >> 32 < aggregate) & wanted) != 0);
      const u32 mine = (wanted >> threadIdx.x & 1) != 0 ? static_cast<u32>(state) : 0;
      all += __reduce_add_sync(~0u, mine);
      if (prefixes != 0) break;
    }
    if (threadIdx.x == 0) {
      before = all;
      if (tile != 0) store(states + tile, u64{prefix} << 32 | (all + sum));
    }
  }
  __syncthreads();
  out[tile * kThreads + threadIdx.x] = before + sum;
}

/// One word goes round: each block adds to it in its turn, and all others poll it.
__global__ void token(u32* word, u32 first, u32 blocks) {
  if (threadIdx.x != 0) return;
  while (load(word) != first + blockIdx.x) {
  }
  store(word, first + blockIdx.x + 1);
}

/// A lock that each block takes once.
__global__ void lock(u32* word, u32* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(word, 0, 1) != 0) {
  }
  __threadfence();
  store(sum, load(sum) + 1);
  __threadfence();
  atomicExch(word, 0);
}

/// Two blocks, one after the other, `rounds` times.
__global__ void to_and_fro(u32* word, u32 first, u32 rounds) {
  if (threadIdx.x != 0) return;
  for (u32 round = 0; round < rounds; ++round) {
    const u32 mine = first + 2 * round + blockIdx.x;
    while (load(word) != mine) {
    }
    store(word, mine + 1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  u32* in = timed::drawn<u32>(std::size_t{kMostBlocks} * kThreads * 4);
  u32* out = timed::drawn<u32>(std::size_t{kMostBlocks} * kThreads);
  u64* states = nullptr;
  u32* words = nullptr;  // ticket, token, lock, sum, to and fro; a line apart
  timed::check(cudaMalloc(&states, kMostBlocks * sizeof(u64)), "cudaMalloc");
  timed::check(cudaMemset(states, 0, kMostBlocks * sizeof(u64)), "cudaMemset");
  timed::check(cudaMalloc(&words, 5 * 128), "cudaMalloc");
  timed::check(cudaMemset(words, 0, 5 * 128), "cudaMemset");
  u32 epoch = 0, tickets = 0, token_at = 0, fro_at = 0;
  for (const u32 blocks : {256u, 1024u, 4096u, 8192u}) {
    const std::string size = std::to_string(blocks) + " blocks";
    bench("wait first", size, [&] { wait_first<<<blocks, kThreads>>>(in, states, out, ++epoch); });
    bench("wait last", size, [&] {
      wait_last<<<blocks, kThreads>>>(in, states, out, words, tickets, ++epoch);
      tickets += blocks;
    });
    bench("look back", size, [&] {
      look_back<<<blocks, kThreads>>>(in, states, out, words, tickets, ++epoch);
      tickets += blocks;
    });
    epoch = 2 * epoch + 1;  // it has two values an epoch
  }
  for (const u32 blocks : {64u, 256u, 1024u}) {
    const std::string size = std::to_string(blocks) + " blocks";
    bench("token", size, [&] {
      token<<<blocks, 32>>>(words + 32, token_at, blocks);
      token_at += blocks;
    });
    bench("lock", size, [&] { lock<<<blocks, 32>>>(words + 64, words + 96); });
  }
  for (const u32 rounds : {100u, 1000u}) {
    bench("to and fro", std::to_string(rounds) + " rounds", [&] {
      to_and_fro<<<2, 32>>>(words + 128, fro_at, rounds);
      fro_at += 2 * rounds;
    });
  }
  return 0;
}
