// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 12: a sound studio, four times             (handouts/12-streams/handout.md)
//
// This file is a whole program. Its kernels are given; you write what the host does with them:
// which work goes into which stream, and what has to wait for what. kernel.cuh says what is read
// and written.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "kernel.cuh"

/// Ends the program after a failed call.
void check_cuda(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(code));
  std::exit(1);
}

// Stage 1: Five kernels, five streams
//
// Before   Five launches in the default stream: each begins after the one before it has ended, and
//          each has three blocks, although the GPU has room for many more.
// Task     A stream for each sound, so that the five kernels run concurrently.
// Demands  5 launches in 5 streams; of the time they take one by one, 0.7 is saved (0.8 is the
//          most). No call fails, all memory is freed, and no work reads what is not yet written.
//
//     one stream     |echo 0|echo 1|echo 2|echo 3|echo 4|
//     five streams   |echo 0|
//                     |echo 1|
//                      |echo 2|  ...
__global__ void echo(int* sound, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int sample = sound[i];
  int value = sample;
  for (int round = 0; round < kLongRounds; ++round) value = value - (value >> 2) + sample;
  sound[i] = value;
}

void five_sounds(const membound::Program& program) {
  // Given: the sounds are stored one after another, here and on the device.
  std::vector<int> sounds = program.read<int>("in");
  const int n = static_cast<int>(sounds.size()) / kSounds;
  const std::size_t bytes = sounds.size() * sizeof(int);
  int* d_sounds = nullptr;
  check_cuda(cudaMalloc(&d_sounds, bytes));
  check_cuda(cudaMemcpy(d_sounds, sounds.data(), bytes, cudaMemcpyHostToDevice));

  cudaStream_t streams[kSounds];
  for (cudaStream_t& stream : streams) check_cuda(cudaStreamCreate(&stream));

  for (int i = 0; i < kSounds && n > 0; ++i) {
    echo<<<blocks_for(n), kThreads, 0, streams[i]>>>(d_sounds + i * n, n);
    check_cuda(cudaGetLastError());
  }

  check_cuda(cudaDeviceSynchronize());

  // Given: back to the host.
  check_cuda(cudaMemcpy(sounds.data(), d_sounds, bytes, cudaMemcpyDeviceToHost));
  program.write("out", sounds);
  check_cuda(cudaFree(d_sounds));

  for (cudaStream_t stream : streams) check_cuda(cudaStreamDestroy(stream));
}

// Stage 2: Copies beside kernels
//
// Before   All samples are copied in, then softened, then copied out. While one part of the machine
//          works, two others wait: copies in, copies out and kernels each have hardware of their
//          own.
// Task     Cut the recording into kPieces pieces. While one is softened, the next arrives and the
//          one before it leaves.
// Demands  A kernel runs during 0.6 of the time that copies take; at least 2 streams; the host
//          waits at most 4 times, cudaFreeHost included.
//
//     in       |0|1|2|3|4|5|6|7|
//     soften     |0|1|2|3|4|5|6|7|
//     out          |0|1|2|3|4|5|6|7|
__global__ void soften(int* piece, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int sample = piece[i];
  int value = sample;
  for (int round = 0; round < rounds; ++round) value = value - (value >> 3) + sample;
  piece[i] = value;
}

void piece_by_piece(const membound::Program& program) {
  const std::vector<int> in = program.read<int>("in");
  const int n = static_cast<int>(in.size()), rounds = program.read<int>("rounds").front();
  const int most = (n + kPieces - 1) / kPieces;
  int* d_samples = nullptr;
  check_cuda(cudaMalloc(&d_samples, n * sizeof(int)));

  int* samples = nullptr;
  check_cuda(cudaMallocHost(&samples, std::max(n, 1) * sizeof(int)));
  std::copy(in.begin(), in.end(), samples);

  cudaStream_t streams[kStreams];
  for (cudaStream_t& stream : streams) check_cuda(cudaStreamCreate(&stream));

  for (int i = 0; i < kPieces; ++i) {
    const int first = i * most;
    const int count = std::min(most, n - first);
    if (count <= 0) break;
    int* const piece = samples + first;
    int* const d_piece = d_samples + first;
    const std::size_t bytes = count * sizeof(int);
    // A stream keeps the order of its own work: three pieces are under way, each in order.
    const cudaStream_t stream = streams[i % kStreams];
    check_cuda(cudaMemcpyAsync(d_piece, piece, bytes, cudaMemcpyHostToDevice, stream));
    soften<<<blocks_for(count), kThreads, 0, stream>>>(d_piece, count, rounds);
    check_cuda(cudaGetLastError());
    check_cuda(cudaMemcpyAsync(piece, d_piece, bytes, cudaMemcpyDeviceToHost, stream));
  }

  check_cuda(cudaDeviceSynchronize());
  program.write("out", samples, n);

  for (cudaStream_t stream : streams) check_cuda(cudaStreamDestroy(stream));
  check_cuda(cudaFreeHost(samples));
  check_cuda(cudaFree(d_samples));
}

