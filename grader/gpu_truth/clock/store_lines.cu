// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Words stored down the columns of a matrix, as a transpose does it: each warp stores one word to
/// each of 32 lines. How fast L2 takes the lines, by how soon the rest of a sector follows: a block
/// fills 2, 8 or 32 columns of 32 rows, and the next block goes on along the rows or down them.
///
/// A program whose rows `filled_store_glines` and the counter `unfinished_store_lines` follow from.
#include "grader/gpu_truth/clock/words.cuh"
#include "grader/vgpu/calibration/timed.cuh"

namespace {

using u32 = unsigned;

struct Matrix {
  u32 rows, columns;
  bool along;  ///< the next block goes on with the same rows

  /// A row a lane, a column a warp.
  __device__ uint2 place() const {
    const u32 tiles_right = columns / blockDim.y, tiles_down = rows / 32;
    const u32 right = along ? blockIdx.x % tiles_right : blockIdx.x / tiles_down;
    const u32 down = along ? blockIdx.x / tiles_right : blockIdx.x % tiles_down;
    return {right * blockDim.y + threadIdx.y, down * 32 + threadIdx.x};
  }
};

template <typename Word>
__global__ void store_tiles(Word* out, Matrix matrix) {
  const auto [column, row] = matrix.place();
  out[std::size_t{row} * matrix.columns + column] = timed::word_of<Word>(row + column);
}
template <typename Word>
__global__ void transpose_tiles(Word* out, const Word* in, Matrix matrix) {
  const auto [column, row] = matrix.place();
  out[std::size_t{row} * matrix.columns + column] = in[std::size_t{column} * matrix.rows + row];
}

template <typename Word>
void time_words(timed::Bench& bench, void* out, const void* in) {
  for (const u32 mib : {32u, 256u})
    for (const u32 row_bytes : {128u, 4096u, 16384u, 65536u})
      for (const u32 warps : {2u, 8u, 32u})
        for (const bool along : {false, true}) {
          const u32 columns = row_bytes / sizeof(Word), rows = (mib << 20) / row_bytes;
          if (columns < warps || (columns == warps && !along)) continue;
          const Matrix matrix{rows, columns, along};
          const u32 blocks = rows / 32 * (columns / warps);
          const std::string name = std::to_string(sizeof(Word)) + " bytes a word " +
                                   std::to_string(warps) + " columns a block rows of " +
                                   std::to_string(row_bytes) + (along ? " along" : " down") +
                                   " of " + std::to_string(mib) + " MiB";
          bench("store", name,
                [&] { store_tiles<<<blocks, dim3(32, warps)>>>(static_cast<Word*>(out), matrix); });
          if (warps == 2) continue;
          bench("transpose", name, [&] {
            transpose_tiles<<<blocks, dim3(32, warps)>>>(static_cast<Word*>(out),
                                                         static_cast<const Word*>(in), matrix);
          });
        }
}

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  void *out = nullptr, *in = nullptr;
  const std::size_t bytes = std::size_t{256} << 20;
  timed::check(cudaMalloc(&out, bytes), "cudaMalloc");
  timed::check(cudaMalloc(&in, bytes), "cudaMalloc");
  timed::check(cudaMemset(in, 0, bytes), "cudaMemset");
  time_words<unsigned char>(bench, out, in);
  time_words<u32>(bench, out, in);
  time_words<uint2>(bench, out, in);
  time_words<uint4>(bench, out, in);
  return 0;
}
