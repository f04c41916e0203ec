// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 03: transpose a matrix, six times           (handouts/03-transpose/handout.md)
//
// Six kernels, each headed by what was wrong with the one before, then a whole program. A budget
// counts what one instruction of one warp (32 lanes) may cost: sectors are pieces of 32 bytes of
// global memory, wavefronts are passes through shared memory. Of two numbers, the first is for
// float and the second for double. kernel.cuh has the data, the constants and at().
#include "kernel.cuh"

// Stage 1: One thread per row
//
// Before   The CPU walks two nested loops. No iteration needs another one's result.
// Task     Give every row of `out` to one thread of its own; the inner loop stays a loop.
// Budget   Load 4 / 8 sectors per request, store 32: far too many, and that is fine for now.
//
//     in                                out
//       col  0  1  2 ...                  thread 0 -> [ . . . . . . . ]   a row of out
//     row 0 [a  b  c ...]                 thread 1 -> [ . . . . . . . ]   is a column of in
//     row 1 [d  e  f ...]                 thread 2 -> [ . . . . . . . ]
//            |  |  |
//            threads 0, 1, 2 walk down together
template <typename T>
__global__ void transpose_row_per_thread(T* out, const T* in, int rows, int cols) {
  // TODO 1 (about 1 line): which row of `out` belongs to this thread, counted over all blocks?

  // TODO 2 (about 1 line): the last block may have more threads than rows are left. What must the
  // surplus threads do?

  // TODO 3 (about 3 lines): fill that row. Which column of `in` does it come from, and how wide is
  // each of the two matrices? at(row, column, width) does the arithmetic.
}

// Given, as an example: a launch is a grid of blocks, and a block a number of threads.
LAUNCH_SHAPE(transpose_row_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(cols, kThreads);
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_row_per_thread)

// Stage 2: One thread per element
//
// Before   2048 rows make 2048 threads, which is 8 blocks: not even one for every multiprocessor.
//          Each thread waits for its own load, and there is no other warp to use the time.
// Task     Both loops become threads. The block and the grid now have two dimensions.
// Budget   Load 4 / 8 sectors per request, store 16: choose the block with care.
//
//     a block of 16 x 16, cut into warps      what one warp does
//     y 0  [ lanes  0..15 ] warp 0            reads 16 neighbours from each of  2 rows of in
//     y 1  [ lanes 16..31 ] warp 0            writes 2 neighbours to each of   16 rows of out
//     y 2  [ lanes  0..15 ] warp 1
template <typename T>
__global__ void transpose_element_per_thread(T* out, const T* in, int rows, int cols) {
  // TODO 1 (about 2 lines): this thread's column and row of `in`. Lanes of a warp follow each other
  // along x: which of the two should threadIdx.x be?

  // TODO 2 (about 3 lines): move the one element. Blocks at the right and at the bottom edge extend
  // beyond the matrix.
}

LAUNCH_SHAPE(transpose_element_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): a block of kBlock x kBlock threads, and enough blocks for all columns
  // (x) and all rows (y).
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_element_per_thread)

// Stage 3: A tile in shared memory
//
// Before   Reading along rows is writing along columns: of every 32-byte sector that a store
//          touches, only 8 bytes (float) are used.
// Task     A block reads a tile along the rows of `in`, keeps it in shared memory, and writes it
//          along the rows of `out`. It is transposed on the chip, where columns cost no sectors.
// Budget   Load and store 4 / 8 sectors per request. In shared memory the store takes 1 / 2
//          wavefronts and the load 32; the next stage mends that.
//
//     in, block (x, y)          tile                      out, block (y, x)
//     [ ---> ]   load rows    [ ---> ]  [ | | | ]  store rows   [ ---> ]
//     [ ---> ]  ----------->  [ ---> ]  [ | | | ] ----------->  [ ---> ]
//     [ ---> ]                [ ---> ]  [ v v v ]               [ ---> ]
//                              stored    loaded
template <typename T>
__global__ void transpose_tiled(T* out, const T* in, int rows, int cols) {
  // TODO 1 (about 1 line): declare a tile of kTile x kTile elements that the whole block shares.

  // Given: the element of `in` that this thread reads.
  const int col = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  if (row < rows && col < cols) {
    // TODO 2 (about 1 line): put it into the tile, at this thread's own place.
  }

  // TODO 3 (about 1 line): each thread will need an element that another thread has loaded. What
  // must be true before any thread reads?

  // TODO 4 (about 5 lines): the element of `out` that this thread writes. threadIdx.x still runs
  // along a row, now a row of `out`. So which are swapped: the block indices, or those of
  // the thread? Which way is the tile read? And which edges does `out` have?
}

LAUNCH_SHAPE(transpose_tiled, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): one block per tile, one thread per element of the tile.
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_tiled)

// Stage 4: A padded tile
//
// Before   Global accesses are fully coalesced, and the kernel is hardly faster: 32 lanes that
//          read one column of the tile all need the same bank, and are served in turn.
// Task     The same kernel, with a tile whose columns run through all 32 banks.
// Budget   Load and store 4 / 8 sectors per request. Shared memory: 1 / 2 wavefronts each way.
//
//     banks of column 0, rows 0, 1, 2, ...         bank = (row * width + column) mod 32
//     32 wide:   0  0  0  0  0 ...  0
//     ?? wide:   0  1  2  3  4 ... 31
template <typename T>
__global__ void transpose_padded(T* out, const T* in, int rows, int cols) {
  // TODO 1 (about 15 lines): start from your stage 3. How wide must a row of the tile be, so that
  // one step down is one bank further?
}