// Stage 3: What has to wait for what
//
// Before   A stream keeps an order that is not needed: y does not need x. Two streams keep none,
//          and z needs both.
// Task     Two streams, and events for what one needs of the other. The host waits at the end.
// Demands  5 launches in 2 streams; of their time 0.25 is saved; a stream waits for an event of the
//          other at least twice; the host waits at most 3 times, cudaFreeHost included; and
//          whatever uses the same memory is ordered.
//
//     a, b --> x ----.        .--> left  --> out
//                     >-- z --<
//     c, d --> y ----'        '--> right --> out
__global__ void blend(int* out, const int* a, const int* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int even = a[i], odd = b[i];
  int value = 0;
  for (int round = 0; round < kLongRounds; ++round)
    value = value - (value >> 2) + (round % 2 == 0 ? even : odd);
  out[i] = value;
}

void mixing_desk(const membound::Program& program) {
  // Given: the tracks, and after them room for both channels; `tracks` and `out` are pinned.
  const std::vector<int> in = program.read<int>("in");
  const int n = static_cast<int>(in.size()) / kTracks;
  const std::size_t bytes = n * sizeof(int);
  int* tracks = nullptr;
  check_cuda(cudaMallocHost(&tracks, (kTracks + 2) * std::max<std::size_t>(bytes, 1)));
  std::copy(in.begin(), in.end(), tracks);
  int* const out = tracks + kTracks * n;
  // Given: on the device, the tracks and all that is computed from them, n samples each.
  int* d_memory = nullptr;
  check_cuda(cudaMalloc(&d_memory, 9 * bytes));
  int *d_a = d_memory, *d_b = d_a + n, *d_c = d_b + n, *d_d = d_c + n, *d_x = d_d + n,
      *d_y = d_x + n, *d_z = d_y + n, *d_left = d_z + n, *d_right = d_left + n;
  // Given: two streams, and an event for each line of the picture that joins them.
  cudaStream_t first, second;
  cudaEvent_t y_done, z_done;
  for (cudaStream_t* stream : {&first, &second}) check_cuda(cudaStreamCreate(stream));
  for (cudaEvent_t* event : {&y_done, &z_done})
    check_cuda(cudaEventCreateWithFlags(event, cudaEventDisableTiming));

  if (n > 0) {
    check_cuda(cudaMemcpyAsync(d_a, tracks, bytes, cudaMemcpyHostToDevice, first));
    check_cuda(cudaMemcpyAsync(d_b, tracks + n, bytes, cudaMemcpyHostToDevice, first));
    blend<<<blocks_for(n), kThreads, 0, first>>>(d_x, d_a, d_b, n);
    check_cuda(cudaGetLastError());
    check_cuda(cudaMemcpyAsync(d_c, tracks + 2 * n, bytes, cudaMemcpyHostToDevice, second));
    check_cuda(cudaMemcpyAsync(d_d, tracks + 3 * n, bytes, cudaMemcpyHostToDevice, second));
    blend<<<blocks_for(n), kThreads, 0, second>>>(d_y, d_c, d_d, n);
    check_cuda(cudaGetLastError());

    check_cuda(cudaEventRecord(y_done, second));
    check_cuda(cudaStreamWaitEvent(first, y_done, 0));
    blend<<<blocks_for(n), kThreads, 0, first>>>(d_z, d_x, d_y, n);
    check_cuda(cudaGetLastError());

    check_cuda(cudaEventRecord(z_done, first));
    blend<<<blocks_for(n), kThreads, 0, first>>>(d_left, d_z, d_x, n);
    check_cuda(cudaGetLastError());
    check_cuda(cudaStreamWaitEvent(second, z_done, 0));
    blend<<<blocks_for(n), kThreads, 0, second>>>(d_right, d_z, d_y, n);
    check_cuda(cudaGetLastError());

    check_cuda(cudaMemcpyAsync(out, d_left, bytes, cudaMemcpyDeviceToHost, first));
    check_cuda(cudaMemcpyAsync(out + n, d_right, bytes, cudaMemcpyDeviceToHost, second));
    check_cuda(cudaDeviceSynchronize());
  }

  // Given: write the output, and free everything.
  program.write("out", out, 2 * n);
  for (cudaEvent_t event : {y_done, z_done}) check_cuda(cudaEventDestroy(event));
  for (cudaStream_t stream : {first, second}) check_cuda(cudaStreamDestroy(stream));
  check_cuda(cudaFreeHost(tracks));
  check_cuda(cudaFree(d_memory));
}

// Stage 4: A graph, launched many times
//
// Before   A round of four short kernels, submitted again for each of kTurns turns: twelve calls
//          a turn, and the host may take longer for them than the kernels do.
// Task     Capture one round into a graph, instantiate it once, and launch it kTurns times.
// Demands  One graph, launched kTurns times; of the kernels' time 0.3 is saved; the host waits at
//          most 2 times, cudaFreeHost included; all memory is freed, and all work is ordered.
//
//     one round     left  --> .--> a --. .--> left
//                              X        X              a, b: of both channels; then both of a and b
//                   right --> '--> b --' '--> right
__global__ void turn(int* out, const int* mine, const int* other, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mine[i] - (mine[i] >> 2) + (other[i] >> 3);
}

