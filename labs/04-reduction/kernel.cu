// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 04: add up n numbers, six times           (handouts/04-reduction/handout.md)
//
// Six kernels, each headed by what was wrong with the one before, then a whole program. A budget
// counts requests (one memory instruction of one warp of 32 lanes), sectors (pieces of 32 bytes of
// global memory), barriers, and atomic additions. kernel.cuh has the data and the constants.
#include "kernel.cuh"

// Stage 1: Every thread for itself
//
// Before   The CPU walks one loop, and each addition waits for the one before it.
// Task     Give every element to a thread of its own, which adds it to *sum.
// Budget   Load 4 sectors per request. n atomic additions, all on one word: far too many, and that
//          is fine for now.
//
//     in     [ 3 ]  [ 1 ]  [ 4 ]  [ 1 ]  [ 5 ]  ...      a thread each
//              |      |      |      |      |
//              +------+---+--+------+------+-- ...       one word: one queue
//                         v
//     sum              [ 14 ]
__global__ void reduce_global_atomics(float* sum, const float* in, long long n) {
  // TODO 1 (about 1 line): which element belongs to this thread, counted over all blocks? n may
  // pass 2^31: multiply in 64 bits.

  // TODO 2 (about 1 line): add it to *sum. `*sum += x` is a load, an addition and a store: what
  // happens when two threads do that at once? And what must a thread past the end not do?
}

// Given, as an example: a launch is a grid of blocks, and a block a number of threads.
LAUNCH_SHAPE(reduce_global_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}

// Stage 2: One sum per block
//
// Before   n additions were in one queue, in front of the L2 cache, hundreds of cycles away from
//          every multiprocessor.
// Task     Add the elements of a block in shared memory, which lies inside the multiprocessor.
//          Then one thread of the block adds the block's sum to *sum.
// Budget   n atomic additions in shared memory, a queue of its own for each block; one per block on
//          *sum. 2 barriers.
//
//     block 0   [ ] [ ] ... [ ]      block 1   [ ] [ ] ... [ ]        256 elements each
//                 \  |      /                    \  |      /
//               [ block_sum ]                  [ block_sum ]          shared memory
//                      \                          /
//                       +-------->  sum  <-------+                    global memory
__global__ void reduce_shared_atomics(float* sum, const float* in, long long n) {
  // TODO 1 (about 2 lines): this thread's element, and one float that the whole block shares.

  // TODO 2 (about 2 lines): shared memory is uninitialised. Which thread clears it, and
  // what must be true before any thread adds?

  // TODO 3 (about 1 line): add the element to the block's sum.

  // TODO 4 (about 2 lines): add the block's sum to *sum, once. What must be true before?
}

LAUNCH_SHAPE(reduce_shared_atomics, long long n) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): as in stage 1.
  return shape;
}

// Stage 3: A tree
//
// Before   The queue was short and near, but it was still a queue: 256 additions one after
//          another, while the other threads waited.
// Task     Add in pairs: 256 words become 128, 64, ... 1. Within a step no thread writes what
//          another one reads, so nothing has to be atomic.
// Budget   8 steps, 8 barriers. Shared memory: 1 wavefront per request, neighbouring lanes touch
//          neighbouring words. One atomic addition per block.
//
//     half = 4   [0] [1] [2] [3] [4] [5] [6] [7]      thread t adds word t + half to word t
//                 ^---------------+
//     half = 2   [0] [1] [2] [3]
//                 ^-------+
//     half = 1   [0] [1]
//                 ^---+
//                [0]                                  the sum of the block
__global__ void reduce_tree(float* sum, const float* in, long long n) {
  // TODO 1 (about 3 lines): one word of shared memory per thread, filled with its element. A thread
  // without an element takes part in the tree, too: which number does not change a sum?

  // TODO 2 (about 4 lines): halve until one word is left. Where does the barrier stand, so that all
  // threads reach it, also those that have nothing left to add?

  // TODO 3 (about 1 line): add the block's sum to *sum. Does this need another barrier?
}

LAUNCH_SHAPE(reduce_tree, long long n) {
  LaunchShape shape;
  // TODO 4 (about 2 lines): as before. Which numbers of threads would break the halving?
  return shape;
}

// Stage 4: Shuffles for the last 32
//
// Before   In the last five steps a single warp has work, yet all 8 warps of the block wait at the
//          barrier every time, and each value travels through shared memory.
// Task     Stop the tree when 32 words are left. The lanes of one warp can read each other's
//          registers: let the first warp finish alone.
// Budget   3 barriers and 5 shuffles. One atomic addition per block.
//
//     lane            0   1  ...  15  16  17 ... 31
//     distance 16     ^-----------------+               lane l receives the value of lane
//     distance  8     ^-------- 8                       l + distance, and adds it to its own
//     distance  4 ... 1
//                     the sum; what the other lanes hold does not matter
__global__ void reduce_shuffle(float* sum, const float* in, long long n) {
  // TODO 1 (about 7 lines): start from your stage 3. Which is the last step of the tree now?

  // TODO 2 (about 7 lines): the first warp takes the 32 words into registers, one a lane, and adds
  // them in five steps with __shfl_down_sync(kAllLanes, value, distance). All 32 lanes have to
  // execute each shuffle, also those whose sum is not needed. In the end, who adds to *sum?
}

LAUNCH_SHAPE(reduce_shuffle, long long n) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): as before.
  return shape;
}

