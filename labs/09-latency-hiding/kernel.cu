// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 09: calibrate samples, four times           (handouts/09-latency-hiding/handout.md)
//
// One line of arithmetic, four ways to have enough loads in flight while a warp waits. A budget
// counts bytes in flight: bytes that one SM has requested and not yet received, if every thread it
// holds is waiting. Only loads count; no warp waits for a store. kernel.cuh has the data, the
// constants, number_in_grid() and threads_of_grid().
#include "kernel.cuh"

// Stage 1: Enough blocks
//
// Before   The CPU walks one loop.
// Task     The threads of the grid stride through the array, one grid's width a step. Launch
//          as many of them as the GPU holds at once.
// Budget   4 bytes in flight a thread. An SM that holds 2,048 threads: 8 KiB.
//
//     grid of 6 threads       in   [0 1 2 3 4 5|0 1 2 3 4 5|0 1 2 3 4 5|0 1]
//                                   step 0      step 1      step 2      step 3
__global__ void calibrate_full(float* out, const float* in, long long n, float gain, float offset) {
  // TODO 1 (about 3 lines): start at this thread's index and go on with the grid's stride.
  // When must a thread stop?
}

LAUNCH_SHAPE(calibrate_full, Gpu gpu, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  // TODO 2 (about 1 line): how many blocks of kThreads fit on the device at once? `gpu` knows the
  // number of SMs, and how many threads each of them holds.
  return shape;
}

// Stage 2: Several loads a thread
//
// Before   The SMs are full of threads, and the memory still waits: a thread loads 4
//          bytes, and loads the next 4 only after they have arrived.
// Task     The same launch. Each thread loads kLoads samples before it uses the first of them.
// Budget   8 bytes in flight a thread. An SM that holds 2,048 threads: 16 KiB.
//
//     a block's batch: kLoads * kThreads samples in a row
//     in   [ thread 0 1 2 ...     255 | thread 0 1 2 ...     255 ]    neighbours stay neighbours
//            load 0                     load 1
__global__ void calibrate_several(float* out, const float* in, long long n, float gain,
                                  float offset) {
  // Given: whole batches come first, without a guard in between; `rest` is where they end.
  constexpr int kBatch = kLoads * kThreads;
  const long long batches = n / kBatch;
  const long long rest = batches * kBatch;

  for (long long batch = blockIdx.x; batch < batches; batch += gridDim.x) {
    const long long first = batch * kBatch + threadIdx.x;
    // TODO 1 (about 4 lines): load kLoads samples, kThreads apart, into an array of this thread.
    // `#pragma unroll` keeps the array in registers.

    // TODO 2 (about 4 lines): and only then calibrate and store them. Why not in the same loop?
  }
  // TODO 3 (about 3 lines): the samples from `rest` on fill no batch. Who takes them?
}

LAUNCH_SHAPE(calibrate_several, Gpu gpu, long long n) {
  LaunchShape shape;
  // TODO 4 (about 2 lines): as in stage 1.
  return shape;
}

// Stage 3: Few threads with much to do
//
// Before   Faster, with as many threads as the SM holds. Many a kernel cannot have so many: with
//          128 registers a thread, 65,536 registers are enough for 512. Must it be slow?
// Task     No more than kFewPerSm threads per SM: a quarter of an H200's 2,048. Make up for
//          it inside the thread.
// Budget   64 bytes in flight a thread. An SM with 512 threads: 32 KiB. No more than
//          sm_count * kFewPerSm threads in the launch.
//
//     threads of an SM  [########........................]   512 of 2,048: occupancy 25 %
//     loads of each     16 instead of 2
__global__ void calibrate_few(float* out, const float* in, long long n, float gain, float offset) {
  // TODO 1 (about 18 lines): start from your stage 2. What changes?
}

LAUNCH_SHAPE(calibrate_few, Gpu gpu, long long n) {
  LaunchShape shape;
  // TODO 2 (about 2 lines): kFewPerSm threads for every SM.
  return shape;
}

// Stage 4: Predict, then measure
//
// Before   32 KiB in flight in every SM saturate the memory. Are they needed, or only safe?
// Task     Predict how few threads are enough, and launch no more. Each has kVectors
//          loads of 16 bytes in flight. Little's law: bytes in flight = bandwidth * latency.
// Budget   64 bytes in flight a thread, and fewer threads for each SM than stage 3 has, at nearly
//          its speed.
//
//     bytes an SM needs in flight = bytes loaded a second / SMs * latency under load
//     threads an SM needs         = that / 64
__global__ void calibrate_predicted(float* out, const float* in, long long n, float gain,
                                    float offset) {
  // TODO 1 (about 25 lines): start from your stage 3, with a float4 for every load. `in` and `out`
  // start at a multiple of 16 bytes; the tail after the last whole batch goes one by one.
}

LAUNCH_SHAPE(calibrate_predicted, Gpu gpu, long long n) {
  LaunchShape shape;
  // TODO 2 (about 3 lines): your prediction, in threads for each SM, as a multiple of 32. The
  // handout has the figures of an H200; your GPU's own come from its experiment.
  return shape;
}
