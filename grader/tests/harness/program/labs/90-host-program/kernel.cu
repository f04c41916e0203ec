// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

// Stage 1: one kernel, checked and timed.
__global__ void add(const int* a, const int* b, int* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // TODO 1 (1 line): which threads have an element?
}

__global__ void grow(int* c, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    for (int round = 0; round < kRounds; ++round)
      reinterpret_cast<volatile int*>(c)[i] = reinterpret_cast<volatile int*>(c)[i] + 1;
}

__global__ void scale(int* c, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    for (int round = 0; round < kRounds; ++round)
      reinterpret_cast<volatile int*>(c)[i] =
          reinterpret_cast<volatile int*>(c)[i] * (round == 0 ? 2 : 1);
}

void add_and_check(const membound::Program& program) {
  const std::vector<int> a = program.read<int>("a"), b = program.read<int>("b");
  // TODO 2 (about 25 lines): what must be copied, launched, checked and timed?
}

// Stage 2: five kernels, five streams.
void side_by_side(const membound::Program& program) {
  std::vector<int> a = program.read<int>("a");
  // TODO 3 (about 15 lines): what may each fifth have of its own?
  program.write("c", a);
}

// Stage 3: copies beside kernels, ordered by events.
void overlap(const membound::Program& program) {
  const std::vector<int> a = program.read<int>("a");
  // TODO 4 (about 20 lines): which pieces may be in flight at once?
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  if (program.stage() == 1) add_and_check(program);
  if (program.stage() == 2) side_by_side(program);
  if (program.stage() == 3) overlap(program);
}
