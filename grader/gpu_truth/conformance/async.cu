// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: asynchronous copies and their barriers (PTX ISA 9.0, "cp.async", "mbarrier").
#include "grader/gpu_truth/conformance/conformance.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

// Barriers are initialised by one thread, as the library asks for, not by their constructor.
#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

namespace {

__device__ alignas(16) std::uint32_t source[1024];

__device__ void fill_source(int lane, int step) {
  for (int i = lane; i < 1024; i += step) source[i] = i * 3 + 1;
  __syncthreads();
}

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace

#define COPY(name, text, bytes)                                                            \
  CASE(name, 128) {                                                                        \
    __shared__ alignas(16) std::uint32_t target[128];                                      \
    fill_source(lane, 32);                                                                 \
    for (int i = lane; i < 128; i += 32) target[i] = 0;                                    \
    __syncwarp();                                                                          \
    asm volatile(text ::"r"(shared_address(target) + lane * bytes), "l"(source + lane * 4) \
                 : "memory");                                                              \
    asm volatile("cp.async.wait_all;" ::: "memory");                                       \
    __syncwarp();                                                                          \
    for (int i = lane; i < 128; i += 32) out[i] = target[i];                               \
  }
COPY(cp_async_4, "cp.async.ca.shared.global [%0], [%1], 4;", 4)
COPY(cp_async_8, "cp.async.ca.shared.global [%0], [%1], 8;", 8)
COPY(cp_async_16, "cp.async.ca.shared.global [%0], [%1], 16;", 16)
COPY(cp_async_cg_16, "cp.async.cg.shared.global [%0], [%1], 16;", 16)
COPY(cp_async_zero_fill, "cp.async.cg.shared.global [%0], [%1], 16, 6;", 16)
COPY(cp_async_nothing_but_zeroes, "cp.async.ca.shared.global [%0], [%1], 4, 0;", 4)

CASE(cp_async_groups_in_order, 96) {
  __shared__ std::uint32_t target[96];
  fill_source(lane, 32);
  for (int group = 0; group < 3; ++group) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                     shared_address(target + group * 32 + lane)),
                 "l"(source + group * 100 + lane));
    asm volatile("cp.async.commit_group;");
  }
  asm volatile("cp.async.wait_group 2;" ::: "memory");
  __syncwarp();
  out[lane] = target[lane];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncwarp();
  out[lane + 32] = target[lane + 32], out[lane + 64] = target[lane + 64];
}
CASE_GRID(mbarrier_phases, 128, dim3(1), dim3(64)) {
  __shared__ std::uint64_t barrier;
  const std::uint32_t at = shared_address(&barrier);
  if (lane == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
  __syncthreads();
  __shared__ int values[64];
  for (int phase = 0; phase < 2; ++phase) {
    values[lane] = lane * (phase + 2);
    std::uint64_t state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    std::uint32_t done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(at), "l"(state)
          : "memory");
    }
    out[phase * 64 + lane] = values[63 - lane];
    __syncthreads();
  }
  if (lane == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
}
CASE_GRID(mbarrier_try_wait_by_parity, 64, dim3(1), dim3(64)) {
  __shared__ std::uint64_t barrier;
  __shared__ int value;
  const std::uint32_t at = shared_address(&barrier);
  if (lane == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
  __syncthreads();
  if (lane == 40) {
    value = 4711;
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
  }
  std::uint32_t done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at)
        : "memory");
  }
  out[lane] = value + lane;
}
CASE_GRID(mbarrier_pending_count, 3, dim3(1), dim3(1)) {
  __shared__ std::uint64_t barrier;
  const std::uint32_t at = shared_address(&barrier);
  asm volatile("mbarrier.init.shared.b64 [%0], 5;" ::"r"(at) : "memory");
  for (int i = 0; i < 3; ++i) {
    asm volatile(
        "{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%1];\n"
        "mbarrier.pending_count.b64 %0, s; }"
        : "=r"(out[i])
        : "r"(at)
        : "memory");
  }
}
CASE_GRID(cuda_barrier_with_copies, 128, dim3(1), dim3(128)) {
  __shared__ std::uint32_t target[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  fill_source(lane, 128);
  if (lane == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(target + lane, source + lane * 2, sizeof(std::uint32_t), barrier);
  barrier.arrive_and_wait();
  out[lane] = target[127 - lane];
}
CASE_GRID(cooperative_group_copy, 256, dim3(1), dim3(64)) {
  __shared__ alignas(16) std::uint32_t target[256];
  fill_source(lane, 64);
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, target, source + 64, sizeof target);
  cg::wait(block);
  for (int i = lane; i < 256; i += 64) out[i] = target[(i * 5) % 256];
}
CASE_GRID(pipeline_of_two_stages, 64, dim3(1), dim3(64)) {
  __shared__ alignas(16) std::uint32_t stages[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  fill_source(lane, 64);
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const auto bytes = cuda::aligned_size_t<16>(sizeof stages[0]);
  std::uint32_t sum = 0;
  for (int batch = 0; batch < 9; ++batch) {
    if (batch < 8) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stages[batch % 2], source + batch * 64, bytes, pipeline);
      pipeline.producer_commit();
    }
    if (batch == 0) continue;
    pipeline.consumer_wait();
    sum = sum * 3 + stages[(batch - 1) % 2][63 - lane];
    pipeline.consumer_release();
  }
  out[lane] = sum;
}
CASE_GRID(thread_pipeline, 64, dim3(1), dim3(32)) {
  __shared__ std::uint32_t target[64];
  fill_source(lane, 32);
  auto pipeline = cuda::make_pipeline();
  for (int i = 0; i < 2; ++i) {
    pipeline.producer_acquire();
    cuda::memcpy_async(&target[i * 32 + lane], &source[lane * 4 + i], sizeof(std::uint32_t),
                       pipeline);
    pipeline.producer_commit();
  }
  cuda::pipeline_consumer_wait_prior<0>(pipeline);
  pipeline.consumer_release();
  out[lane] = target[lane], out[lane + 32] = target[lane + 32];
}

// One thread asks for a bulk copy; the mbarrier's phase ends when as many bytes have come as it
// expects. Two copies a phase, two phases.
CASE_GRID(bulk_copies_of_two_phases, 256, dim3(1), dim3(64)) {
  __shared__ alignas(16) std::uint32_t target[128];
  __shared__ std::uint64_t barrier;
  const std::uint32_t at = shared_address(&barrier), to = shared_address(target);
  fill_source(lane, 64);
  if (lane == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int phase = 0; phase < 2; ++phase) {
    if (lane == 0) {
      // What was written by ordinary stores is to be read by copies.
      asm volatile("fence.proxy.async;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at),
                   "r"(static_cast<std::uint32_t>(sizeof target))
                   : "memory");
      for (int half = 0; half < 2; ++half)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(to + half * 256),
            "l"(source + phase * 400 + half * 100), "r"(256), "r"(at)
            : "memory");
    }
    std::uint32_t done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
          "selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(at), "r"(phase)
          : "memory");
    }
    for (int i = lane; i < 128; i += 64) out[phase * 128 + i] = target[127 - i];
    __syncthreads();
  }
}
CASE_GRID(bulk_copy_back, 96, dim3(1), dim3(32)) {
  __shared__ alignas(16) std::uint32_t piece[64];
  for (int i = lane; i < 64; i += 32) piece[i] = i * 7 + 5;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncwarp();
  if (lane == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 8),
                 "r"(shared_address(piece)), "r"(192)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

CONFORMANCE_MAIN()
