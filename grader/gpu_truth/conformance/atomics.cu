// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: atomic operations on global and shared memory (PTX ISA 9.0, "atom" and "red").
/// Every case is arranged so that the order of the lanes does not show.
#include "grader/gpu_truth/conformance/conformance.cuh"

#include <cuda/atomic>

/// 64 threads change one word of global and one of shared memory; the last value is the result.
#define ATOMIC(name, type, start, ...)                             \
  CASE_GRID(name, 4, dim3(1), dim3(64)) {                          \
    __shared__ type in_shared;                                     \
    __device__ static type in_global;                              \
    if (lane == 0) in_shared = start, in_global = start;           \
    __syncthreads();                                               \
    {                                                              \
      type* const word = &in_shared;                               \
      __VA_ARGS__;                                                 \
    }                                                              \
    {                                                              \
      type* const word = &in_global;                               \
      __VA_ARGS__;                                                 \
    }                                                              \
    __syncthreads();                                               \
    if (lane == 0) {                                               \
      conformance::put(out, 0, in_shared);                         \
      const type result = *const_cast<volatile type*>(&in_global); \
      conformance::put(out + 2, 0, result);                        \
    }                                                              \
  }
ATOMIC(atom_add_s32, int, 5, atomicAdd(word, lane - 20))
ATOMIC(atom_add_u32, unsigned, 0xfffffff0, atomicAdd(word, lane))
ATOMIC(atom_add_u64, unsigned long long, 1ull << 40, atomicAdd(word, lane * 0x100000001ull))
ATOMIC(atom_add_f32, float, 0.5f, atomicAdd(word, static_cast<float>(lane)))
ATOMIC(atom_add_f64, double, 0.25, atomicAdd(word, lane * 0.5))
ATOMIC(atom_sub_s32, int, 1000, atomicSub(word, lane))
ATOMIC(atom_min_s32, int, 17, atomicMin(word, 40 - lane))
ATOMIC(atom_max_s32, int, -100, atomicMax(word, lane - 90))
ATOMIC(atom_min_u32, unsigned, 4000000000u, atomicMin(word, 3000000000u + lane))
ATOMIC(atom_max_u32, unsigned, 1, atomicMax(word, 3000000000u + lane))
ATOMIC(atom_min_u64, unsigned long long, ~0ull, atomicMin(word, (1ull << 63) + lane))
ATOMIC(atom_max_s64, long long, -5000, atomicMax(word, static_cast<long long>(lane) - 4000))
ATOMIC(atom_and_b32, unsigned, 0xffffffff, atomicAnd(word, ~(1u << lane % 32)))
ATOMIC(atom_or_b64, unsigned long long, 0, atomicOr(word, 1ull << lane))
ATOMIC(atom_xor_b32, unsigned, 0xf0f0f0f0, atomicXor(word, lane * 0x01010101u))
ATOMIC(atom_inc_u32, unsigned, 3, atomicInc(word, 10))
ATOMIC(atom_dec_u32, unsigned, 3, atomicDec(word, 10))
ATOMIC(atom_exch_equal_values, unsigned, 1, atomicExch(word, 77))
ATOMIC(atom_add_block_scope, int, 0, atomicAdd_block(word, lane))
ATOMIC(atom_add_system_scope, int, 0, atomicAdd_system(word, lane))
ATOMIC(atom_cas_loop_product, unsigned, 1, {
  unsigned seen = *const_cast<volatile unsigned*>(word), before;
  do {
    before = seen;
    seen = atomicCAS(word, before, before * 3);
  } while (seen != before);
})
ATOMIC(atom_cas_u64, unsigned long long, 9, atomicCAS(word, 9ull, 1ull << 50))

