// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every conformance program includes: cases, their inputs, and a main() that runs them.
///
/// A case is a kernel that writes 32-bit words; the program prints one line for it, words in
/// hexadecimal:        add_u32: 00000001 0000002a …
/// A case whose result may differ in its last places says so in the line, in units in the last
/// place of the type:  sin_approx_f32 ulp_f32=4: …
/// The same program runs on a GPU, which made truth_h200.txt, and on the virtual GPU.
///
/// `program --from N` starts with case N: after a sticky error the next process goes on behind it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "grader/gpu_truth/conformance/inputs.cuh"

namespace conformance {

using Kernel = void (*)(std::uint32_t* out);

struct Case {
  const char* name;
  Kernel kernel;
  int words;
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  const char* tolerance;     // "" or "ulp_f32=4"
  bool cooperative = false;  // may wait for all blocks of the grid
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Registration {
  explicit Registration(const Case& each) { cases().push_back(each); }
};

/// True when the call worked; says what failed otherwise.
inline bool good(const Case& each, cudaError_t error) {
  if (error == cudaSuccess) return true;
  std::printf("%s: error %s\n", each.name, cudaGetErrorName(error));
  return false;
}

inline bool run(const Case& each) {
  std::vector<std::uint32_t> words(each.words);
  std::uint32_t* d_out = nullptr;
  const std::size_t bytes = words.size() * sizeof(std::uint32_t);
  if (!good(each, cudaMalloc(&d_out, bytes))) return false;
  if (!good(each, cudaMemset(d_out, 0, bytes))) return false;
  if (each.cooperative) {
    void* arguments[] = {&d_out};
    const cudaError_t launched =
        cudaLaunchCooperativeKernel(each.kernel, each.grid, each.block, arguments);
    if (!good(each, launched)) return false;
  } else {
    each.kernel<<<each.grid, each.block, each.shared_bytes>>>(d_out);
  }
  if (!good(each, cudaGetLastError()) || !good(each, cudaDeviceSynchronize())) return false;
  if (!good(each, cudaMemcpy(words.data(), d_out, bytes, cudaMemcpyDeviceToHost))) return false;
  cudaFree(d_out);
  std::printf("%s%s%s:", each.name, *each.tolerance ? " " : "", each.tolerance);
  for (std::uint32_t word : words) std::printf(" %08x", word);
  std::printf("\n");
  std::fflush(stdout);  // a later case may never end
  return true;
}

inline int run_all(int argc, char** argv) {
  const std::size_t first =
      argc == 3 && std::strcmp(argv[1], "--from") == 0 ? std::atoi(argv[2]) : 0;
  for (std::size_t i = first; i < cases().size(); ++i) {
    if (!run(cases()[i])) return 1;
  }
  return 0;
}

/// Stores a result of one to four words at place `index` of an array of such results.
template <typename T>
__device__ void put(std::uint32_t* out, int index, const T& value) {
  if constexpr (sizeof(T) <= 4) {
    std::uint32_t word = 0;
    memcpy(&word, &value, sizeof value);
    out[index] = word;
  } else {
    static_assert(sizeof(T) % 4 == 0);
    memcpy(out + index * (sizeof(T) / 4), &value, sizeof value);
  }
}

}  // namespace conformance

/// CASE(name, words) { … } is a case of one warp; CASE_GRID one of any launch; CASE_CLOSE one with
/// a tolerance. In the body `out` is the array of words and `lane` is threadIdx.x.
#define CASE_FULL(name, words, grid, block, shared_bytes, tolerance)                            \
  __device__ void body_##name(std::uint32_t* out, int lane);                                    \
  __global__ void name(std::uint32_t* out) { body_##name(out, static_cast<int>(threadIdx.x)); } \
  static const conformance::Registration registration_##name(                                   \
      conformance::Case{#name, name, words, grid, block, shared_bytes, tolerance});             \
  __device__ void body_##name([[maybe_unused]] std::uint32_t* out, [[maybe_unused]] int lane)

#define CASE_COOPERATIVE(name, words, grid, block)                      \
  __global__ void name(std::uint32_t* out);                             \
  static const conformance::Registration registration_##name(           \
      conformance::Case{#name, name, words, grid, block, 0, "", true}); \
  __global__ void name(std::uint32_t* out)
#define CASE(name, words) CASE_FULL(name, words, dim3(1), dim3(32), 0, "")
#define CASE_CLOSE(name, words, tolerance) CASE_FULL(name, words, dim3(1), dim3(32), 0, tolerance)
#define CASE_GRID(name, words, grid, block) CASE_FULL(name, words, grid, block, 0, "")

/// CONFORMANCE_MAIN_AFTER(setup) calls `setup()` first: textures and the like.
#define CONFORMANCE_MAIN_AFTER(setup)        \
  int main(int argc, char** argv) {          \
    setup();                                 \
    return conformance::run_all(argc, argv); \
  }
#define CONFORMANCE_MAIN() \
  int main(int argc, char** argv) { return conformance::run_all(argc, argv); }

/// How a kind of operand is spelled in C++, in an asm constraint, and which table feeds it.
#define TYPE_U16 std::uint16_t
#define TYPE_U32 std::uint32_t
#define TYPE_U64 std::uint64_t
#define TYPE_F16 std::uint16_t
#define TYPE_BF16 std::uint16_t
#define TYPE_F16X2 std::uint32_t
#define TYPE_BF16X2 std::uint32_t
#define TYPE_S16X2 std::uint32_t
#define TYPE_F32 float
#define TYPE_F64 double
#define TYPE_N32 float
#define TYPE_N64 double
#define CONSTRAINT_U16 "h"
#define CONSTRAINT_U32 "r"
#define CONSTRAINT_U64 "l"
#define CONSTRAINT_F16 "h"
#define CONSTRAINT_BF16 "h"
#define CONSTRAINT_F16X2 "r"
#define CONSTRAINT_BF16X2 "r"
#define CONSTRAINT_S16X2 "r"
#define CONSTRAINT_F32 "f"
#define CONSTRAINT_F64 "d"
#define CONSTRAINT_N32 "f"
#define CONSTRAINT_N64 "d"

/// Words of 64 results of kind R.
#define WORDS_OF(R) (64 * static_cast<int>((sizeof(TYPE_##R) + 3) / 4))

/// `text %0, %1;` over all 64 inputs of kind A: OP1(popc_b32, "popc.b32", U32, U32)
#define OP1_CLOSE(name, text, R, A, tolerance)                                   \
  CASE_CLOSE(name, WORDS_OF(R), tolerance) {                                     \
    for (int i = lane; i < 64; i += 32) {                                        \
      const TYPE_##A a = conformance::input_##A(i);                              \
      TYPE_##R r;                                                                \
      asm volatile(text " %0, %1;" : "=" CONSTRAINT_##R(r) : CONSTRAINT_##A(a)); \
      conformance::put(out, i, r);                                               \
    }                                                                            \
  }
#define OP1(name, text, R, A) OP1_CLOSE(name, text, R, A, "")

/// `text %0, %1, %2;`: the second operand walks the table in another order.
#define OP2_CLOSE(name, text, R, A, B, tolerance)           \
  CASE_CLOSE(name, WORDS_OF(R), tolerance) {                \
    for (int i = lane; i < 64; i += 32) {                   \
      const TYPE_##A a = conformance::input_##A(i);         \
      const TYPE_##B b = conformance::input_##B(i * 5 + 7); \
      TYPE_##R r;                                           \
      asm volatile(text " %0, %1, %2;"                      \
                   : "=" CONSTRAINT_##R(r)                  \
                   : CONSTRAINT_##A(a), CONSTRAINT_##B(b)); \
      conformance::put(out, i, r);                          \
    }                                                       \
  }
#define OP2(name, text, R, A, B) OP2_CLOSE(name, text, R, A, B, "")

#define OP3(name, text, R, A, B, C)                                            \
  CASE(name, WORDS_OF(R)) {                                                    \
    for (int i = lane; i < 64; i += 32) {                                      \
      const TYPE_##A a = conformance::input_##A(i);                            \
      const TYPE_##B b = conformance::input_##B(i * 5 + 7);                    \
      const TYPE_##C c = conformance::input_##C(i * 11 + 3);                   \
      TYPE_##R r;                                                              \
      asm volatile(text " %0, %1, %2, %3;"                                     \
                   : "=" CONSTRAINT_##R(r)                                     \
                   : CONSTRAINT_##A(a), CONSTRAINT_##B(b), CONSTRAINT_##C(c)); \
      conformance::put(out, i, r);                                             \
    }                                                                          \
  }

/// A comparison: 1 where the predicate of `text p, %1, %2;` is true.
#define SETP(name, text, A, B)                                                   \
  CASE(name, 64) {                                                               \
    for (int i = lane; i < 64; i += 32) {                                        \
      const TYPE_##A a = conformance::input_##A(i);                              \
      const TYPE_##B b = conformance::input_##B(i % 4 == 0 ? i : i * 5 + 7);     \
      std::uint32_t r;                                                           \
      asm volatile("{ .reg .pred p; " text " p, %1, %2; selp.u32 %0, 1, 0, p; }" \
                   : "=r"(r)                                                     \
                   : CONSTRAINT_##A(a), CONSTRAINT_##B(b));                      \
      out[i] = r;                                                                \
    }                                                                            \
  }
