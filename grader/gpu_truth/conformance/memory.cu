// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: loads and stores of every width, cache operators, state spaces and address
/// conversion (PTX ISA 9.0, "ld", "st", "cvta", "isspacep").
#include "grader/gpu_truth/conformance/conformance.cuh"

namespace {

__device__ std::uint32_t words[256] = {0x04030201, 0x08070605, 0x8c8b8a89, 0xffeeddcc};
__constant__ float factors[4] = {1.5f, -2.25f, 3.0f, 1e-3f};
__constant__ int3 triple = {7, -8, 9};
__device__ const char* const texts[3] = {"one", "twenty", "three hundred"};
__device__ int numbers[5] = {10, 20, 30, 40, 50};
__device__ int* middle = &numbers[2];
__device__ std::uint64_t misfit = 0x1122334455667788;

struct Mixed {
  signed char c;  // whatever char is to the host's compiler
  short s;
  int i;
  long long l;
  float f;
  double d;
  char tail[3];
};
__device__ Mixed mixed = {-5, -300, 70000, -(1ll << 40), 2.5f, -0.125, {1, 2, 3}};

__device__ void fill(int lane) {
  for (int i = lane; i < 256; i += 32) words[i] = conformance::input_U32(i) + i;
  __syncwarp();
}

}  // namespace

