// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times the kernels of kernels_memory.cuh and kernels_compute.cuh: 16 MiB arrays, some of them
/// also larger. Rows alternate between `fit`, to which a model's constants may be adjusted, and
/// `hold`, to which they may not.
#include "grader/vgpu/calibration/timed.cuh"
#include "kernels_compute.cuh"

using namespace kernels;

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  constexpr u32 n = 1u << 22;     // 16 MiB of 4-byte words
  constexpr u32 most = 1u << 25;  // 128 MiB
  int* in = timed::drawn<int>(most + 1024);
  int* out = timed::drawn<int>(most + 1024);
  int* index = timed::drawn<int>(n, n);
  auto* f_in = reinterpret_cast<float*>(in);
  auto* f_out = reinterpret_cast<float*>(out);
  auto* d_in = reinterpret_cast<double*>(in);
  auto* d_out = reinterpret_cast<double*>(out);
  auto* v_in = reinterpret_cast<float4*>(in);
  auto* v_out = reinterpret_cast<float4*>(out);
  auto* bins = reinterpret_cast<u32*>(timed::drawn<int>(1 << 16));
  int row = 0;
  const auto time = [&](const std::string& name, auto&& launch) {
    bench(row++ % 2 == 0 ? "fit" : "hold", name, launch);
  };