LAUNCH_SHAPE(transpose_padded, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  // TODO 2 (about 2 lines): as in stage 3. Does the padding change the launch?
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_padded)

// Stage 5: Several elements per thread
//
// Before   Every access is ideal, yet the memory is idle at times: a thread loads 4 bytes, then
//          waits at the barrier. Doubles are faster only because they load 8.
// Task     The same tile with a quarter of the threads. Each moves 4 elements, and all its 4 loads
//          are in flight before the first of them is used.
// Budget   As in stage 4, with 4 independent loads per thread before the barrier.
//
//     tile, 32 x 32                          block, 32 x 8
//     rows  0.. 7   step 0   thread (x, y) takes rows  y, y + 8, y + 16, y + 24
//     rows  8..15   step 8
//     rows 16..23   step 16
//     rows 24..31   step 24
template <typename T>
__global__ void transpose_several_per_thread(T* out, const T* in, int rows, int cols) {
  // TODO 1 (about 3 lines): the tile of stage 4, and the first element of `in` that this thread
  // reads. The others are kBlockRows, 2 * kBlockRows, ... rows further down.

  // TODO 2 (about 5 lines): fill the tile in steps of kBlockRows rows. Which part of the guard has
  // to be tested again in every step?

  // TODO 3 (about 1 line): and before the tile is read?

  // TODO 4 (about 7 lines): write it in the same steps, along the rows of `out`.
}

LAUNCH_SHAPE(transpose_several_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): a block still covers a whole tile, with kBlockRows rows of threads.
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_several_per_thread)

// Stage 6: As fast as a copy
//
// Before   Nearly nine tenths of what a plain copy reaches. A block writes 128 bytes of a row of
//          `out`; the next 128 bytes are another block's work, at another time.
// Task     Close the gap. Everything is yours: tile, block, elements per thread, and which block
//          takes which tile. Only the result and the time are graded.
// Budget   As in stage 4, or 16 sectors per request with vectors of 16 bytes. The bar is a copy.
//
//     blocks start in the order 0, 1, 2, ...: x first, then y
//     in       [ 0 ][ 1 ][ 2 ][ 3 ]      out   [ 0 ][ 4 ]
//              [ 4 ][ 5 ][ 6 ][ 7 ]            [ 1 ][ 5 ]      which rows of `out` are whole
//                                              [ 2 ][ 6 ]      when blocks 0 to 3 are done?
//                                              [ 3 ][ 7 ]
// TODO 1 (about 10 lines): the extents of a tile, the threads of a block, a type of 16 bytes. Start
// from your stage 5 and change one thing at a time: a larger tile, the order of the blocks, whole
// tiles without guards, vectors. Measure each.

// TODO 2 (about 45 lines): a function for a tile that lies inside of both matrices: no guards, and
// where every row starts at a multiple of 16 bytes, vectors. In which banks does it store them?

// TODO 3 (about 35 lines): a function for any other tile, one element at a time, as in stage 5.

template <typename T>
__global__ void transpose_fast(T* out, const T* in, int rows, int cols) {
  // TODO 4 (about 15 lines): the tile in shared memory, which tile of the matrix this block takes
  // (blocks start in the order of blockIdx.x), and which of the two functions moves it.
}

LAUNCH_SHAPE(transpose_fast, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): the launch that goes with your tile. Which extent belongs on x?
  return shape;
}
INSTANTIATE_TRANSPOSE(transpose_fast)

// Stage 7: A whole program
//
// Before   Somebody else has launched your kernels: arrays, grid, copies and checks were given.
// Task     The program around your stage 4. It reads "in" and "extents" (rows and columns),
//          launches transpose_padded<float>, compares what comes back with the CPU's transpose, and
//          writes "out".
// Demands  A launch in two dimensions. Every call is checked, and the launch. A result that differs
//          from the CPU's ends the program with 1. All memory is freed.
//
//     host      in ---.                         .---> out   <-- compared --> the CPU's transpose
//                     | cudaMemcpy   cudaMemcpy |
//     device          '--> d_in ----> d_out ----'
//               transpose_padded<float><<<dim3 grid, dim3 block>>>
#ifdef MEMBOUND_PROGRAM
#include <cstdio>
#include <cstdlib>

#include "program.hpp"

// Your check of a call: CHECK_CUDA(cudaMalloc(…));
// TODO 1 (about 5 lines): inside of the braces, make the call, once. Where it does not return
// cudaSuccess, print the line (__LINE__) and cudaGetErrorString(…) to stderr, and end the program
// with 1. Why is this a macro, and no function?
#define CHECK_CUDA(call)                                                                         \
  do {                                                                                           \
    /* A macro is one line: each of its lines but the last ends with a backslash, yours, too. */ \
  } while (false)

int main(int argc, char** argv) {
  // Given: the extents of the matrix, the matrix, and room for its transpose.
  const membound::Program program(argc, argv);
  const std::vector<int> extents = program.read<int>("extents");
  const int rows = extents[0];
  const int cols = extents[1];
  const std::vector<float> in = program.read<float>("in");
  std::vector<float> out(in.size());

  // TODO 2 (about 5 lines): memory for both matrices on the device, and `in` into the first one.
  // How many bytes has each of them?

  // TODO 3 (about 6 lines): the block and the grid, in two dimensions each; the launch; its error.
  // Which of rows and columns is counted along x? What if the matrix has no element?

  // TODO 4 (about 1 line): the transpose back to the host.

  // Given: the output.
  program.write("out", out);

  // TODO 5 (about 6 lines): go through all elements as the CPU would transpose them. How many of
  // them are not what came back? Print that number.

  // TODO 6 (about 3 lines): free the memory. What does main return if an element is wrong?
}
#endif