// Stage 5: More for each thread
//
// Before   A thread loads 4 bytes, waits, and is done; 256 of them then pay for barriers, shuffles
//          and a place in the one remaining queue: 2^28 elements are 2^20 blocks, and so 2^20
//          atomic additions on *sum. Stage 4 changed nothing about that, and was hardly faster.
// Task     As many blocks as the GPU holds at once. Each thread strides through the array by
//          the whole grid, 16 bytes a load, and keeps its sum in a register. The block adds up only
//          once, at the end.
// Budget   Load 16 sectors per request (32 lanes x 16 B), a quarter of the requests. A few atomic
//          additions per multiprocessor, whatever n is.
//
//     grid of 3 threads                 in, as vectors of 4 floats
//     [0][1][2] [0][1][2] [0][1][2] [0][1]  + up to 3 elements that fill no vector
//      step 0    step 1    step 2   ...
//
// *sum is uninitialised before this stage, so it takes two launches: one clears, one adds.

// The sum of `value` over the block, in thread 0. All threads of the block must call it, once.
inline __device__ float block_sum(float value) {
  // TODO 1 (about 11 lines): the second half of your stage 4, as a function.
  return value;
}

// First launch: one thread.
__global__ void reduce_vector_clear(float* sum, const float* in, long long n, void* scratch) {
  // TODO 2 (about 1 line): what must be true of *sum before the second launch adds to it?
}

// Second launch: as many blocks as fit.
__global__ void reduce_vector_add(float* sum, const float* in, long long n, void* scratch) {
  // TODO 3 (about 2 lines): this thread's number, and the number of threads of the whole grid.

  // TODO 4 (about 6 lines): add up this thread's vectors: the one with its number, and then every
  // vector one grid further on. How many whole vectors are there?

  // TODO 5 (about 2 lines): up to 3 elements remain as a tail. Which threads take them?

  // TODO 6 (about 2 lines): one addition to *sum per block.
}

LAUNCH_PLAN(reduce_vector, Gpu gpu, long long n) {
  LaunchPlan plan = plan_with_scratch(0);
  // TODO 7 (about 3 lines): .then(KERNEL(name), shape) for both launches, in order. `gpu` knows the
  // number of multiprocessors and how many threads each of them holds.
  return plan;
}

// Stage 6: As fast as memory can be read
//
// Before   About 98 % of what the best library reaches. What is missing: a second launch costs 2 us
//          of 250, and the compiler decides whether loads are issued before additions.
// Task     Close the gap. Everything is yours: kernels, block, grid, loads per thread, launches.
//          Only the result and the time are graded.
// Budget   As in stage 5. The bar is reading the array once.
//
//     each thread      load load load load | add add add add | load load load load | ...
//     each block       stores its sum in scratch, and counts itself as finished
//     the last block   ... knows that it is the last, and adds the sums of all blocks

// TODO 1 (about 22 lines): the sum over a larger block, with one barrier in all: every warp adds by
// shuffles, and then one warp adds the sums of the warps.

// TODO 2 (about 32 lines): a kernel with your stage 5 in it. Change one thing at a time, and
// measure each: several loads in flight before the first addition; larger blocks.

// TODO 3 (about 20 lines): one launch instead of two: each block stores its sum in scratch, and
// the last one to do so adds them all. How does it know that it is the last, and what makes sure
// that it sees what the others have stored?

LAUNCH_PLAN(reduce_fast, Gpu gpu, long long n) {
  LaunchPlan plan = plan_with_scratch(0);
  // TODO 4 (about 3 lines): the launch, or launches, that go with it, and the scratch they need.
  return plan;
}

// Stage 7: A whole program with dynamic shared memory
//
// Before   The block had kThreads threads, and its shared memory as many words, because both were
//          known to the compiler.
// Task     A program that gets the number of threads when it runs: it reads "in" and "threads" (a
//          power of 2), writes "sums", the sum of each block's `threads` elements, and compares
//          each with the CPU's. No atomic addition: the same bits in every run.
// Demands  The words of a block are dynamic shared memory: the launch's third number is their
//          bytes. Every call is checked, and the launch. A sum that differs from the CPU's by more
//          than rounding ends the program with 1. All memory is freed.
//
//     in     [ threads elements ][ threads elements ][ the rest ]
//                block 0             block 1            block 2     each with words of its own:
//     sums   [       .          ][       .          ][    .     ]   threads * sizeof(float) bytes
//
//     sum_blocks<<<blocks, threads, bytes, stream>>>      without the fourth: the default stream
#ifdef MEMBOUND_PROGRAM
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "program.hpp"

// TODO 1 (about 8 lines): a macro CHECK_CUDA(call) of your own, which ends the program with 1 after
// a call that fails, and says in which line and why (lab 03, stage 7).

// Given: the name and the parameters of your kernel.
__global__ void sum_blocks(float* sums, const float* in, int n) {
  // TODO 2 (about 1 line): declare the block's words. Who decides how many there are?

  // TODO 3 (about 8 lines): the tree of stage 3 over blockDim.x words; then one thread writes the
  // block's sum to its place. Which elements does the last block have?
}

int main(int argc, char** argv) {
  // Given: the elements, and the number of threads of a block.
  const membound::Program program(argc, argv);
  const std::vector<float> in = program.read<float>("in");
  const int threads = program.read<int>("threads")[0];
  const int n = static_cast<int>(in.size());

  // TODO 4 (about 8 lines): how many blocks are there, and so how many sums? Memory on the host and
  // on the device, and the copy of `in`.

  // TODO 5 (about 5 lines): the launch with its three numbers, of which the last one counts bytes;
  // its error; the sums back to the host. What if there is no element?

  // TODO 6 (about 13 lines): each block's sum on the CPU, in double. How far from it may a sum of
  // `threads` floats be that was rounded after each addition? Count those that are further away.

  // TODO 7 (about 4 lines): write the output "sums", free the memory, return.
}
#endif
