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
  for (long long i = number_in_grid(); i < n; i += threads_of_grid()) {
    // The store stands between this load and the next one: a warp has a single load in flight.
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_full, Gpu gpu, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = gpu.sm_count * (gpu.max_threads_per_sm / kThreads);
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
    float sample[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sample[k] = in[first + k * kThreads];

    float* const to = out + first;  // for all that the compiler knows, part of what is to be loaded
#pragma unroll
    for (int k = 0; k < kLoads; ++k) to[k * kThreads] = gain * sample[k] + offset;
  }
  for (long long i = rest + number_in_grid(); i < n; i += threads_of_grid()) {
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_several, Gpu gpu, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = gpu.sm_count * (gpu.max_threads_per_sm / kThreads);
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
  // Only the number of loads differs from stage 2. 16 samples are 16 registers more; at 512 threads
  // an SM a thread may have 128.
  constexpr int kBatch = kManyLoads * kThreads;
  const long long batches = n / kBatch;
  const long long rest = batches * kBatch;

  for (long long batch = blockIdx.x; batch < batches; batch += gridDim.x) {
    const long long first = batch * kBatch + threadIdx.x;
    float sample[kManyLoads];
#pragma unroll
    for (int k = 0; k < kManyLoads; ++k) sample[k] = in[first + k * kThreads];
#pragma unroll
    for (int k = 0; k < kManyLoads; ++k) out[first + k * kThreads] = gain * sample[k] + offset;
  }
  for (long long i = rest + number_in_grid(); i < n; i += threads_of_grid()) {
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_few, Gpu gpu, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = gpu.sm_count * (kFewPerSm / kThreads);
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
  const int batch_vectors = kVectors * blockDim.x;
  const long long batches = n / kVectorFloats / batch_vectors;
  const long long rest = batches * batch_vectors * kVectorFloats;
  const float4* const in_vectors = reinterpret_cast<const float4*>(in);
  float4* const out_vectors = reinterpret_cast<float4*>(out);

  for (long long batch = blockIdx.x; batch < batches; batch += gridDim.x) {
    const long long first = batch * batch_vectors + threadIdx.x;
    float4 sample[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) sample[k] = in_vectors[first + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      out_vectors[first + k * blockDim.x] = {
          gain * sample[k].x + offset, gain * sample[k].y + offset, gain * sample[k].z + offset,
          gain * sample[k].w + offset};
    }
  }
  for (long long i = rest + number_in_grid(); i < n; i += threads_of_grid()) {
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_predicted, Gpu gpu, long long n) {
  LaunchShape shape;
  // An H200 loads 2,120 of the 4,240 GB/s that a copy moves: 16 bytes a nanosecond for each of 132
  // SMs. A load took 0.8 us with 8 KiB in flight an SM, and 2.0 us, most of it in a queue, with 32.
  // So 13 KiB are too few and 32 too many; 24 KiB / 64 = 384.
  constexpr int kPredicted = 384;
  shape.block = kPredicted;
  shape.grid = gpu.sm_count;
  return shape;
}
