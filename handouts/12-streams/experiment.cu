// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 12, "Experiment": five small kernels in one stream, in two, in five; then one array
// through the device in 1, 2, 4, … pieces, beside what is least possible; then many rounds of four
// short kernels, launched one by one and as a graph. An ordinary program, for a GPU or for the
// virtual one:
//
//     nvcc -O3 -std=c++20 -cudart shared -arch=native handouts/12-streams/experiment.cu -o streams
//     ./streams             or: ./membound run --device vgpu:h200 -- ./streams
#include <algorithm>
#include <cstdio>
#include <cstdlib>

constexpr int kKernels = 5, kThreads = 256, kMostPieces = 64, kStreams = 3;

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(3);
}

// Each thread is busy for so many rounds; one block, if its neighbours do not matter.
__global__ void busy(int* data, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int value = data[i];
  for (int round = 0; round < rounds; ++round) value = value - (value >> 2) + i;
  data[i] = value;
}

cudaEvent_t start, stop;

// Milliseconds on the device for what `work` submits; the median of five runs after one that
// warms up. All streams begin after `start`, and `stop` waits for all of them.
template <typename Work>
float milliseconds(cudaStream_t* streams, int count, Work work) {
  float times[5];
  for (int run = -1; run < 5; ++run) {
    check(cudaDeviceSynchronize());
    check(cudaEventRecord(start, streams[0]));
    for (int i = 1; i < count; ++i) check(cudaStreamWaitEvent(streams[i], start, 0));
    work();
    for (int i = 1; i < count; ++i) {
      cudaEvent_t done;
      check(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
      check(cudaEventRecord(done, streams[i]));
      check(cudaStreamWaitEvent(streams[0], done, 0));
      check(cudaEventDestroy(done));
    }
    check(cudaEventRecord(stop, streams[0]));
    check(cudaEventSynchronize(stop));
    if (run >= 0) check(cudaEventElapsedTime(&times[run], start, stop));
  }
  std::sort(times, times + 5);
  return times[2];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  if (n < kMostPieces || n % kMostPieces != 0) {
    std::fprintf(stderr, "samples: a multiple of %d, such as 1048576\n", kMostPieces);
    return 2;
  }
  int *samples = nullptr, *d_samples = nullptr;
  check(cudaMallocHost(&samples, n * sizeof(int)));
  check(cudaMalloc(&d_samples, n * sizeof(int)));
  std::fill(samples, samples + n, 1);
  check(cudaMemcpy(d_samples, samples, n * sizeof(int), cudaMemcpyHostToDevice));
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&stop));
  cudaStream_t streams[kKernels];
  for (cudaStream_t& stream : streams) check(cudaStreamCreate(&stream));

  const auto five_kernels = [&](int used) {
    for (int i = 0; i < kKernels; ++i)
      busy<<<1, kThreads, 0, streams[i % used]>>>(d_samples + i * kThreads, kThreads, 20000);
    check(cudaGetLastError());
  };
  const float alone = milliseconds(
      streams, 1, [&] { busy<<<1, kThreads, 0, streams[0]>>>(d_samples, kThreads, 20000); });
  std::printf("five kernels of one block       ms   of one alone\n");
  std::printf("one alone                  %7.3f\n", alone);
  for (const int used : {1, 2, 5}) {
    const float time = milliseconds(streams, used, [&] { five_kernels(used); });
    std::printf("%d stream%s                  %7.3f   %.2f\n", used, used == 1 ? " " : "s", time,
                time / alone);
  }

  // How many rounds make the kernel about as long as one copy depends on the device; try others.
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 400;
  const std::size_t all_bytes = n * sizeof(int);
  const float in = milliseconds(streams, 1, [&] {
    check(cudaMemcpyAsync(d_samples, samples, all_bytes, cudaMemcpyHostToDevice, streams[0]));
  });
  const float work = milliseconds(streams, 1, [&] {
    busy<<<(n + kThreads - 1) / kThreads, kThreads, 0, streams[0]>>>(d_samples, n, rounds);
  });
  const float out = milliseconds(streams, 1, [&] {
    check(cudaMemcpyAsync(samples, d_samples, all_bytes, cudaMemcpyDeviceToHost, streams[0]));
  });
  std::printf("\n%d samples: in %.3f ms, worked on %.3f ms, out %.3f ms\n", n, in, work, out);
  std::printf("pieces                          ms   least   of it\n");
  for (int pieces = 1; pieces <= kMostPieces; pieces *= 2) {
    const int count = n / pieces;
    // The longest part without a gap, and what one piece needs before and after it.
    const float longest = std::max({in, work, out});
    const float least = longest + (in + work + out - longest) / pieces;
    const float time = milliseconds(streams, kStreams, [&] {
      for (int i = 0; i < pieces; ++i) {
        const cudaStream_t queue = streams[i % kStreams];
        int *piece = samples + i * count, *d_piece = d_samples + i * count;
        const std::size_t piece_bytes = count * sizeof(int);
        check(cudaMemcpyAsync(d_piece, piece, piece_bytes, cudaMemcpyHostToDevice, queue));
        busy<<<(count + kThreads - 1) / kThreads, kThreads, 0, queue>>>(d_piece, count, rounds);
        check(cudaGetLastError());
        check(cudaMemcpyAsync(piece, d_piece, piece_bytes, cudaMemcpyDeviceToHost, queue));
      }
    });
    std::printf("%6d                     %7.3f %7.3f   %.3f\n", pieces, time, least, least / time);
  }

  constexpr int kTurns = 1000, kChain = 4;
  const auto round = [&] {
    for (int i = 0; i < kChain; ++i) busy<<<1, kThreads, 0, streams[0]>>>(d_samples, kThreads, 10);
    check(cudaGetLastError());
  };
  const float one_by_one = milliseconds(streams, 1, [&] {
    for (int turn = 0; turn < kTurns; ++turn) round();
  });
  cudaGraph_t graph;
  cudaGraphExec_t launchable;
  check(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
  round();
  check(cudaStreamEndCapture(streams[0], &graph));
  check(cudaGraphInstantiate(&launchable, graph, 0));
  const float as_graph = milliseconds(streams, 1, [&] {
    for (int turn = 0; turn < kTurns; ++turn) check(cudaGraphLaunch(launchable, streams[0]));
  });
  check(cudaGraphExecDestroy(launchable));
  check(cudaGraphDestroy(graph));
  std::printf("\n%d rounds of %d short kernels\none by one %.3f ms, as a graph %.3f ms\n", kTurns,
              kChain, one_by_one, as_graph);
  for (cudaStream_t stream : streams) check(cudaStreamDestroy(stream));
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(stop));
  check(cudaFree(d_samples));
  check(cudaFreeHost(samples));
}
