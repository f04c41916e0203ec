// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 13: five broken programs, and a slow one            (handouts/13-debugging/handout.md)
//
// The reference answers: each mistake mended, and below "Was" what it was.
#include "kernel.cuh"

// Stage 1: Sums of three neighbours
//
// Task     out[i] = in[i - 1] + in[i] + in[i + 1]. Before the first element and after the last one
//          there are zeros.
// Symptom  The last sum is wrong. On some days it is right.
//
//     in     0 [ 5  1  4 ] 0
//     out      [ 6 10  5 ]
__global__ void sum_of_three(int* __restrict__ out, const int* __restrict__ in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = in[i];
  if (i >= 1) sum += in[i - 1];
  // Was: i <= n - 1, which is true of the last element, too.
  if (i < n - 1) sum += in[i + 1];
  out[i] = sum;
}

LAUNCH_SHAPE(sum_of_three, int n) {
  return {.grid = dim3(ceil_div(n, kThreads)), .block = dim3(kThreads)};
}

// Stage 2: Running sums
//
// Task     Each block of kThreads elements gets its own running sums: out[i] is the sum of the
//          elements of `in` from the block's first one
//          to element i.
// Symptom  Small arrays are right, larger ones are wrong, in other places each time.
//
//     in     [ 1  1  1  1  1  1 ]
//     step 1 [ 1  2  2  2  2  2 ]     each adds what stands 1 to its left,
//     step 2 [ 1  2  3  4  4  4 ]     then what stands 2 to its left,
//     step 4 [ 1  2  3  4  5  6 ]     then 4, 8, 16 …
__global__ void running_sums(int* __restrict__ out, const int* __restrict__ in, int n) {
  __shared__ int sums[kThreads];
  const int t = threadIdx.x;
  const int i = blockIdx.x * kThreads + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    // Was: one line that reads a neighbour's sum and adds it to the thread's own, while the
    // neighbour may be adding to that one.
    const int left = t >= step ? sums[t - step] : 0;
    // Every thread has read: from here on each may change its own sum.
    __syncthreads();
    sums[t] += left;
    // Every sum of this round is there.
    __syncthreads();
  }
  if (i < n) out[i] = sums[t];
}

LAUNCH_SHAPE(running_sums, int n) {
  return {.grid = dim3(ceil_div(n, kThreads)), .block = dim3(kThreads)};
}

// Stage 3: Steps between neighbours
//
// Task     out[i] = in[i] - in[i - 1], and out[0] = in[0]. A block takes kThreads elements
//          at a time through shared memory, and goes on with others until
//          there are no more.
// Symptom  None: every test passes. Somebody says that it hangs on his GPU.
//
//     in     [ 5  7  4  4 ]
//     out    [ 5  2 -3  0 ]
__global__ void steps_between(int* __restrict__ out, const int* __restrict__ in, int n) {
  __shared__ int piece[kThreads];
  const int t = threadIdx.x;
  const int stride = gridDim.x * kThreads;
  for (int start = blockIdx.x * kThreads; start < n; start += stride) {
    const int i = start + t;
    if (i < n) piece[t] = in[i];
    // Was: inside of the branch, where threads without an element do not come by.
    __syncthreads();
    if (i < n) {
      const int left = t > 0 ? piece[t - 1] : i > 0 ? in[i - 1] : 0;
      out[i] = piece[t] - left;
    }
    // Nobody reads this piece any more: the next one may be stored.
    __syncthreads();
  }
}

LAUNCH_SHAPE(steps_between, int n) {
  return {.grid = dim3(ceil_div(n, 2 * kThreads)), .block = dim3(kThreads)};
}

// Stage 4: Sums of a window
//
// Task     out[i] is the sum of in[i] and the kWindow - 1 elements after it, as far as there are
//          any.
// Symptom  Right when it was written, on memory that nobody had used before. Wrong in the program
//          that it was written for.
//
//     in     [ 1  2  3  4 ]           a window of 2
//     out    [ 3  5  7  4 ]
__global__ void window_sums(int* __restrict__ out, const int* __restrict__ in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  // Was: out[i] += in[i + k], which adds to what happens to be in memory; and it loads and stores
  // eight times where one store will do.
  int sum = 0;
#pragma unroll
  for (int k = 0; k < kWindow; ++k)
    if (k < n - i) sum += in[i + k];
  out[i] = sum;
}

LAUNCH_SHAPE(window_sums, int n) {
  return {.grid = dim3(ceil_div(n, kThreads)), .block = dim3(kThreads)};
}

// Stage 5: A whole program
//
// Task     out[i] = a[i] * a[i] + i, by two kernels, one after the other.
// Symptom  The result is wrong, and the program says that its second kernel failed.
// Demands  No call fails, and every launch is followed by a look at its error. The kernels compute
//          the results, and all memory is freed.
//
//     a --> square_all --> squares --> add_places --> out
__global__ void square_all(int* squares, const int* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) squares[i] = a[i] * a[i];
}

__global__ void add_places(int* out, const int* squares, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = squares[i] + i;
}

#ifdef MEMBOUND_PROGRAM
#include <cstdio>
#include <cstdlib>

#include "program.hpp"

/// Ends the program after a failed call, and says which one failed.
void check_cuda(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(code));
  std::exit(1);
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  const std::vector<int> a = program.read<int>("a");
  std::vector<int> out(a.size());
  const int n = static_cast<int>(out.size());
  const std::size_t bytes = n * sizeof(int);
  int *d_a, *d_squares, *d_out;
  check_cuda(cudaMalloc(&d_a, bytes), "cudaMalloc of a");
  check_cuda(cudaMalloc(&d_squares, bytes), "cudaMalloc of the squares");
  check_cuda(cudaMalloc(&d_out, bytes), "cudaMalloc of out");
  check_cuda(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice), "copy of a");
  if (n > 0) {
    // Was: blocks of 2048 threads, of which no GPU has any, and no look at the launch's error. The
    // wait after it returned cudaSuccess, because nothing was running.
    square_all<<<(n + kThreads - 1) / kThreads, kThreads>>>(d_squares, d_a, n);
    check_cuda(cudaGetLastError(), "launch of square_all");
    add_places<<<(n + kThreads - 1) / kThreads, kThreads>>>(d_out, d_squares, n);
    check_cuda(cudaGetLastError(), "launch of add_places");
  }
  check_cuda(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost), "copy of out");
  program.write("out", out);
  check_cuda(cudaFree(d_a), "cudaFree of a");
  check_cuda(cudaFree(d_squares), "cudaFree of the squares");
  check_cuda(cudaFree(d_out), "cudaFree of out");
}
#endif

// Stage 6: Sums of rows
//
// Task     `in` has rows of kRow elements, the last one may be shorter.
//          out[i] is the sum of the row
//          in which element i stands.
// Symptom  Every result is right, and no checker finds anything. It takes more than a hundred times
//          as long as a copy of the same arrays.
//
//     in     [ 1  2  3  4 | 5  6 ]        rows of 4
//     out    [10 10 10 10 |11 11 ]
__global__ void row_sums(int* __restrict__ out, const int* __restrict__ in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // Was: each thread loaded its whole row, kRow loads where one will do. All threads of the block
  // call, because there are barriers in it.
  const int sum = sum_of_block(i < n ? in[i] : 0);
  if (i < n) out[i] = sum;
}

LAUNCH_SHAPE(row_sums, int n) { return {.grid = dim3(ceil_div(n, kRow)), .block = dim3(kRow)}; }