#define TIME(name, ...) time(name, [&] { __VA_ARGS__; })

  for (const u32 threads : {32u, 64u, 128u, 256u, 512u, 1024u})
    TIME("copy int: blocks of " + std::to_string(threads), copy<<<n / threads, threads>>>(in, out));
  TIME("copy float4", copy<<<n / 1024, 256>>>(v_in, v_out));
  TIME("copy double", copy<<<n / 512, 256>>>(d_in, d_out));
  TIME("copy char",
       copy<<<4 * n / 256, 256>>>(reinterpret_cast<char*>(in), reinterpret_cast<char*>(out)));
  TIME("copy short",
       copy<<<2 * n / 256, 256>>>(reinterpret_cast<short*>(in), reinterpret_cast<short*>(out)));
  TIME("copy 4 ints a thread", copy_several<int, 4><<<n / 1024, 256>>>(in, out));
  TIME("copy 8 ints a thread", copy_several<int, 8><<<n / 2048, 256>>>(in, out));
  TIME("copy grid-stride 1056 blocks", copy_stride<<<1056, 256>>>(in, out, n));
  TIME("copy grid-stride 132 blocks", copy_stride<<<132, 256>>>(in, out, n));
  TIME("copy grid-stride 33 blocks", copy_stride<<<33, 256>>>(in, out, n));
  TIME("copy grid-stride 4 blocks", copy_stride<<<4, 256>>>(in, out, n));
  TIME("copy int 128 MiB", copy<<<most / 256, 256>>>(in, out));
  TIME("copy float4 128 MiB", copy<<<most / 1024, 256>>>(v_in, v_out));
  TIME("copy int 1 MiB", copy<<<1024, 256>>>(in, out));
  TIME("copy int 4 MiB", copy<<<4096, 256>>>(in, out));
  TIME("copy int 64 MiB", copy<<<65536, 256>>>(in, out));
  TIME("copy float4 64 MiB", copy<<<16384, 256>>>(v_in, v_out));
  for (const u32 stride : {2u, 4u, 8u, 32u}) {
    const std::string by = std::to_string(stride);
    TIME("loads by " + by, strided<true, false><<<n / 256, 256>>>(in, out, n, stride));
    TIME("stores by " + by, strided<false, true><<<n / 256, 256>>>(in, out, n, stride));
    TIME("both by " + by, strided<true, true><<<n / 256, 256>>>(in, out, n, stride));
  }
  TIME("offset 1", offset_copy<<<n / 256, 256>>>(in, out, 1));
  TIME("offset 17", offset_copy<<<n / 256, 256>>>(in, out, 17));
  TIME("reverse", reverse<<<n / 256, 256>>>(in, out, n));
  TIME("reverse 128 MiB", reverse<<<most / 256, 256>>>(in, out, most));
  TIME("fill", fill<<<n / 256, 256>>>(out));
  TIME("fill 128 MiB", fill<<<most / 256, 256>>>(out));
  TIME("triad", triad<<<n / 256, 256>>>(f_in, f_in + n, f_out));
  TIME("triad 128 MiB", triad<<<most / 512, 256>>>(f_in, f_in + most / 2, f_out));
  TIME("only read", only_read<<<1056, 256>>>(v_in, f_out, n / 4));
  TIME("only read 128 MiB", only_read<<<1056, 256>>>(v_in, f_out, most / 4));
  TIME("stencil of 3", stencil3<<<n / 256, 256>>>(f_in, f_out, n));
  TIME("stencil of 5 points", stencil5<<<dim3(64, 256), dim3(32, 8)>>>(f_in, f_out, 2048));
  TIME("gather", gather<<<n / 256, 256>>>(in, index, out));
  TIME("scatter", scatter<<<n / 256, 256>>>(in, index, out));

  TIME("transpose rows", transpose_row<<<8, 256>>>(in, out, 2048));
  TIME("transpose rows 4096", transpose_row<<<16, 256>>>(in, out, 4096));
  TIME("transpose naive 16x16", transpose_naive<<<dim3(128, 128), dim3(16, 16)>>>(in, out, 2048));
  TIME("transpose naive 32x8", transpose_naive<<<dim3(64, 256), dim3(32, 8)>>>(in, out, 2048));
  TIME("transpose tile 16",
       transpose_tile<int, 16, 16, 0><<<dim3(128, 128), dim3(16, 16)>>>(in, out, 2048));
  TIME("transpose tile 32",
       transpose_tile<int, 32, 32, 0><<<dim3(64, 64), dim3(32, 32)>>>(in, out, 2048));
  TIME("transpose tile 16 padded",
       transpose_tile<int, 16, 16, 1><<<dim3(128, 128), dim3(16, 16)>>>(in, out, 2048));
  TIME("transpose tile 32 padded",
       transpose_tile<int, 32, 32, 1><<<dim3(64, 64), dim3(32, 32)>>>(in, out, 2048));
  TIME("transpose 32x8",
       transpose_tile<int, 32, 8, 1><<<dim3(64, 64), dim3(32, 8)>>>(in, out, 2048));
  TIME("transpose 32x8 4096",
       transpose_tile<int, 32, 8, 1><<<dim3(128, 128), dim3(32, 8)>>>(in, out, 4096));
  TIME("transpose 32x4",
       transpose_tile<int, 32, 4, 1><<<dim3(64, 64), dim3(32, 4)>>>(in, out, 2048));
  TIME("transpose double 32x8",
       transpose_tile<double, 32, 8, 1><<<dim3(64, 64), dim3(32, 8)>>>(d_in, d_out, 2048));
  TIME("transpose double naive",
       transpose_naive<<<dim3(64, 256), dim3(32, 8)>>>(d_in, d_out, 2048));

  TIME("sum in one word: 1 MiB", sum_one_word<<<1024, 256>>>(f_in, f_out));
  TIME("sum shared atomic float", sum_shared_atomic<<<n / 256, 256>>>(f_in, f_out));
  TIME("sum shared atomic int", sum_shared_atomic<<<n / 256, 256>>>(in, out));
  TIME("sum tree", sum_tree<<<n / 256, 256>>>(f_in, f_out));
  TIME("sum shuffle", sum_shuffle<<<n / 256, 256>>>(f_in, f_out));
  TIME("sum shuffle 1024", sum_shuffle<<<n / 1024, 1024>>>(f_in, f_out));
  TIME("sum vectors", sum_vectors<<<1056, 256>>>(v_in, f_out, n / 4));
  TIME("sum vectors 128 MiB", sum_vectors<<<1056, 256>>>(v_in, f_out, most / 4));
  TIME("first block sums", sum_by_first_block<<<1024, 256>>>(f_in, f_out, n));
  TIME("first block copies", first_block_copies<<<1024, 1024>>>(in, out, n));
  TIME("one warp of 8 copies", one_warp_copies<<<n / 256, 256>>>(in, out));
  TIME("one warp of 32 copies", one_warp_copies<<<n / 1024, 1024>>>(in, out));
  TIME("one thread of 256 copies", one_thread_copies<<<n / 256, 256>>>(in, out));
  TIME("one block of 2 copies", few_blocks_copy<<<n / 256, 256>>>(in, out, 2));
  TIME("one block of 16 copies", few_blocks_copy<<<n / 256, 256>>>(in, out, 16));
  TIME("one block of 256 copies", few_blocks_copy<<<n / 256, 256>>>(in, out, 256));
  TIME("triangle", triangle<<<2048, 256>>>(f_in, f_out, 2048));

  TIME("polynomial 64", polynomial<64><<<n / 256, 256>>>(f_in, f_out));
  TIME("polynomial 512", polynomial<512><<<n / 256, 256>>>(f_in, f_out));
  TIME("polynomial 64 double", polynomial<64><<<n / 512, 256>>>(d_in, d_out));
  TIME("sines 32", sines<32><<<n / 256, 256>>>(f_in, f_out));
  TIME("divisions", divisions<<<n / 256, 256>>>(in, out, 7));
  TIME("two ways", two_ways<<<n / 256, 256>>>(f_in, f_out));
  TIME("many ways", many_ways<<<n / 256, 256>>>(f_in, f_out));
  TIME("local array", local_array<<<n / 256, 256>>>(in, out, n));

  TIME("matrix times vector: thread a row",
       matrix_vector_rows<<<8, 256>>>(f_in, f_out, f_out + n, 2048));
  TIME("matrix times vector: warp a row",
       matrix_vector_warps<<<256, 256>>>(f_in, f_out, f_out + n, 2048));
  TIME("product naive 512",
       product_naive<<<dim3(16, 64), dim3(32, 8)>>>(f_in, f_in + n, f_out, 512));
  TIME("product naive 16x16 512",
       product_naive<<<dim3(32, 32), dim3(16, 16)>>>(f_in, f_in + n, f_out, 512));
  TIME("product tiled 16",
       product_tiled<16><<<dim3(32, 32), dim3(16, 16)>>>(f_in, f_in + n, f_out, 512));
  TIME("product tiled 32",
       product_tiled<32><<<dim3(32, 32), dim3(32, 32)>>>(f_in, f_in + n, f_out, 1024));
  TIME("product registers 1024",
       product_registers<<<dim3(16, 16), 256>>>(f_in, f_in + n, f_out, 1024));
  TIME("product registers 512", product_registers<<<dim3(8, 8), 256>>>(f_in, f_in + n, f_out, 512));

  for (const u32 stride : {1u, 2u, 8u, 32u})
    TIME("banks by " + std::to_string(stride), banks<<<4096, 256>>>(in, out, stride));
  TIME("64 barriers: 64 threads", many_barriers<<<n / 1024, 64>>>(in, out, 64));
  TIME("64 barriers: 256 threads", many_barriers<<<n / 1024, 256>>>(in, out, 64));
  TIME("64 barriers: 1024 threads", many_barriers<<<n / 4096, 1024>>>(in, out, 64));
  TIME("bitonic", bitonic<<<n / 2048, 512>>>(out));
  TIME("scan of blocks", scan_blocks<<<n / 256, 256>>>(in, out));
  TIME("16 block fences", fences<16, 0><<<n / 256, 256>>>(in, out));
  TIME("4 device fences", fences<4, 1><<<n / 1024, 256>>>(in, out));
  TIME("16 device fences", fences<16, 1><<<n / 1024, 256>>>(in, out));
  TIME("4 system fences", fences<4, 2><<<n / 1024, 256>>>(in, out));
  TIME("8 matches", matches<8><<<n / 256, 256>>>(in, out));
  TIME("32 votes", votes<32><<<n / 256, 256>>>(in, out));
  TIME("histogram in 256 words", histogram_global<<<n / 256, 256>>>(in, bins, 255));
  TIME("histogram in 65536 words", histogram_global<<<n / 256, 256>>>(in, bins, 65535));
  TIME("histogram in 64 words", histogram_global<<<n / 1024, 256>>>(in, bins, 63));
  TIME("histogram shared", histogram_shared<<<1056, 256>>>(in, bins, n));
  TIME("histogram shared: block a piece", histogram_shared<<<n / 1024, 256>>>(in, bins, n));
  TIME("tickets", tickets<<<n / 256, 256>>>(in, out, bins));
  TIME("constant: one word", constant_index<<<n / 256, 256>>>(in, f_out, 0));
  TIME("constant: divergent", constant_index<<<n / 256, 256>>>(in, f_out, 1));
  return 0;
}
