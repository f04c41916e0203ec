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
  const int out_row = blockIdx.x * blockDim.x + threadIdx.x;

  if (out_row >= cols) return;

  // Neighbouring threads read neighbouring elements (4 sectors a warp), but write to different rows
  // of `out`: 32 lanes, 32 sectors, of which 4 bytes each are used.
  for (int row = 0; row < rows; ++row) {
    out[at(out_row, row, rows)] = in[at(row, out_row, cols)];
  }
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
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;

  if (row < rows && col < cols) {
    out[at(col, row, rows)] = in[at(row, col, cols)];
  }
}

LAUNCH_SHAPE(transpose_element_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  // 16 x 16 and not 32 x 8: a warp then covers two rows of `in`, so two of its lanes are neighbours
  // in `out` and share a sector. 16 sectors per store instead of 32, and twice the speed.
  shape.block = dim3(kBlock, kBlock);
  shape.grid = dim3(ceil_div(cols, kBlock), ceil_div(rows, kBlock));
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
  __shared__ T tile[kTile][kTile];

  // Given: the element of `in` that this thread reads.
  const int col = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  if (row < rows && col < cols) {
    tile[threadIdx.y][threadIdx.x] = in[at(row, col, cols)];
  }

  // From here on every thread may assume that the whole tile is filled.
  __syncthreads();

  const int out_col = blockIdx.y * kTile + threadIdx.x;
  const int out_row = blockIdx.x * kTile + threadIdx.y;
  if (out_row < cols && out_col < rows) {
    out[at(out_row, out_col, rows)] = tile[threadIdx.x][threadIdx.y];
  }
}

LAUNCH_SHAPE(transpose_tiled, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = dim3(kTile, kTile);
  shape.grid = dim3(ceil_div(cols, kTile), ceil_div(rows, kTile));
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
  // One unused column: row r starts r banks further on, so a column is a diagonal through
  // the banks. For double (two banks an element, half a warp at a time) the same width does it.
  __shared__ T tile[kTile][kTile + 1];

  const int col = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;
  if (row < rows && col < cols) {
    tile[threadIdx.y][threadIdx.x] = in[at(row, col, cols)];
  }

  // From here on every thread may assume that the whole tile is filled.
  __syncthreads();

  const int out_col = blockIdx.y * kTile + threadIdx.x;
  const int out_row = blockIdx.x * kTile + threadIdx.y;
  if (out_row < cols && out_col < rows) {
    out[at(out_row, out_col, rows)] = tile[threadIdx.x][threadIdx.y];
  }
}

LAUNCH_SHAPE(transpose_padded, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = dim3(kTile, kTile);
  shape.grid = dim3(ceil_div(cols, kTile), ceil_div(rows, kTile));
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
  __shared__ T tile[kTile][kTile + 1];
  const int col = blockIdx.x * kTile + threadIdx.x;
  const int row = blockIdx.y * kTile + threadIdx.y;

  // Unrolled, because a thread is to have all its loads in flight before one of them is waited for.
#pragma unroll
  for (int step = 0; step < kTile; step += kBlockRows) {
    if (row + step < rows && col < cols) {
      tile[threadIdx.y + step][threadIdx.x] = in[at(row + step, col, cols)];
    }
  }

  // From here on every thread may assume that the whole tile is filled.
  __syncthreads();

  const int out_col = blockIdx.y * kTile + threadIdx.x;
  const int out_row = blockIdx.x * kTile + threadIdx.y;
#pragma unroll
  for (int step = 0; step < kTile; step += kBlockRows) {
    if (out_row + step < cols && out_col < rows) {
      out[at(out_row + step, out_col, rows)] = tile[threadIdx.x][threadIdx.y + step];
    }
  }
}

LAUNCH_SHAPE(transpose_several_per_thread, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = dim3(kTile, kBlockRows);
  shape.grid = dim3(ceil_div(cols, kTile), ceil_div(rows, kTile));
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

// A tile is 512 bytes long in the direction of `out`'s rows, and a block writes whole tiles: 128 x
// 64 floats or 64 x 64 doubles, 32 KiB. 512 threads move it, four vectors of 16 bytes each.
inline constexpr int kFastThreads = 512;
inline constexpr int kFastCols = 64;  // columns of `in`, rows of `out`
__host__ __device__ constexpr int fast_rows(int element_bytes) { return 512 / element_bytes; }

// 16 bytes: 4 floats or 2 doubles.
template <typename T>
struct alignas(16) Vector {
  T element[16 / sizeof(T)];
};

// A whole tile whose rows start at multiples of 16 bytes on both sides. A thread takes a square of
// vectors (4 x 4 floats or 2 x 2 doubles), transposes it in its registers, and so can store vectors
// again. The vectors of a tile row are swizzled: vector v of row r lies at place v ^ (r / width),
// so that lanes along a row and lanes along a column both use all banks.
template <typename T>
inline __device__ void transpose_whole_tile(T* out, const T* in, int rows, int cols,
                                            Vector<T>* tile) {
  constexpr int kWidth = 16 / sizeof(T);                    // elements of a vector
  constexpr int kAcross = kFastCols / kWidth;               // squares along a row of `in`
  constexpr int kDown = fast_rows(sizeof(T)) / kWidth;      // squares along a row of `out`
  constexpr int kSquares = kAcross * kDown / kFastThreads;  // squares of a thread: 1 or 2

  Vector<T> square[kSquares][kWidth];
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
    const int x = (s * kFastThreads + threadIdx.x) % kAcross;
    const int y = (s * kFastThreads + threadIdx.x) / kAcross;
#pragma unroll
    for (int r = 0; r < kWidth; ++r) {
      square[s][r] = *reinterpret_cast<const Vector<T>*>(&in[at(y * kWidth + r, x * kWidth, cols)]);
    }
  }
#pragma unroll
  for (int s = 0; s < kSquares; ++s) {
    const int x = (s * kFastThreads + threadIdx.x) % kAcross;
    const int y = (s * kFastThreads + threadIdx.x) / kAcross;
#pragma unroll
    for (int c = 0; c < kWidth; ++c) {
      Vector<T> column;
#pragma unroll
      for (int r = 0; r < kWidth; ++r) column.element[r] = square[s][r].element[c];
      tile[(x * kWidth + c) * kDown + (y ^ x)] = column;
    }
  }
  // From here on every thread may assume that the whole tile is filled.
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kFastCols * kDown / kFastThreads; ++i) {
    const int row = (i * kFastThreads + threadIdx.x) / kDown;  // of `out`
    const int y = (i * kFastThreads + threadIdx.x) % kDown;
    *reinterpret_cast<Vector<T>*>(&out[at(row, y * kWidth, rows)]) =
        tile[row * kDown + (y ^ (row / kWidth))];
  }
}

