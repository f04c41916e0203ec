// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where a thread is: found after the compiler's own header of this name, by a clang that came
/// without it, as ziglang's from PyPI does.
#pragma once

#define MEMBOUND_READS(field, special)                                                          \
  __declspec(property(get = get_##field)) unsigned int field;                                   \
  static inline __attribute__((device)) __attribute__((always_inline)) unsigned get_##field() { \
    return __nvvm_read_ptx_sreg_##special##_##field();                                          \
  }
#define MEMBOUND_PLACE(name, special)                                     \
  struct __cuda_builtin_##name##_t {                                      \
    MEMBOUND_READS(x, special)                                            \
    MEMBOUND_READS(y, special)                                            \
    MEMBOUND_READS(z, special)                                            \
    __attribute__((device)) operator dim3() const;                        \
    __attribute__((device)) operator uint3() const;                       \
    __cuda_builtin_##name##_t() = delete;                                 \
    __cuda_builtin_##name##_t(const __cuda_builtin_##name##_t&) = delete; \
  };                                                                      \
  extern const __attribute__((device)) __attribute__((weak)) __cuda_builtin_##name##_t name;
MEMBOUND_PLACE(threadIdx, tid)
MEMBOUND_PLACE(blockIdx, ctaid)
MEMBOUND_PLACE(blockDim, ntid)
MEMBOUND_PLACE(gridDim, nctaid)
#undef MEMBOUND_PLACE
#undef MEMBOUND_READS
__attribute__((device)) const int warpSize = 32;
