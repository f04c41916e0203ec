// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Local arrays of one function, side by side. nvcc joins them into one; clang's code for a second
// look has red zones between them (red_zones.awk). So clang compiles the kernels alone, and the
// rest of this program loads them from the file that MEMBOUND_CORPUS_PTX names, where it is set.
#ifndef __clang__
#include "corpus.cuh"
#endif

extern "C" __global__ void into_the_next_local_array(int* out, int index) {
  volatile int mine[4] = {1, 2, 3, 4}, next[4] = {5, 6, 7, 8};
  mine[index] = 0;  // into_the_next_local_array
  out[threadIdx.x] = mine[index % 4] + next[index % 4];
}

extern "C" __global__ void one_place_too_far(int* out, int count) {
  volatile int mine[4] = {1, 2, 3, 4}, next[4] = {5, 6, 7, 8};
  int sum = next[count % 4];
  for (int i = 0; i <= count; ++i) sum += mine[i];  // one_place_too_far
  out[threadIdx.x] = sum;
}

extern "C" __global__ void before_a_local_array(int* out, int index) {
  volatile int first[4] = {1, 2, 3, 4}, mine[4] = {5, 6, 7, 8};
  mine[-index] = 0;  // before_a_local_array
  out[threadIdx.x] = mine[0] + first[index];
}

__device__ __noinline__ void fill(volatile int* array, int count) {
  for (int i = 0; i < count; ++i) array[i] = i;  // filled_by_a_function_that_goes_too_far
}
extern "C" __global__ void filled_by_a_function_that_goes_too_far(int* out, int count) {
  volatile int mine[4], next[4];
  fill(mine, count + 1);
  fill(next, count);
  out[threadIdx.x] = mine[count / 2] + next[count / 2];
}

// A window of the last values moves through memory, one place too wide.
extern "C" __global__ void window_too_wide(int* out, int count) {
  int window[4] = {0, 0, 0, 0}, weights[4] = {1, 2, 2, 1};
  int sum = 0;
  for (int i = 0; i < 8; ++i) {
    for (int k = count; k > 0; --k) window[k] = window[k - 1];  // window_too_wide
    window[0] = i;
    for (int k = 0; k < count; ++k) sum += window[k] * weights[k];
  }
  out[threadIdx.x] = sum;
}

struct Pair {
  int first[4], second[4];
};
extern "C" __global__ void both_arrays_of_a_struct(int* out, int count) {
  volatile Pair pair;
  volatile int next[4] = {1, 2, 3, 4};
  volatile int* const all = reinterpret_cast<volatile int*>(&pair);
  for (int i = 0; i < 2 * count; ++i) all[i] = i;
  out[threadIdx.x] = pair.second[count - 1] + next[count - 1];
}

extern "C" __global__ void rows_of_one_array(int* out, int count) {
  volatile int rows[4][4], next[4] = {1, 2, 3, 4};
  volatile int* const all = &rows[0][0];
  for (int i = 0; i < count * count; ++i) all[i] = i;
  out[threadIdx.x] = rows[count - 1][count - 1] + next[count - 1];
}

// The end of one array may be where the next begins.
extern "C" __global__ void up_to_its_end_and_back(int* out, int count) {
  volatile int mine[4] = {1, 2, 3, 4}, next[4] = {5, 6, 7, 8};
  int sum = 0;
  for (volatile int* at = mine; at != mine + 4; ++at) sum += *at;
  for (volatile int* at = next + count; at != next;) sum += *--at;
  out[threadIdx.x] = sum;
}

extern "C" __global__ void arrays_of_two_scopes(int* out, int count) {
  int sum = 0;
  for (int round = 0; round < count; ++round) {
    {
      volatile int mine[4];
      for (int i = 0; i < count; ++i) mine[i] = i + round;
      sum += mine[round];
    }
    {
      volatile short next[16];
      for (int i = 0; i < 4 * count; ++i) next[i] = static_cast<short>(i);
      sum += next[3 * round];
    }
  }
  out[threadIdx.x] = sum;
}

__device__ __noinline__ int sum_below(volatile int* above, int depth) {
  volatile int mine[4] = {depth, depth, depth, depth}, next[2] = {1, 1};
  mine[depth % 4] = mine[0] + above[depth % 4] + next[depth % 2];
  return depth == 0 ? mine[0] : sum_below(mine, depth - 1);
}
extern "C" __global__ void arrays_of_each_call(int* out, int count) {
  volatile int mine[4] = {1, 2, 3, 4};
  out[threadIdx.x] = sum_below(mine, count);
}

#ifndef __clang__
#include <cstdlib>

// The kernel as clang has compiled it, where that is asked for.
void launch(const char* name, const void* kernel, int* out, int number) {
  const void* chosen = kernel;
  if (const char* const file = std::getenv("MEMBOUND_CORPUS_PTX")) {
    cudaLibrary_t library;
    cudaKernel_t loaded;
    if (cudaLibraryLoadFromFile(&library, file, nullptr, nullptr, 0, nullptr, nullptr, 0) !=
            cudaSuccess ||
        cudaLibraryGetKernel(&loaded, library, name) != cudaSuccess) {
      std::printf("%s is not in %s\n", name, file);
      return;
    }
    chosen = reinterpret_cast<const void*>(loaded);
  }
  void* arguments[] = {&out, &number};
  cudaLaunchKernel(chosen, 1, 32, arguments, 0, nullptr);
}
#define KERNEL(name) launch(#name, reinterpret_cast<const void*>(name), d.out, 4)

void run_case(const char* wanted, Arrays d) {
  CASE(into_the_next_local_array, "out of bounds write", KERNEL(into_the_next_local_array));
  CASE(one_place_too_far, "out of bounds read", KERNEL(one_place_too_far));
  CASE(before_a_local_array, "out of bounds write",
       launch("before_a_local_array", reinterpret_cast<const void*>(before_a_local_array), d.out,
              1));
  CASE(filled_by_a_function_that_goes_too_far, "out of bounds write",
       KERNEL(filled_by_a_function_that_goes_too_far));
  CASE(window_too_wide, "out of bounds write", KERNEL(window_too_wide));
  RIGHT(both_arrays_of_a_struct, KERNEL(both_arrays_of_a_struct));
  RIGHT(rows_of_one_array, KERNEL(rows_of_one_array));
  RIGHT(up_to_its_end_and_back, KERNEL(up_to_its_end_and_back));
  RIGHT(arrays_of_two_scopes, KERNEL(arrays_of_two_scopes));
  RIGHT(arrays_of_each_call, KERNEL(arrays_of_each_call));
}
#endif
