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
  const int row = blockIdx.y;
  const int first = blockIdx.x * kThreads * kEach + threadIdx.x;

  // Given: room for this thread's pixels, in registers.
  float grey[kEach];

  // A thread's pixels lie a block apart: in every step the 32 lanes of a warp read one line, four
  // full sectors.
  for (int k = 0; k < kEach; ++k) {
    const int col = first + k * kThreads;
    if (col < cols) grey[k] = in[at(row, col, pitch)];
  }

  for (int k = 0; k < kEach; ++k) {
    const int col = first + k * kThreads;
    if (col < cols) out[at(row, col, pitch)] = 1.0f - grey[k];
  }
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
  const long long start = at(blockIdx.y, 0, pitch);
  const int skip = static_cast<int>(start % kLineFloats);

  const int first = blockIdx.x * kThreads * kEach + threadIdx.x - skip;

  // The neighbour's load stays misaligned: 5 sectors. But the line before it is in L1, or on
  // its way there: nothing comes from memory twice.
  float here[kEach], left[kEach];
  for (int k = 0; k < kEach; ++k) {
    const int col = first + k * kThreads;
    if (col >= 0 && col < cols) here[k] = in[start + col];
    left[k] = col > 0 && col < cols ? in[start + col - 1] : 0.0f;
  }

  for (int k = 0; k < kEach; ++k) {
    const int col = first + k * kThreads;
    if (col >= 0 && col < cols) out[start + col] = here[k] - left[k];
  }
}

LAUNCH_SHAPE(edges, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = dim3(ceil_div(cols + kLineFloats - 1, kThreads * kEach), rows);
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
  const long long count = static_cast<long long>(rows) * cols;
  const long long first = static_cast<long long>(blockIdx.x) * kThreads * kPair + threadIdx.x;

  // Given: room for this thread's pixels, in registers.
  float color[kPair][kColors];

  // A pixel's first load reads all 12 sectors into L1, and the other two find them there. A store
  // finds nothing: L2 has to merge the sectors that it does not fill.
  for (int k = 0; k < kPair; ++k) {
    const long long pixel = first + k * kThreads;
    for (int c = 0; c < kColors && pixel < count; ++c) color[k][c] = in[pixel * kColors + c];
  }

  for (int k = 0; k < kPair; ++k) {
    const long long pixel = first + k * kThreads;
    for (int c = 0; c < kColors && pixel < count; ++c) out[c * count + pixel] = color[k][c];
  }
}

LAUNCH_SHAPE(planes, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(static_cast<long long>(rows) * cols, kThreads * kPair);
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
struct alignas(16) Pixel {
  float r, g, b, a;
};

__global__ void premultiply(float* out, const float* in, int rows, int cols, int pitch) {
  const long long pixel = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (pixel < static_cast<long long>(rows) * cols) {
    Pixel value = reinterpret_cast<const Pixel*>(in)[pixel];
    value.r *= value.a;
    value.g *= value.a;
    value.b *= value.a;
    reinterpret_cast<Pixel*>(out)[pixel] = value;
  }
}

LAUNCH_SHAPE(premultiply, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(static_cast<long long>(rows) * cols, kThreads);
  return shape;
}
