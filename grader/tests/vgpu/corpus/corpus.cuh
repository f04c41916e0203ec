// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// What the programs of the checkers' corpus share. A program runs the case that its argument names,
// or the cases of several, until one breaks the device; corpus_test.cpp reads the names from these
// texts:
//   CASE(name, "kind", launch);    a mistake; the line of the finding ends in "// name"
//   RIGHT(name, launch);           no mistake
#pragma once

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

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

// A tool's report may take a moment to be printed: before the next case says its name.
constexpr std::chrono::milliseconds kReportTime(100);

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    if (count > 2) {
      std::printf("case %s\n", arguments[i]);
      std::fflush(stdout);
    }
    Arrays d;
    for (int** array : {&d.in, &d.out, &d.raw}) cudaMalloc(array, 2 * kCount * sizeof(int));
    for (int* array : {d.in, d.out}) cudaMemset(array, 0, 2 * kCount * sizeof(int));
    run_case(arguments[i], d);
    cudaDeviceSynchronize();
    static_cast<void>(cudaGetLastError());
    for (int* array : {d.in, d.out, d.raw}) cudaFree(array);
    if (count == 2) return 0;
    std::this_thread::sleep_for(kReportTime);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  }
}
