// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Copies to the host of what nobody has written, and of what only looks so; one for each argument.
// unwritten_test.cpp runs them.
#include <cstring>
#include <vector>

#include "check.cuh"

constexpr int kCount = 1000;

struct Cell {
  char kind;
  double value;
  int count;
};

template <typename T>
__global__ void fill(T* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = T(1);
}
__global__ void fill_but_one(int* out) {
  if (threadIdx.x != 5) out[threadIdx.x] = 1;
}
__global__ void fill_inner(float* out, int width) {  // a row a block, without its ends
  if (threadIdx.x > 0 && threadIdx.x < blockDim.x - 1) out[blockIdx.x * width + threadIdx.x] = 1;
}
__global__ void fill_cells(Cell* out) {
  const int i = threadIdx.x;
  out[i].kind = 'a';
  out[i].value = 1;
  out[i].count = i;
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int* d_words;
  float* d_rows;
  Cell* d_cells;
  std::size_t pitch = 0;
  CHECK_CUDA(cudaMalloc(&d_words, kCount * sizeof(int)));
  CHECK_CUDA(cudaMallocPitch(reinterpret_cast<void**>(&d_rows), &pitch, 100 * sizeof(float), 8));
  CHECK_CUDA(cudaMalloc(&d_cells, 64 * sizeof(Cell)));
  const auto width = static_cast<int>(pitch / sizeof(float));
  std::vector<char> host(1 << 16);
  const auto to_host = [&](const void* from, std::size_t bytes) {
    CHECK_CUDA(cudaMemcpy(host.data(), from, bytes, cudaMemcpyDeviceToHost));
  };

  // Mistakes.
  if (is("grid_rounded_down")) {
    fill<<<kCount / 256, 256>>>(d_words, kCount);
    to_host(d_words, kCount * sizeof(int));
  }
  if (is("nothing_written")) to_host(d_words, 64);
  if (is("one_left_out")) fill_but_one<<<1, 64>>>(d_words), to_host(d_words, 64 * sizeof(int));
  if (is("ends_of_rows")) {
    fill_inner<<<8, 100>>>(d_rows, width);
    CHECK_CUDA(cudaMemcpy2D(host.data(), 400, d_rows, pitch, 400, 8, cudaMemcpyDeviceToHost));
  }
  if (is("by_way_of_another_array")) {
    int* d_other;
    CHECK_CUDA(cudaMalloc(&d_other, 64));
    CHECK_CUDA(cudaMemcpy(d_other, d_words, 64, cudaMemcpyDeviceToDevice));
    to_host(d_other, 64);
    CHECK_CUDA(cudaFree(d_other));
  }

  // Right.
  if (is("all_written")) {
    fill<<<4, 256>>>(d_words, kCount);
    to_host(d_words, kCount * sizeof(int));
  }
  if (is("only_what_was_written")) {
    fill<<<1, 256>>>(d_words, kCount);
    to_host(d_words, 256 * sizeof(int));
  }
  if (is("cleared")) {
    CHECK_CUDA(cudaMemset(d_words, 0, 64));
    to_host(d_words, 64);
  }
  if (is("rows_with_a_pitch")) {
    for (int y = 0; y < 8; ++y) fill<<<1, 100>>>(d_rows + y * width, 100);
    CHECK_CUDA(cudaMemcpy2D(host.data(), 400, d_rows, pitch, 400, 8, cudaMemcpyDeviceToHost));
    to_host(d_rows, pitch * 8);
  }
  if (is("padding_of_a_struct"))
    fill_cells<<<1, 64>>>(d_cells), to_host(d_cells, 64 * sizeof(Cell));
  if (is("padding_copied_on")) {
    Cell* d_other;
    CHECK_CUDA(cudaMalloc(&d_other, 64 * sizeof(Cell)));
    fill_cells<<<1, 64>>>(d_cells);
    CHECK_CUDA(cudaMemcpy(d_other, d_cells, 64 * sizeof(Cell), cudaMemcpyDeviceToDevice));
    to_host(d_other, 64 * sizeof(Cell));
    CHECK_CUDA(cudaFree(d_other));
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(cudaFree(d_words));
  CHECK_CUDA(cudaFree(d_rows));
  CHECK_CUDA(cudaFree(d_cells));
}
