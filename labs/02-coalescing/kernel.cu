// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 02: memory coalescing, four layouts of pictures  (handouts/02-coalescing/handout.md)
//
// Four kernels on pictures. None of them computes much; what differs is which floats the 32 lanes
// of a warp touch together. A budget counts what one instruction of one warp may cost: sectors are
// pieces of 32 bytes of global memory, four of them make a line. kernel.cuh has the data, the
// constants and at().
#include "kernel.cuh"

// Stage 1: Neighbouring lanes, neighbouring pixels
//
// Before   A CPU thread walks along a row (a blocked assignment). On a GPU that gives each lane
//          a range of its own, and each lane touches a sector of its own.
// Task     Invert a grey picture. A block has kThreads * kEach pixels of one row; each thread has
//          kEach of them, and loads all of them before it uses the first.
// Budget   As few sectors per request as 32 floats need, for loads and for stores.
//
//     4 lanes, 2 pixels each:   [ 0 0 1 1 2 2 3 3 ]    blocked: the CPU's habit
//                               [ 0 1 2 3 0 1 2 3 ]    striped: what a warp needs
__global__ void invert(float* out, const float* in, int rows, int cols, int pitch) {
  // TODO 1 (about 2 lines): this block's row, and the column of this thread's first pixel. The
  // launch below tells what blockIdx.x and blockIdx.y count.

  // Given: room for this thread's pixels, in registers.
  float grey[kEach];

  // TODO 2 (about 4 lines): load them all. How far apart are two pixels of one thread, so that the
  // lanes of a warp are neighbours in every load? Not every thread has kEach pixels.

  // TODO 3 (about 4 lines): store them, inverted.
}

// Given, as an example: blocks along x cover a row, and there are as many in y as there are rows.
LAUNCH_SHAPE(invert, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = dim3(ceil_div(cols, kThreads * kEach), rows);
  return shape;
}

// Stage 2: Misaligned rows
//
// Before   Stage 1 is fully coalesced if every row starts at a line. A picture of 4093 columns
//          without gaps has such a start in one row of 32; in the others a warp's 32 floats lie in
//          5 sectors and 2 lines.
// Task     Subtract from each pixel its left neighbour. Let each warp begin at a line, wherever
//          the row begins: some lanes of the row's first warp then have nothing to do.
// Budget   Stores, and loads of the pixels, as in stage 1; of their neighbours a sector more.
//
//     lines      |       |       |       |       |
//     row             [ a b c d e f g h i j k l ]     starts in the middle of a line
//     shifted           0 1 2 3|4 ...                 lane 0 at the row's start: 2 lines
//     aligned     - - - 0 1 2 3|0 1 ...               lanes before the row do nothing
__global__ void edges(float* out, const float* in, int rows, int cols, int pitch) {
  // TODO 1 (about 2 lines): where this block's row starts in `in` and `out`, and by how many floats
  // that is after the start of a line.

  // TODO 2 (about 1 line): the column of this thread's first pixel, so that lane 0 of every warp is
  // at the start of a line. It may be negative.

  // TODO 3 (about 7 lines): load this thread's pixels and their left neighbours. Which columns are
  // out of the row? What is left of column 0?

  // TODO 4 (about 4 lines): store the differences.
}

LAUNCH_SHAPE(edges, int rows, int cols, int pitch) {
  LaunchShape shape;
  // TODO 5 (about 2 lines): as in stage 1. A row that is misaligned reaches further to the right:
  // by how much at most?
  return shape;
}

// Stage 3: From an array of structs to a struct of arrays
//
// Before   A pixel r, g, b is a struct, and a picture an array of them. A warp that wants the red
//          of 32 pixels touches all 12 sectors of 384 bytes for 128 bytes of red.
// Task     Write a plane of red, one of green, one of blue. On one of the two sides the lanes of a
//          warp cannot be neighbours: choose the side where that costs less. Each thread has kPair
//          pixels, kThreads apart, and loads all of them before it stores the first.
// Budget   As few sectors per request as 32 floats need on the side where lanes are neighbours (one
//          more if a plane does not start at a sector). 24 bytes of each thread in flight.
//
//     in, array of structs      [ r g b r g b r g b r g b ... ]
//                                 |     |     |     |            a lane for each pixel?
//                                 | | | | | | | | | | | |        or a lane for each float?
//     out, struct of arrays     [ r r r r ... | g g g g ... | b b b b ... ]
__global__ void planes(float* out, const float* in, int rows, int cols, int pitch) {
  // TODO 1 (about 2 lines): how many pixels the picture has, and the first of this thread (if it is
  // a pixel that a thread has). There are no gaps, so rows do not matter.

  // Given: room for this thread's pixels, in registers.
  float color[kPair][kColors];

  // TODO 2 (about 4 lines): load the floats of all of them. The picture may end after the first.

  // TODO 3 (about 4 lines): store each float into its plane. How far is it from one plane to the
  // next?
}

LAUNCH_SHAPE(planes, int rows, int cols, int pitch) {
  LaunchShape shape;
  // TODO 4 (about 2 lines): the launch for your choice. rows * cols may pass 2^31.
  return shape;
}

// Stage 4: Structs that are loaded in one piece
//
// Before   Four floats are a pixel with its opacity, `struct { float r, g, b, a; }`. The compiler
//          may not assume that it lies at a multiple of 16 bytes, so it loads and stores the
//          members one by one: each of the 4 stores touches 16 sectors and fills a quarter of each.
// Task     Multiply r, g and b by a. Give the compiler the promise it needs.
// Budget   One request of each kind for 32 pixels, and every byte of its sectors used.
//
//     a warp's 32 pixels     [ r g b a | r g b a | r g b a | ... ]     512 bytes
//     4 bytes a lane           r         r         r                   one of four loads
//     16 bytes a lane          r g b a   r g b a   r g b a             one load
// TODO 1 (about 3 lines): a struct of four floats that is known to lie at multiples of 16 bytes.

__global__ void premultiply(float* out, const float* in, int rows, int cols, int pitch) {
  // TODO 2 (about 7 lines): one thread per pixel: take it as one such struct, multiply, and store
  // it as one.
}

LAUNCH_SHAPE(premultiply, int rows, int cols, int pitch) {
  LaunchShape shape;
  // TODO 3 (about 2 lines): as in stage 3, for one pixel a thread.
  return shape;
}
