// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 00: hello, GPU                              (handouts/00-hello-gpu/handout.md)
//
// A kernel is written for one thread. Launched, it runs once for each thread of a grid of blocks,
// and each thread computes its index from four numbers:
//     threadIdx.x   its number in its block       blockDim.x   threads of a block
//     blockIdx.x    its block's number            gridDim.x    blocks of the grid
// kernel.cuh has the data and the sizes.
#include "kernel.cuh"

// Stage 1: One thread for each sum
//
// Before   The CPU walks one loop over all sums.
// Task     No loop: a thread for each sum. Blocks have kThreads threads each, so the last block
//          may have threads without a sum.
// Budget   As few sectors per request as 32 floats need: neighbouring threads and numbers.
//
//     n = 10, blocks of 4     block 0      block 1      block 2
//     threadIdx.x             0  1  2  3   0  1  2  3   0  1  2  3
//     sum                     0  1  2  3   4  5  6  7   8  9  -  -
__global__ void add_one_each(float* out, const float* a, const float* b, int n) {
  // TODO 1 (about 1 line): the number of this thread among all threads of the grid.

  // TODO 2 (about 1 line): add one pair. Which threads have none?
}

// Given, as an example: so many blocks that every sum has a thread, rounded up.
LAUNCH_SHAPE(add_one_each, int n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 2: A grid of any size
//
// Before   The grid had to fit n. A grid that was too small left sums out.
// Task     One block for each multiprocessor (SM), however many sums there are. All threads of the
//          grid stride through the arrays together, one grid width at a time.
// Budget   As few sectors per request as before.
//
//     a grid of 6 threads     sum   [0 1 2 3 4 5|0 1 2 3 4 5|0 1 2 3 4 5|0 1]
//                                    turn 0      turn 1      turn 2      turn 3
__global__ void add_in_turns(float* out, const float* a, const float* b, int n) {
  // TODO 1 (about 3 lines): where does this thread start, how far is it to its next sum, and when
  // does it stop?
}

// Given: a block for each SM.
LAUNCH_SHAPE(add_in_turns, Gpu gpu, int n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = gpu.sm_count;
  return shape;
}

// Stage 3: Choose the launch
//
// Before   One block of 256 threads on an SM that holds 2,048 (H200): right, and far below
//          the memory's bandwidth. While a thread waits for its loads, there is no other one to
//          issue more. In stage 1 the SMs were full, and each thread loaded 8 bytes.
// Task     Choose how many threads a block has, and how many blocks the grid. Each thread has kSums
//          sums, a block's width apart (striped), and loads all numbers before the first store.
// Budget   Full SMs, and 32 bytes of each thread in flight.
//
//     threads of an SM    [####............................]   stage 2:   256 of 2,048
//                         [################################]   stages 1 and 3: all of them
//
//     blocks of 4         sum   [0 1 2 3|0 1 2 3|0 1 2 3|0 1 2 3][0 1 2 3|0 1 2 3|...
//     kSums = 4                  k = 0   k = 1   k = 2   k = 3    block 1
// TODO 1 (about 1 line): a constant: threads of a block. A multiple of 32, 1,024 at most; and how
// many such blocks fit on an SM, which holds 2,048 threads and 32 blocks on an H200?

__global__ void add_full(float* out, const float* a, const float* b, int n) {
  // TODO 2 (about 1 line): this thread's first sum. A block takes kSums times as many sums as it
  // has threads.

  // Given: room for this thread's sums, in registers.
  float sums[kSums];

  // TODO 3 (about 4 lines): compute them all. Not every thread has kSums.

  // TODO 4 (about 4 lines): store them.
}

LAUNCH_SHAPE(add_full, int n) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): your launch.
  return shape;
}

// Stage 4: A whole program
//
// Before   Somebody else has allocated, copied, launched, checked for errors and measured.
// Task     Do it yourself: your kernel of stage 1 in a program of its own. Time the kernel with two
//          events, and free everything.
// Demands  The kernel computes the sums from a and b. Check for its error, and take the time
//          between two events around it; print no other. No call fails, all memory is freed.
//
//     host      a, b ---.                            .---> out
//                       | cudaMemcpy      cudaMemcpy |
//     device            '--> d_a, d_b --> d_out -----'
#ifdef MEMBOUND_PROGRAM
#include <cstdio>
#include <cstdlib>

#include "program.hpp"

/// Given: ends the program after a failed call, and prints the error.
void check_cuda(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(1);
}

int main(int argc, char** argv) {
  // Given: the inputs, and room for the sums.
  const membound::Program program(argc, argv);
  const std::vector<float> a = program.read<float>("a"), b = program.read<float>("b");
  std::vector<float> out(a.size());
  const int n = static_cast<int>(out.size());
  const std::size_t bytes = n * sizeof(float);

  // TODO 1 (about 6 lines): memory for three arrays on the device, and the inputs into two of them.
  // Sizes are in bytes.

  // TODO 2 (about 3 lines): two events.

  // TODO 3 (about 6 lines): an event, the launch, its error, an event. A grid of 0 blocks cannot
  // be launched: what if there is nothing to add?

  // TODO 4 (about 4 lines): the time between the events, in milliseconds, and the GB/s that follow
  // from it. Has the device reached the second event yet?

  // TODO 5 (about 1 line): the sums back to the host.

  // Given: the output.
  program.write("out", out);

  // TODO 6 (about 5 lines): destroy the events and free the memory.
}
#endif
