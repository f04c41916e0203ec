// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: what belongs to the machine: clocks, identities, grid-wide barriers, output,
/// sleeping. What differs from run to run is turned into a truth.
#include "grader/gpu_truth/conformance/conformance.cuh"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

CASE(clock_goes_forward, 3) {
  const long long before = clock64();
  std::uint32_t sum = 0;
  for (int i = 0; i < 1000; ++i) sum = sum * 1664525u + 1013904223u;
  if (lane == 0) out[2] = sum;
  const long long after = clock64();
  if (lane == 0) out[0] = after > before, out[1] = after - before < 100000000;
}
CASE(clock_32_bit_and_high_part, 1) {
  std::uint32_t low, high;
  asm volatile("mov.u32 %0, %%clock; mov.u32 %1, %%clock_hi;" : "=r"(low), "=r"(high));
  if (lane == 0) out[0] = (low | high) != 0;
}
CASE(globaltimer_counts_nanoseconds, 1) {
  unsigned long long before, after;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
  __nanosleep(100000);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
  if (lane == 0) out[0] = after >= before;
}
CASE_GRID(smid_and_warpid_are_in_range, 64, dim3(1), dim3(64)) {
  std::uint32_t sm, sms, warp, warps;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(sms));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(warps));
  out[lane] = (sm < sms) | (warp < warps) << 1;
}
CASE_FULL(shared_memory_sizes, 2, dim3(1), dim3(32), 512, "") {
  extern __shared__ char dynamic[];
  std::uint32_t bytes, total;
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(total));
  dynamic[lane] = 0;
  if (lane == 0) out[0] = bytes, out[1] = total >= 512;
}
CASE(nanosleep_returns, 32) {
  __nanosleep(lane * 10);
  out[lane] = lane;
}
CASE(fences_of_each_scope, 32) {
  out[lane] = lane + 1;
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  asm volatile("fence.acq_rel.gpu; fence.sc.cta; membar.gl;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  out[lane] += 1;
}
CASE(printf_returns_the_number_of_arguments, 32) {
  out[lane] =
      lane == 0 ? printf("# printf: %d %s %.2f %c %llx\n", 42, "text", 2.5, 'x', 1ull << 40) : 99;
}
CASE(assert_that_holds, 32) {
  out[lane] = lane;
  if (out[lane] != static_cast<std::uint32_t>(lane)) __trap();
}
CASE(block_and_grid_of_one, 4) {
  if (lane == 0) {
    const auto grid = cg::this_grid();
    out[0] = grid.size(), out[1] = grid.num_blocks(), out[2] = grid.thread_rank();
    out[3] = cg::this_thread_block().size();
  }
}

/// Rounds in which every block reads what all the others wrote before a grid-wide barrier.
__device__ int parts[4];

CASE_COOPERATIVE(grid_wide_barrier, 128, dim3(4), dim3(32)) {
  const auto grid = cg::this_grid();
  const int rank = static_cast<int>(grid.thread_rank());
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x == 0) parts[blockIdx.x] = blockIdx.x * 10 + round;
    grid.sync();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += *const_cast<volatile int*>(&parts[i]);
    out[rank] = out[rank] * 3 + sum;
    grid.sync();
  }
}

CONFORMANCE_MAIN()
