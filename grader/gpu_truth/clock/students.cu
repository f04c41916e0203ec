// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Kernels as students hand them in for common exercises, each at one or two sizes, as a set that
/// no constant and no mechanism of the clock was chosen with: written and timed before the change
/// that they were first held against.
#include "grader/vgpu/calibration/timed.cuh"
#include "students_compute.cuh"

using namespace students;

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  constexpr u32 n = 1u << 22, most = 1u << 26;
  auto* ints = timed::drawn<int>(most, 1u << 30);
  auto* out = timed::drawn<int>(most + 1024);
  auto* near = timed::drawn<int>(n, 1u << 18);  // 1 MiB of words
  auto* far = timed::drawn<int>(n, most);       // 256 MiB of words
  auto* few = timed::drawn<int>(n, 100);
  auto* f = timed::drawn<float>(most, 1000);
  auto* d = timed::drawn<double>(n, 1000);
  auto* bytes = timed::drawn<unsigned char>(4 * n, 256);
  auto* f_out = reinterpret_cast<float*>(out);
  auto* d_out = reinterpret_cast<double*>(out);
  auto* u_out = reinterpret_cast<u32*>(out);
  auto* b_out = reinterpret_cast<unsigned char*>(out);
  std::vector<int> starts(65537), growing(65537);
  for (int i = 0; i < 65537; ++i)
    starts[i] = i * 32 + (i * 7919) % 29, growing[i] = i * (i / 64) / 4;
  starts[0] = 0;
  int *even_rows = nullptr, *uneven_rows = nullptr;
  timed::check(cudaMalloc(&even_rows, starts.size() * 4), "cudaMalloc");
  timed::check(cudaMalloc(&uneven_rows, growing.size() * 4), "cudaMalloc");
  cudaMemcpy(even_rows, starts.data(), starts.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(uneven_rows, growing.data(), growing.size() * 4, cudaMemcpyHostToDevice);
  auto* sorted = even_rows;
#define TIME(name, ...) bench("blind", name, [&] { __VA_ARGS__; })

  TIME("saxpy 1 Mi", saxpy<<<4096, 256>>>(f, f_out, n / 4, 2.0f));
  TIME("saxpy 16 Mi by blocks of 192", saxpy<<<87382, 192>>>(f, f_out, 1u << 24, 2.0f));
  TIME("swap halves of float2", swap_halves<<<n / 256, 256>>>((const float2*)f, (float2*)f_out));
  TIME("lengths of points of three words", lengths<<<n / 256, 256>>>(f, f_out));
  TIME("points from three arrays", to_points<<<n / 256, 256>>>(f, f_out, n));
  TIME("points into three arrays", from_points<<<n / 256, 256>>>(f, f_out, n));
  TIME("look up in 1 MiB", look_up<<<n / 256, 256>>>(f, near, f_out));
  TIME("look up in 256 MiB", look_up<<<n / 256, 256>>>(f, far, f_out));
  TIME("drop into 1 MiB", drop<<<n / 256, 256>>>(f, near, f_out));
  TIME("drop into 256 MiB", drop<<<n / 256, 256>>>(f, far, f_out));
  TIME("flags of bytes scattered", flags<<<n / 256, 256>>>(near, b_out));
  TIME("every third word", every_third<<<n / 256, 256>>>(f_out));
  TIME("matrix sum by blocks of 4 x 64",
       matrix_sum<<<dim3(512, 32), dim3(4, 64)>>>(f, f + n, f_out, 2048));
  TIME("matrix sum by blocks of 16 x 16",
       matrix_sum<<<dim3(128, 128), dim3(16, 16)>>>(f, f + n, f_out, 2048));
  TIME("blur 3 x 3, blocks of 16 x 16", blur<<<dim3(128, 128), dim3(16, 16)>>>(f, f_out, 2048));
  TIME("blur 3 x 3, blocks of 8 x 8", blur<<<dim3(128, 128), dim3(8, 8)>>>(f, f_out, 1024));
  TIME("blur 3 x 3 by tiles", blur_tiles<<<dim3(128, 128), dim3(16, 16)>>>(f, f_out, 2048));
  TIME("jacobi double", jacobi<<<dim3(64, 256), dim3(32, 8)>>>(d, d_out, 2048));
  TIME("game of life in bytes", life<<<dim3(64, 256), dim3(32, 8)>>>(bytes, b_out, 2048));
  TIME("17 taps", taps<<<n / 256, 256>>>(f, f_out));
  TIME("upper case by bytes", upper<<<4 * n / 256, 256>>>(bytes, b_out));
  TIME("upper case by four", upper4<<<n / 256, 256>>>((const uchar4*)bytes, (uchar4*)b_out));
  TIME("transpose bytes", transpose_bytes<<<dim3(64, 64), dim3(32, 32)>>>(bytes, b_out, 2048));
  TIME("transpose by columns", transpose_columns<<<dim3(64, 256), dim3(32, 8)>>>(f, f_out, 2048));
  TIME("column sums, 4 blocks", column_sums<<<4, 256>>>(f, f_out, 1024, 2048));
  TIME("column sums, 32 blocks of 64", column_sums<<<32, 64>>>(f, f_out, 2048, 2048));
  TIME("row sums, block a row", row_sums_block<<<2048, 256>>>(f, f_out, 2048));
  TIME("row sums, warp a row", row_sums_warp<<<512, 256>>>(f, f_out, 1024));
  TIME("row sums, thread a row", row_sums_thread<<<32, 128>>>(f, f_out, 1024));
  TIME("largest by atomics", largest<<<n / 1024, 256>>>(ints, out));
  TIME("dot product in double", dot_double<<<1024, 256>>>(d, d + n / 2, d_out, n / 2));
  TIME("histogram of bytes, global", byte_counts<<<n / 1024, 256>>>(bytes, u_out));
  TIME("histogram of bytes, shared", byte_counts_shared<<<512, 256>>>(bytes, u_out, 4 * n));
  TIME("votes for 100, global", votes_for<<<n / 1024, 256>>>(few, u_out));
  TIME("product double tiled 16",
       product_double<<<dim3(32, 32), dim3(16, 16)>>>(d, d + 262144, d_out, 512));
  TIME("product with rows and columns swapped",
       product_swapped<<<dim3(16, 16), dim3(16, 16)>>>(f, f + n, f_out, 256));
  TIME("product tiled 8", product_small<<<dim3(64, 64), dim3(8, 8)>>>(f, f + n, f_out, 512));
  TIME("bodies 4096", bodies<<<32, 128>>>((const float4*)f, (float4*)f_out, 4096));
  TIME("bodies 8192", bodies<<<32, 256>>>((const float4*)f, (float4*)f_out, 8192));
  TIME("mandelbrot 1024", mandelbrot<<<dim3(64, 64), dim3(16, 16)>>>(out, 1024, 128));
  TIME("collatz lengths", collatz_length<<<1024, 256>>>(out));
  TIME("primes by trial division", primes<<<256, 256>>>(out));
  TIME("greatest common divisors", divisors<<<4096, 256>>>(ints, ints + n, out));
  TIME("option prices", options<<<4096, 256>>>(f, f + n, f_out));
  TIME("exponentials in double", exponentials<<<2048, 128>>>(d, d_out));
  TIME("float quotients", quotients<<<n / 256, 256>>>(f, f_out));
  TIME("bits one by one", bits<<<n / 256, 256>>>(ints, out));
  TIME("pi by chance", pi_by_chance<<<528, 128>>>(u_out, 256));
  TIME("prefix sums of 512", prefix_sums<<<8192, 512>>>(ints, out));
  TIME("odd-even sort of 256", odd_even<<<1024, 256>>>(ints, out));
  TIME("insertion sort of 8", insertion<<<2048, 128>>>(ints, out));
  TIME("binary search", search<<<n / 256, 256>>>(sorted, ints, out, 65536));
  TIME("sparse rows, thread a row", sparse_thread<<<256, 256>>>(even_rows, near, f, f + n, f_out));
  TIME("sparse rows, warp a row", sparse_warp<<<8192, 256>>>(even_rows, near, f, f + n, f_out));
  TIME("growing rows, thread a row",
       sparse_thread<<<64, 256>>>(uneven_rows, near, f, f + n, f_out));
  TIME("one thread in four works", one_in_four<<<n / 256, 256>>>(f, f_out));
  TIME("one block of 64 threads", one_block<<<1, 64>>>(f, f_out, 65536));
  TIME("twenty blocks, 1024 threads", one_block<<<20, 1024>>>(f, f_out, n));
  TIME("ring in local memory", delays<<<2048, 256>>>(ints, out, 16));
  TIME("warp sums and one atomic a block", block_sums<<<4096, 512>>>(f, f_out));
  return 0;
}
