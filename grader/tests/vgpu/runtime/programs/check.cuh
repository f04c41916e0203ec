// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the small CUDA programs of this folder share: a check that ends the program with the
/// expression and exit code 1. The same programs can be run on a real GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (false)

#define CHECK_CUDA(call)                                                 \
  do {                                                                   \
    const cudaError_t check_code = (call);                               \
    if (check_code != cudaSuccess) {                                     \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorString(check_code));                      \
      std::exit(1);                                                      \
    }                                                                    \
  } while (false)

#define CHECK_FAILS(code, call)                                                      \
  do {                                                                               \
    const cudaError_t check_code = (call);                                           \
    if (check_code != (code)) {                                                      \
      std::fprintf(stderr, "%s:%d: %s gave %s, not %s\n", __FILE__, __LINE__, #call, \
                   cudaGetErrorName(check_code), #code);                             \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (false)
