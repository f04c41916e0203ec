// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 11, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     What `in`, `out` and k are differs from stage to stage.
///
///          1  n numbers in runs of 32. out[i] is the sum of elements of the same run: of all
///             before element i (k = 0, an exclusive scan), or of these and itself (k = 1, an
///             inclusive scan).
///          2  The same in runs of kRun.
///          3  The same, all n numbers in one run.
///          4  n keys. The digit of a key is its 8 bits from bit k on. out[d] is the number of
///             keys with digit d; `out` has kBins numbers and holds zeros before the launch.
///          5  n keys. `out` has the same keys ordered by this digit; keys with equal digits stay
///             in the order in which they stand in `in` (a stable sort).
///
///          Numbers are ints of any size and sums have 64 bits: two ints can add up to more than
///          an int holds. `out` is uninitialised but for stage 4. `in` and `out` never overlap;
///          both start at a multiple of 256 bytes.
/// Sizes    0 <= n < 2^30, any value: 0, 1, primes. Stages 1 to 3: k is 0 or 1. Stages 4 and 5:
///          0 <= k <= 24.
/// Kernels  Stages 1 to 3: `__global__ void <stage>(long long* out, const int* in, int n, int k)`
///          Stages 4 and 5: `__global__ void <stage>(unsigned* out, const unsigned* in, int n,
///          int k)`
///          A kernel of a LAUNCH_PLAN has one more parameter at the end: void* scratch.
/// Launch   Stages 1, 2 and 4: `LAUNCH_SHAPE(<stage>, int n, int k)`;
///          stages 3 and 5: `LAUNCH_PLAN(<stage>, int n, int k)`. In stages 4 and 5 a `Gpu gpu`
///          stands before n: `gpu.sm_count` is the number of multiprocessors.
#pragma once

#include "membound.cuh"

using membound::LaunchPlan;
using membound::LaunchShape;

inline constexpr int kLanes = 32;                   ///< of a warp
inline constexpr unsigned kAllLanes = 0xffffffffu;  ///< the mask of all 32 lanes

inline constexpr int kThreads = 256;              ///< of a block, stages 1 to 3
inline constexpr int kWarps = kThreads / kLanes;  ///< of such a block
inline constexpr int kItems = 16;                 ///< of a thread, stage 2
inline constexpr int kRun = kThreads * kItems;    ///< 4,096: a run of stage 2

inline constexpr int kScanItems = 32;                    ///< of a thread, stage 3
inline constexpr int kScanTile = kThreads * kScanItems;  ///< 8,192: a tile of stage 3

inline constexpr int kBins = 256;                           ///< values of a digit
inline constexpr int kCountThreads = 1024;                  ///< of a block that counts
inline constexpr int kCountWarps = kCountThreads / kLanes;  ///< of such a block

inline constexpr int kSortThreads = 384;                     ///< stage 5: of a block that sorts
inline constexpr int kSortWarps = kSortThreads / kLanes;     ///< of such a block
inline constexpr int kSortItems = 18;                        ///< stage 5: keys of a thread
inline constexpr int kSortTile = kSortThreads * kSortItems;  ///< 6,912 keys of a block

/// The digit that starts at bit k.
__device__ inline unsigned digit_of(unsigned key, int k) { return key >> k & (kBins - 1); }

/// A vote of all 32 lanes about one bit of `word`: the lanes whose bit is this lane's. `mask` has
/// that bit alone. In C++ it is `ones = __ballot_sync(kAllLanes, word & mask)`, and then `ones` or
/// `~ones`; but of these eight votes for a digit the compiler makes 55 instructions, of this 26.
__device__ inline unsigned lanes_that_agree(unsigned word, unsigned mask) {
  unsigned lanes;
  asm volatile(
      "{\n\t"
      ".reg .pred one;\n\t"
      "and.b32 %0, %1, %2;\n\t"
      "setp.ne.u32 one, %0, 0;\n\t"
      "vote.sync.ballot.b32 %0, one, 0xffffffff;\n\t"
      "@!one not.b32 %0, %0;\n\t"
      "}"
      : "=r"(lanes)
      : "r"(word), "r"(mask));
  return lanes;
}

// What a block tells the others about its tile, in one word: two bits of status and the rest a sum.
// One word is read and written at once, so nobody can see a new status beside an old sum.
//
//     bit 63 62 | 61 ... 0            bit 31 30 | 29 ... 0
//         status| sum of a scan           status| count of a digit

/// X: nothing is known yet. A: the sum of the tile (aggregate). P: the sum of the tile and of all
/// tiles before it (prefix).
enum Status : unsigned { kNothing = 0, kAggregate = 1, kPrefix = 2 };

__device__ inline unsigned long long state_of(Status status, long long sum) {
  return static_cast<unsigned long long>(status) << 62 |
         (static_cast<unsigned long long>(sum) & ~0ull >> 2);
}
__device__ inline Status status_of(unsigned long long state) {
  return static_cast<Status>(state >> 62);
}
/// Its 62 bits with their sign.
__device__ inline long long sum_of(unsigned long long state) {
  return static_cast<long long>(state << 2) >> 2;
}

__device__ inline unsigned digit_state_of(Status status, unsigned count) {
  return status << 30 | count;
}
__device__ inline Status digit_status_of(unsigned state) {
  return static_cast<Status>(state >> 30);
}
__device__ inline unsigned count_of(unsigned state) { return state & ~0u >> 2; }

// Words that blocks read while others write them. These are cuda::atomic_ref's load() and store()
// with cuda::thread_scope_device, in the PTX that it becomes, because one of our two compilers has
// no libcu++. `relaxed`: this word arrives whole, sooner or later; it says nothing of other words.
// `release`: who reads it with `acquire` also sees everything that this thread wrote before.

__device__ inline unsigned long long load_relaxed(const unsigned long long* word) {
  unsigned long long value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
__device__ inline unsigned load_relaxed(const unsigned* word) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ inline unsigned long long load_acquire(const unsigned long long* word) {
  unsigned long long value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
__device__ inline unsigned load_acquire(const unsigned* word) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}
__device__ inline void store_relaxed(unsigned long long* word, unsigned long long value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}
__device__ inline void store_relaxed(unsigned* word, unsigned value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}
__device__ inline void store_release(unsigned long long* word, unsigned long long value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}
__device__ inline void store_release(unsigned* word, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}