// Any other tile: one element at a time, with guards, through a padded tile as in stage 5.
template <typename T>
inline __device__ void transpose_cut_tile(T* out, const T* in, int rows, int cols, int rows_left,
                                          int cols_left, T* tile) {
  constexpr int kRows = fast_rows(sizeof(T));
  constexpr int kWarps = kFastThreads / 32;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int y = 0; y < kRows; y += kWarps) {
#pragma unroll
    for (int x = 0; x < kFastCols; x += 32) {
      const int row = y + warp;
      const int col = x + lane;
      if (row < rows_left && col < cols_left) {
        tile[row * (kFastCols + 1) + col] = in[at(row, col, cols)];
      }
    }
  }
  // From here on every thread may assume that the whole tile is filled.
  __syncthreads();
#pragma unroll
  for (int x = 0; x < kFastCols; x += kWarps) {
#pragma unroll
    for (int y = 0; y < kRows; y += 32) {
      const int row = y + lane;
      const int col = x + warp;
      if (row < rows_left && col < cols_left) {
        out[at(col, row, rows)] = tile[row * (kFastCols + 1) + col];
      }
    }
  }
}

template <typename T>
__global__ void transpose_fast(T* out, const T* in, int rows, int cols) {
  constexpr int kRows = fast_rows(sizeof(T));
  constexpr int kWidth = 16 / sizeof(T);
  __shared__ __align__(16) T tile[kRows * (kFastCols + 1)];

  // Blocks are started in the order of blockIdx.x. It runs along the rows of `out`, so the blocks
  // that are at work together write whole rows of it, and memory gets long runs of stores.
  const int row = blockIdx.x * kRows;
  const int col = blockIdx.y * kFastCols;
  in += at(row, col, cols);
  out += at(col, row, rows);
  const bool aligned = rows % kWidth == 0 && cols % kWidth == 0;
  if (aligned && row + kRows <= rows && col + kFastCols <= cols) {
    transpose_whole_tile(out, in, rows, cols, reinterpret_cast<Vector<T>*>(tile));
  } else {
    transpose_cut_tile(out, in, rows, cols, rows - row, cols - col, tile);
  }
}

LAUNCH_SHAPE(transpose_fast, int rows, int cols, int element_bytes) {
  LaunchShape shape;
  shape.block = kFastThreads;
  shape.grid = dim3(ceil_div(rows, fast_rows(element_bytes)), ceil_div(cols, kFastCols));
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
#define CHECK_CUDA(call)                                                                         \
  do {                                                                                           \
    /* A macro is one line: each of its lines but the last ends with a backslash, yours, too. */ \
    const cudaError_t code = (call);                                                             \
    if (code != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(code));                 \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (false)

int main(int argc, char** argv) {
  // Given: the extents of the matrix, the matrix, and room for its transpose.
  const membound::Program program(argc, argv);
  const std::vector<int> extents = program.read<int>("extents");
  const int rows = extents[0];
  const int cols = extents[1];
  const std::vector<float> in = program.read<float>("in");
  std::vector<float> out(in.size());

  const std::size_t bytes = in.size() * sizeof(float);
  float *d_in, *d_out;
  CHECK_CUDA(cudaMalloc(&d_in, bytes));
  CHECK_CUDA(cudaMalloc(&d_out, bytes));
  CHECK_CUDA(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));

  // A launch returns nothing: its error is kept until cudaGetLastError() asks for it.
  const dim3 block(kTile, kTile);
  const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  if (rows > 0 && cols > 0) {
    transpose_padded<float><<<grid, block>>>(d_out, d_in, rows, cols);
    CHECK_CUDA(cudaGetLastError());
  }

  // The copy waits for the kernel, which is before it in the same stream.
  CHECK_CUDA(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));

  // Given: the output.
  program.write("out", out);

  // Nothing is computed, so no rounding has to be allowed for.
  long long wrong = 0;
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col)
      if (out[at(col, row, rows)] != in[at(row, col, cols)]) ++wrong;
  }
  std::printf("%lld of %d x %d elements differ from the CPU's\n", wrong, rows, cols);

  CHECK_CUDA(cudaFree(d_in));
  CHECK_CUDA(cudaFree(d_out));
  return wrong == 0 ? 0 : 1;
}
#endif