/// `ld<suffixes>.<type>` of 32 neighbours from global memory.
#define LOAD(name, text, K, bytes)                                                      \
  CASE(name, 32 * (sizeof(TYPE_##K) + 3) / 4) {                                         \
    fill(lane);                                                                         \
    TYPE_##K value;                                                                     \
    const char* const from = reinterpret_cast<const char*>(words) + lane * bytes;       \
    asm volatile(text " %0, [%1];" : "=" CONSTRAINT_##K(value) : "l"(from) : "memory"); \
    conformance::put(out, lane, value);                                                 \
  }
LOAD(ld_u8, "ld.global.u8", U32, 1)
LOAD(ld_s8, "ld.global.s8", U32, 1)
LOAD(ld_b8_to_u16, "ld.global.b8", U16, 1)
LOAD(ld_u16, "ld.global.u16", U32, 2)
LOAD(ld_s16, "ld.global.s16", U32, 2)
LOAD(ld_s16_to_b64, "ld.global.s16", U64, 2)
LOAD(ld_u32, "ld.global.u32", U32, 4)
LOAD(ld_s32_to_b64, "ld.global.s32", U64, 4)
LOAD(ld_f32, "ld.global.f32", F32, 4)
LOAD(ld_u64, "ld.global.u64", U64, 8)
LOAD(ld_f64, "ld.global.f64", F64, 8)
LOAD(ld_generic, "ld.u32", U32, 4)
LOAD(ld_ca, "ld.global.ca.u32", U32, 4)
LOAD(ld_cg, "ld.global.cg.u32", U32, 4)
LOAD(ld_cs, "ld.global.cs.u32", U32, 4)
LOAD(ld_lu, "ld.global.lu.u32", U32, 4)
LOAD(ld_cv, "ld.global.cv.u32", U32, 4)
LOAD(ld_volatile, "ld.volatile.global.u32", U32, 4)
LOAD(ld_relaxed_gpu, "ld.relaxed.gpu.global.u32", U32, 4)
LOAD(ld_acquire_sys, "ld.acquire.sys.global.u64", U64, 8)
LOAD(ld_weak, "ld.weak.global.u32", U32, 4)
LOAD(ld_l2_prefetch, "ld.global.L2::128B.u32", U32, 4)
LOAD(ld_l1_no_allocate, "ld.global.L1::no_allocate.u32", U32, 4)
LOAD(ldu_u32, "ldu.global.u32", U32, 0)

/// Vector loads; the parts are recombined so that a wrong order shows.
CASE(ld_vectors, 224) {
  fill(lane);
  std::uint32_t a, b, c, d;
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(words + lane * 2));
  out[lane] = a, out[lane + 32] = b;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(words + lane * 4));
  out[lane + 64] = a ^ b << 1, out[lane + 96] = c ^ d << 1;
  asm volatile("ld.global.v4.u8 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(words + lane));
  out[lane + 128] = a | b << 8 | c << 16 | d << 24;
  std::uint64_t e, f;
  asm volatile("ld.global.v2.u64 {%0, %1}, [%2+16];" : "=l"(e), "=l"(f) : "l"(words + lane * 4));
  conformance::put(out + 160, lane, e - f);
}
CASE(st_of_every_width, 128) {
  __shared__ std::uint32_t target[128];
  for (int i = lane; i < 128; i += 32) target[i] = 0xdddddddd;
  __syncwarp();
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(target));
  const std::uint32_t value = conformance::input_U32(lane);
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(at + lane), "r"(value));
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(at + 64 + lane * 2),
               "h"(conformance::input_U16(lane)));
  if (lane < 8) {
    asm volatile("st.shared.v4.u32 [%0+128], {%1, 7, %2, 9};" ::"r"(at + lane * 16), "r"(value),
                 "r"(lane));
    asm volatile("st.volatile.shared.v2.f64 [%0+256], {%1, %2};" ::"r"(at + lane * 16),
                 "d"(conformance::input_F64(lane)), "d"(1.5));
  }
  __syncwarp();
  for (int i = lane; i < 128; i += 32) out[i] = target[i];
}
CASE(st_cache_operators_global, 128) {
  std::uint32_t* const at = out + lane;
  asm volatile("st.global.wb.u32 [%0], %1;" ::"l"(at), "r"(lane + 1) : "memory");
  asm volatile("st.global.cg.u32 [%0+128], %1;" ::"l"(at), "r"(lane + 2) : "memory");
  asm volatile("st.global.cs.u32 [%0+256], %1;" ::"l"(at), "r"(lane + 3) : "memory");
  asm volatile("st.release.gpu.global.u32 [%0+384], %1;" ::"l"(at), "r"(lane + 4) : "memory");
}
CASE(constant_memory, 64) {
  out[lane] = __float_as_uint(factors[lane % 4]);
  out[lane + 32] = triple.x * 100 + triple.y * 10 + triple.z + (lane == 0);
}
CASE(tables_of_pointers, 64) {
  out[lane] = texts[lane % 3][lane % 3 + 1];
  out[lane + 32] = middle[lane % 5 - 2];
}
CASE(struct_members, 7) {
  if (lane == 0) {
    out[0] = mixed.c, out[1] = mixed.s, out[2] = mixed.i;
    out[3] = static_cast<std::uint32_t>(mixed.l >> 20);
    out[4] = __float_as_uint(mixed.f), out[5] = __float_as_uint(static_cast<float>(mixed.d));
    out[6] = mixed.tail[2] * 10 + mixed.tail[0];
  }
}
CASE(initial_values_of_every_byte, 2) {
  if (lane == 0) conformance::put(out, 0, misfit);
}
CASE(local_memory, 64) {
  std::uint64_t values[16];
  for (int i = 0; i < 16; ++i) values[(i * 5 + lane) % 16] = i * 1000ull + lane;
  conformance::put(out, lane, values[lane % 16] + values[(lane * 7) % 16]);
}
CASE(local_bytes, 32) {
  unsigned char bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = static_cast<unsigned char>(i * lane);
  out[lane] = bytes[lane] | bytes[63 - lane] << 8 | bytes[(lane * 3) % 64] << 16;
}
CASE(isspacep_of_each_space, 32) {
  __shared__ int in_shared;
  int in_local[2] = {lane, 1};
  const void* pointers[4] = {&in_shared, words, in_local, factors};
  const void* const pointer = pointers[lane % 4];
  out[lane] = __isGlobal(pointer) | __isShared(pointer) << 1 | __isLocal(pointer) << 2 |
              __isConstant(pointer) << 3;
}
CASE(generic_pointers_to_three_spaces, 32) {
  __shared__ int in_shared[2];
  in_shared[0] = 100, in_shared[1] = 200;
  int in_local[2] = {lane, lane * 2};
  __syncwarp();
  int* const pointer = lane % 3 == 0 ? in_shared : lane % 3 == 1 ? in_local : numbers;
  out[lane] = pointer[1];
}
CASE(cvta_there_and_back, 32) {
  __shared__ int values[32];
  values[lane] = lane * 9;
  std::uint32_t result;
  asm volatile(
      "{ .reg .u64 g, s; .reg .u32 a; cvta.shared.u64 g, %1; cvta.to.shared.u64 s, g;\n"
      "cvt.u32.u64 a, s; ld.shared.u32 %0, [a]; }"
      : "=r"(result)
      : "l"(__cvta_generic_to_shared(&values[lane]))
      : "memory");
  out[lane] = result;
}
CASE(prefetches_change_nothing, 32) {
  fill(lane);
  asm volatile("prefetch.global.L1 [%0]; prefetch.global.L2 [%0+64];" ::"l"(words));
  asm volatile("prefetchu.L1 [%0];" ::"l"(words));
  out[lane] = words[lane];
}
CASE(memory_copies_and_fills, 32) {
  __shared__ unsigned char bytes[128];
  fill(lane);
  if (lane == 0) {
    memset(bytes, 0xa5, 128);
    memcpy(bytes + 3, words, 21);
    for (int i = 0; i < 30; ++i) bytes[40 + i] = bytes[3 + i];
  }
  __syncwarp();
  out[lane] = bytes[lane] | bytes[lane + 32] << 8 | bytes[lane + 64] << 16;
}
CASE(device_malloc, 32) {
  int* const block = static_cast<int*>(malloc((lane + 1) * sizeof(int)));
  for (int i = 0; i <= lane; ++i) block[i] = i * lane;
  int sum = 0;
  for (int i = 0; i <= lane; ++i) sum += block[i];
  free(block);
  out[lane] = sum;
}
CASE(device_new_of_objects, 32) {
  Mixed* const object = new Mixed(mixed);
  object->i += lane;
  out[lane] = object->i ^ object->s;
  delete object;
}
CASE(alloca_in_a_loop, 32) {
  int* const space = static_cast<int*>(alloca((lane % 4 + 1) * sizeof(int)));
  for (int i = 0; i <= lane % 4; ++i) space[i] = lane + i * i;
  out[lane] = space[lane % 4];
}

CONFORMANCE_MAIN()
