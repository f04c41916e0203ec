// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device code from CUB's templates: the largest and most inlined PTX the labs meet.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>

__global__ void sort_and_scan(int* values) {
  using Sort = cub::BlockRadixSort<int, 128, 4>;
  using Scan = cub::BlockScan<int, 128>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
  } memory;
  int items[4];
  for (int i = 0; i < 4; ++i) items[i] = values[threadIdx.x * 4 + i];
  Sort(memory.sort).Sort(items);
  __syncthreads();
  Scan(memory.scan).InclusiveSum(items, items);
  for (int i = 0; i < 4; ++i) values[threadIdx.x * 4 + i] = items[i];
}