// Given: one round, as in stage 3. It begins and ends in `first`; `second` overlaps with it.
struct Desk {
  cudaStream_t first, second;
  cudaEvent_t begun, a_done, b_done, right_done;
  int *d_left, *d_right, *d_a, *d_b, n;
};

void one_round(const Desk& desk) {
  const int blocks = blocks_for(desk.n);
  check_cuda(cudaEventRecord(desk.begun, desk.first));
  check_cuda(cudaStreamWaitEvent(desk.second, desk.begun, 0));
  turn<<<blocks, kThreads, 0, desk.first>>>(desk.d_a, desk.d_left, desk.d_right, desk.n);
  check_cuda(cudaGetLastError());
  turn<<<blocks, kThreads, 0, desk.second>>>(desk.d_b, desk.d_right, desk.d_left, desk.n);
  check_cuda(cudaGetLastError());
  check_cuda(cudaEventRecord(desk.a_done, desk.first));
  check_cuda(cudaEventRecord(desk.b_done, desk.second));
  check_cuda(cudaStreamWaitEvent(desk.first, desk.b_done, 0));
  check_cuda(cudaStreamWaitEvent(desk.second, desk.a_done, 0));
  turn<<<blocks, kThreads, 0, desk.first>>>(desk.d_left, desk.d_a, desk.d_b, desk.n);
  check_cuda(cudaGetLastError());
  turn<<<blocks, kThreads, 0, desk.second>>>(desk.d_right, desk.d_b, desk.d_a, desk.n);
  check_cuda(cudaGetLastError());
  check_cuda(cudaEventRecord(desk.right_done, desk.second));
  check_cuda(cudaStreamWaitEvent(desk.first, desk.right_done, 0));
}

void many_rounds(const membound::Program& program) {
  // Given: both channels in pinned memory, and room for four on the device, allocated and freed in
  // the order of `first`: no call below makes the host wait.
  const std::vector<int> in = program.read<int>("in");
  const int n = static_cast<int>(in.size()) / kChannels;
  const std::size_t bytes = in.size() * sizeof(int);
  Desk desk{};
  for (cudaStream_t* stream : {&desk.first, &desk.second}) check_cuda(cudaStreamCreate(stream));
  for (cudaEvent_t* event : {&desk.begun, &desk.a_done, &desk.b_done, &desk.right_done})
    check_cuda(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  int *channels = nullptr, *d_memory = nullptr;
  check_cuda(cudaMallocHost(&channels, std::max<std::size_t>(bytes, 1)));
  std::copy(in.begin(), in.end(), channels);
  check_cuda(cudaMallocAsync(&d_memory, 2 * bytes, desk.first));
  desk.n = n;
  desk.d_left = d_memory;
  desk.d_right = d_memory + n;
  desk.d_a = d_memory + 2 * n;
  desk.d_b = d_memory + 3 * n;
  check_cuda(cudaMemcpyAsync(desk.d_left, channels, bytes, cudaMemcpyHostToDevice, desk.first));

  if (n > 0) {
    cudaGraph_t whole_round;
    check_cuda(cudaStreamBeginCapture(desk.first, cudaStreamCaptureModeGlobal));
    one_round(desk);
    check_cuda(cudaStreamEndCapture(desk.first, &whole_round));

    cudaGraphExec_t ready;
    check_cuda(cudaGraphInstantiate(&ready, whole_round, 0));

    for (int i = 0; i < kTurns; ++i) check_cuda(cudaGraphLaunch(ready, desk.first));

    check_cuda(cudaGraphExecDestroy(ready));
    check_cuda(cudaGraphDestroy(whole_round));
  }

  // Given: both channels back, then the memory freed, and one wait.
  check_cuda(cudaMemcpyAsync(channels, desk.d_left, bytes, cudaMemcpyDeviceToHost, desk.first));
  check_cuda(cudaFreeAsync(d_memory, desk.first));
  check_cuda(cudaStreamSynchronize(desk.first));
  program.write("out", channels, static_cast<int>(in.size()));
  for (cudaEvent_t event : {desk.begun, desk.a_done, desk.b_done, desk.right_done})
    check_cuda(cudaEventDestroy(event));
  for (cudaStream_t stream : {desk.first, desk.second}) check_cuda(cudaStreamDestroy(stream));
  check_cuda(cudaFreeHost(channels));
}

int main(int argc, char** argv) {
  const membound::Program program(argc, argv);
  if (program.stage() == 1) five_sounds(program);
  if (program.stage() == 2) piece_by_piece(program);
  if (program.stage() == 3) mixing_desk(program);
  if (program.stage() == 4) many_rounds(program);
}
