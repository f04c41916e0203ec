// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device code with one of everything a compiler turns into a PTX form of its own: initialised
/// variables, tables of pointers, calls, a jump table, printf, inline assembly with its own scope.
#include <cassert>
#include <cstdio>

__device__ int table[4] = {1, 2, 3, 4};
__constant__ float factors[3] = {1.5f, 2.5f, 3.5f};
__managed__ int managed = 7;
__device__ const char* const names[2] = {"first", "second"};
__device__ int* middle = &table[2];

struct Record {
  char letter;
  int number;
  double value;
};
__device__ Record record = {'a', 2, 3.0};

__device__ int plus_one(int x) { return x + 1; }
__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ int (*const functions[2])(int) = {plus_one, twice};
__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ Record changed(Record given, int by) {
  given.number += by;
  return given;
}

/// 100 floats of static shared memory, at most 256 threads.
__global__ void __launch_bounds__(256) everything(int* out, float* values, int n) {
  __shared__ float tile[100];
  tile[threadIdx.x % 100] = values[threadIdx.x];
  __syncthreads();
  const int i = threadIdx.x;
  out[i] = functions[n & 1](i) + fibonacci(n) + names[n][0] + middle[n] + managed;
  values[i] = tile[99 - i % 100] * factors[n];
  if (i == 3) printf("thread %d, %f\n", i, values[0]);
  assert(n < 100);
  out[i] += changed(record, n).number;
  switch (n) {
    case 0:
      out[0] = 1;
      break;
    case 1:
      out[1] = 5;
      break;
    case 2:
      out[2] = twice(i);
      break;
    case 3:
      out[3] = 9;
      break;
    case 4:
      out[9] = n * i;
      break;
    case 5:
      out[8] = 11;
      break;
    default:
      out[7] = 6;
  }
  asm volatile(
      "{ .reg .pred p; .reg .u32 t; setp.ne.u32 p, %1, 0; @p bra DONE; mov.u32 t, 3;\n"
      "DONE: selp.u32 %0, 1, 0, p; }"
      : "=r"(out[5])
      : "r"(n));
}

extern __shared__ double dynamic[];
__global__ void small(double* out) { out[threadIdx.x] = dynamic[threadIdx.x]; }
