// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: libraries on top: cooperative groups, CUB block and device algorithms, <cuda/std>.
#include "grader/gpu_truth/conformance/conformance.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/tuple>

namespace cg = cooperative_groups;

namespace {

/// Storage for CUB's block algorithms, reused one after the other.
template <typename Algorithm>
__device__ typename Algorithm::TempStorage& storage() {
  __shared__ typename Algorithm::TempStorage memory;
  __syncthreads();
  return memory;
}

}  // namespace

CASE_GRID(tiles_of_each_size, 5 * 64, dim3(1), dim3(64)) {
  const auto block = cg::this_thread_block();
  const auto t16 = cg::tiled_partition<16>(block);
  const auto t4 = cg::tiled_partition<4>(block);
  out[lane] = t16.thread_rank() * 100 + t16.meta_group_rank();
  out[lane + 64] = t4.shfl(lane, 2);
  out[lane + 128] = t16.ballot(lane % 3 == 0);
  out[lane + 192] = cg::reduce(t16, lane, cg::plus<int>());
  out[lane + 256] = cg::reduce(t4, lane ^ 5, cg::greater<int>());
}
CASE_GRID(tile_scans, 128, dim3(1), dim3(64)) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  out[lane] = cg::inclusive_scan(tile, lane + 1);
  out[lane + 64] = cg::exclusive_scan(tile, lane * 2, cg::plus<int>());
}
CASE(coalesced_groups, 64) {
  out[lane] = 77;
  if (lane % 3 == 1) {
    const auto active = cg::coalesced_threads();
    out[lane] = active.size() * 1000 + active.thread_rank();
    out[lane + 32] = active.shfl(lane, 1) + active.any(lane == 4);
  }
}
CASE(labeled_partition, 64) {
  const auto active = cg::coalesced_threads();
  const auto same = cg::labeled_partition(active, lane % 5);
  out[lane] = same.size() * 100 + same.thread_rank();
  out[lane + 32] = cg::reduce(same, lane, cg::plus<int>());
}
CASE(cub_warp_reduce_and_scan, 96) {
  using Reduce = cub::WarpReduce<int>;
  using Scan = cub::WarpScan<int>;
  __shared__ Reduce::TempStorage reduce_memory;
  __shared__ Scan::TempStorage scan_memory;
  int inclusive, exclusive;
  Scan(scan_memory).Scan(lane * 3, inclusive, exclusive, 100, [](int a, int b) { return a + b; });
  out[lane] = inclusive, out[lane + 32] = exclusive;
  const int sum = Reduce(reduce_memory).Sum(lane * lane);
  if (lane == 0) out[64] = sum;
}
CASE_GRID(cub_block_reduce, 4, dim3(1), dim3(128)) {
  using Tree = cub::BlockReduce<int, 128, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  using Raking = cub::BlockReduce<unsigned, 128, cub::BLOCK_REDUCE_RAKING>;
  const int sum = Tree(storage<Tree>()).Sum(lane * 7);
  const unsigned product =
      Raking(storage<Raking>()).Reduce(lane | 1u, [](unsigned a, unsigned b) { return a * b; });
  if (lane == 0) out[0] = sum, out[1] = product;
}
CASE_GRID(cub_block_scan, 256, dim3(1), dim3(128)) {
  using Scan = cub::BlockScan<int, 128>;
  int items[2] = {static_cast<int>(conformance::input_U32(lane) & 0xfff), lane};
  Scan(storage<Scan>()).ExclusiveSum(items, items);
  out[lane] = items[0], out[lane + 128] = items[1];
}
CASE_GRID(cub_block_radix_sort, 512, dim3(1), dim3(128)) {
  using Sort = cub::BlockRadixSort<unsigned, 128, 2, int>;
  unsigned keys[2] = {conformance::input_U32(lane) ^ lane, conformance::input_U32(lane + 3) * 7};
  int values[2] = {lane, -lane};
  Sort(storage<Sort>()).Sort(keys, values);
  out[lane * 2] = keys[0], out[lane * 2 + 1] = keys[1];
  out[256 + lane * 2] = values[0], out[256 + lane * 2 + 1] = values[1];
}
CASE_GRID(cub_block_sort_floats_descending, 128, dim3(1), dim3(128)) {
  using Sort = cub::BlockRadixSort<float, 128, 1>;
  float keys[1] = {static_cast<float>((lane * 37) % 128) - 64.0f};
  Sort(storage<Sort>()).SortDescending(keys);
  out[lane] = __float_as_uint(keys[0]);
}
CASE_GRID(cub_block_histogram, 16, dim3(1), dim3(64)) {
  using Histogram = cub::BlockHistogram<unsigned char, 64, 2, 16>;
  __shared__ unsigned bins[16];
  unsigned char samples[2] = {static_cast<unsigned char>(lane % 16),
                              static_cast<unsigned char>(lane * lane % 16)};
  Histogram(storage<Histogram>()).Histogram(samples, bins);
  __syncthreads();
  if (lane < 16) out[lane] = bins[lane];
}
CASE_GRID(cub_block_load_transpose, 256, dim3(1), dim3(64)) {
  using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __device__ static int numbers[256];
  for (int i = lane; i < 256; i += 64) numbers[i] = i * i;
  __syncthreads();
  int items[4];
  Load(storage<Load>()).Load(numbers, items);
  for (int i = 0; i < 4; ++i) items[i] += lane;
  Store(storage<Store>()).Store(reinterpret_cast<int*>(out), items);
}
CASE(std_tuple_array_bit, 96) {
  cuda::std::array<int, 4> numbers = {lane, lane * 2, lane * 3, 4};
  const auto [sum, last] =
      cuda::std::make_tuple(numbers[0] + numbers[1] + numbers[2], numbers.back());
  out[lane] = sum * 10 + last;
  out[lane + 32] = cuda::std::popcount(conformance::input_U32(lane)) * 100 +
                   cuda::std::countl_zero(conformance::input_U32(lane));
  out[lane + 64] = cuda::std::rotl(conformance::input_U32(lane), 7) ^
                   cuda::std::bit_ceil(static_cast<unsigned>(lane));
}
CASE(std_complex_products, 64) {
  const cuda::std::complex<float> a(lane, 1.5f), b(-0.25f, lane + 1.0f);
  const auto c = a * b;
  out[lane] = __float_as_uint(c.real()), out[lane + 32] = __float_as_uint(c.imag());
}

CONFORMANCE_MAIN()
