// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// What the programs of the checkers' corpus share. A program runs the one case that its argument
// names; corpus_test.cpp reads the names from these texts:
//   CASE(name, "kind", launch);    a mistake; the line of the finding ends in "// name"
//   RIGHT(name, launch);           no mistake
#pragma once

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;
constexpr int kCount = 256;
constexpr unsigned int kAll = 0xffffffff;

// Arrays of 2 * kCount words: `in` and `out` hold zeros, `raw` nothing.
struct Arrays {
  int *in = nullptr, *out = nullptr, *raw = nullptr;
};

#define CASE(name, kind, ...) \
  if (std::strcmp(wanted, #name) == 0) __VA_ARGS__
#define RIGHT(name, ...) \
  if (std::strcmp(wanted, #name) == 0) __VA_ARGS__

void run_case(const char* wanted, Arrays d);

int main(int, char** arguments) {
  Arrays d;
  for (int** array : {&d.in, &d.out, &d.raw}) cudaMalloc(array, 2 * kCount * sizeof(int));
  for (int* array : {d.in, d.out}) cudaMemset(array, 0, 2 * kCount * sizeof(int));
  run_case(arguments[1], d);
  cudaDeviceSynchronize();
  static_cast<void>(cudaGetLastError());
  for (int* array : {d.in, d.out, d.raw}) cudaFree(array);
}