/// Results of atomics are distinct tickets: their sum does not depend on the order.
CASE_GRID(atom_add_returns_tickets, 1, dim3(1), dim3(256)) {
  __shared__ unsigned tickets, sum;
  if (lane == 0) tickets = 0, sum = 0;
  __syncthreads();
  const unsigned ticket = atomicAdd(&tickets, 1);
  atomicAdd(&sum, ticket * ticket);
  __syncthreads();
  out[0] = sum;
}
CASE_GRID(atom_inc_dec_return_values_of_one_lane, 8, dim3(1), dim3(1)) {
  __shared__ unsigned word;
  word = 9;
  out[0] = atomicInc(&word, 9), out[1] = word;
  out[2] = atomicDec(&word, 20), out[3] = word;
  out[4] = atomicDec(&word, 20), out[5] = word;
  out[6] = atomicExch(&word, 1234), out[7] = atomicCAS(&word, 5, 6);
}
CASE_GRID(atom_cas_b16, 4, dim3(1), dim3(1)) {
  __shared__ std::uint32_t words[1];
  words[0] = 0xaaaa5555;
  auto* const halves = reinterpret_cast<unsigned short*>(words);
  out[0] = atomicCAS(&halves[0], 0x5555, 0x1111), out[1] = words[0];
  out[2] = atomicCAS(&halves[1], 0x5555, 0x2222), out[3] = words[0];
}
CASE_GRID(atom_add_noftz_f16x2, 2, dim3(1), dim3(8)) {
  __shared__ std::uint32_t sum;
  if (lane == 0) sum = 0;
  __syncwarp(0xff);
  std::uint32_t before;
  const std::uint32_t address = static_cast<std::uint32_t>(__cvta_generic_to_shared(&sum));
  asm volatile("atom.shared.add.noftz.f16x2 %0, [%1], %2;"
               : "=r"(before)
               : "r"(address), "r"(0x3c004000u)
               : "memory");
  __syncwarp(0xff);
  if (lane == 0) out[0] = sum;
  if (before == 0) out[1] = 1;
}
CASE_GRID(red_ptx_of_each_operation, 8, dim3(1), dim3(32)) {
  __device__ static std::uint32_t words[8] = {0, 0, 0xffffffff, 0, 0xffffffff, 0, 0, 0};
  std::uint32_t* const at = words;
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(lane) : "memory");
  asm volatile("red.global.max.u32 [%0+4], %1;" ::"l"(at), "r"(lane) : "memory");
  asm volatile("red.global.min.u32 [%0+8], %1;" ::"l"(at), "r"(lane + 3) : "memory");
  asm volatile("red.relaxed.gpu.global.or.b32 [%0+12], %1;" ::"l"(at), "r"(1 << lane) : "memory");
  asm volatile("red.global.and.b32 [%0+16], %1;" ::"l"(at), "r"(~(1 << lane)) : "memory");
  asm volatile("red.global.xor.b32 [%0+20], %1;" ::"l"(at), "r"(lane * 5) : "memory");
  asm volatile("red.global.inc.u32 [%0+24], %1;" ::"l"(at), "r"(6) : "memory");
  asm volatile("red.release.sys.global.add.f32 [%0+28], %1;" ::"l"(at), "f"(1.0f) : "memory");
  __syncwarp();
  if (lane < 8) out[lane] = *const_cast<volatile std::uint32_t*>(&at[lane]);
}
CASE_GRID(vector_add_f32, 4, dim3(1), dim3(32)) {
  __device__ static float4 sum;
  atomicAdd(&sum, make_float4(1.0f, lane, 0.5f, -2.0f));
  __syncwarp();
  if (lane == 0) conformance::put(out, 0, const_cast<const float4&>(sum));
}
CASE_GRID(histogram_in_shared_memory, 16, dim3(1), dim3(256)) {
  __shared__ int bins[16];
  if (lane < 16) bins[lane] = 0;
  __syncthreads();
  atomicAdd(&bins[conformance::input_U32(lane) % 16], 1);
  __syncthreads();
  if (lane < 16) out[lane] = bins[lane];
}
CASE_GRID(cuda_atomic_orders, 6, dim3(1), dim3(64)) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> a;
  __device__ static cuda::atomic<unsigned long long, cuda::thread_scope_device> b;
  if (lane == 0) a.store(0), b.store(0);
  __syncthreads();
  a.fetch_add(2, cuda::memory_order_relaxed);
  b.fetch_max(lane * 3, cuda::memory_order_acq_rel);
  b.fetch_or(1ull << 40, cuda::memory_order_seq_cst);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
  __syncthreads();
  if (lane == 0) {
    int expected = 128;
    out[0] = a.compare_exchange_strong(expected, 5);
    out[1] = a.load(cuda::memory_order_acquire);
    conformance::put(out + 2, 0, b.exchange(4));
    out[4] = static_cast<std::uint32_t>(b--);
    out[5] = static_cast<std::uint32_t>(b.load());
  }
}

CONFORMANCE_MAIN()
