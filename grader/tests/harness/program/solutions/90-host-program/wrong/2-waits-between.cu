// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: KernelsRunSideBySide
// Why:   waits for each stream before it launches in the next.
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(code));
  std::exit(1);
}

__global__ void add(const int* a, const int* b, int* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
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
  const int n = static_cast<int>(a.size());
  const std::size_t bytes = n * sizeof(int);
  std::vector<int> c(n);
  int *d_a, *d_b, *d_c;
  check(cudaMalloc(&d_a, bytes));
  check(cudaMalloc(&d_b, bytes));
  check(cudaMalloc(&d_c, bytes));
  check(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  check(cudaEventRecord(start));
  add<<<(n + 127) / 128, 128>>>(d_a, d_b, d_c, n);
  check(cudaGetLastError());
  check(cudaEventRecord(stop));
  check(cudaEventSynchronize(stop));
  float ms = 0;
  check(cudaEventElapsedTime(&ms, start, stop));
  std::printf("%.3f ms\n", ms);
  check(cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost));
  program.write("c", c);
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  check(cudaFree(d_a));
  check(cudaFree(d_b));
  check(cudaFree(d_c));
}

void side_by_side(const membound::Program& program) {
  std::vector<int> a = program.read<int>("a");
  const int n = static_cast<int>(a.size()), part = n / kFifths;
  int* d_a;
  check(cudaMalloc(&d_a, n * sizeof(int)));
  check(cudaMemcpy(d_a, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  cudaStream_t streams[kFifths];
  for (cudaStream_t& stream : streams) check(cudaStreamCreate(&stream));
  for (int i = 0; i < kFifths; ++i) {
    grow<<<1, 64, 0, streams[i]>>>(d_a + i * part, part);
    check(cudaGetLastError());
    check(cudaStreamSynchronize(streams[i]));
  }
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(a.data(), d_a, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (cudaStream_t stream : streams) check(cudaStreamDestroy(stream));
  check(cudaFree(d_a));
  program.write("c", a);
}

void overlap(const membound::Program& program) {
  const std::vector<int> a = program.read<int>("a");
  const int n = static_cast<int>(a.size()), part = n / kPieces;
  int *h, *d;
  check(cudaMallocHost(&h, n * sizeof(int)));
  check(cudaMalloc(&d, n * sizeof(int)));
  for (int i = 0; i < n; ++i) h[i] = a[i];
  // One stream brings pieces in, one works on them, one takes them back.
  cudaStream_t in, work, out;
  for (cudaStream_t* stream : {&in, &work, &out}) check(cudaStreamCreate(stream));
  for (int i = 0; i < kPieces; ++i) {
    cudaEvent_t arrived, done;
    check(cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming));
    check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    const int at = i * part;
    check(cudaMemcpyAsync(d + at, h + at, part * sizeof(int), cudaMemcpyHostToDevice, in));
    check(cudaEventRecord(arrived, in));
    check(cudaStreamWaitEvent(work, arrived, 0));
    scale<<<1, 64, 0, work>>>(d + at, part);
    check(cudaGetLastError());
    check(cudaEventRecord(done, work));
    check(cudaStreamWaitEvent(out, done, 0));
    check(cudaMemcpyAsync(h + at, d + at, part * sizeof(int), cudaMemcpyDeviceToHost, out));
  }
  check(cudaStreamSynchronize(out));
  program.write("c", h, n);
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  if (program.stage() == 1) add_and_check(program);
  if (program.stage() == 2) side_by_side(program);
  if (program.stage() == 3) overlap(program);
}
