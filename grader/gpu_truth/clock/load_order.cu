// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// In which order do the warps of an SM load? Each thread reads some words of a line of its own, so
/// a load finds its sector in L1 only if the other warps have not evicted it meanwhile. If all
/// warps go in step, then all their lines lie between two loads of a thread; if a warp makes its
/// independent loads one right after the other, then only its own do.
///
/// Cases differ in what a thread reads (`independent`: all loads may be in flight at once;
/// `by_four`: four; `chain`: each needs the last one's value; `fetch`: textures), in how many
/// words, in the warps of an SM and in what shared memory leaves of L1. One launch a case, and a
/// line with its name; the profiler counts (gpu_truth/data/load_order_h200.csv):
///   nvcc -O3 -arch=native -std=c++17 -o load_order load_order.cu
///   ncu --csv --page raw --print-units base --clock-control none --metrics
///     l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,
///     l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum,
///     l1tex__t_sectors_pipe_tex_mem_texture.sum,
///     l1tex__t_sectors_pipe_tex_mem_texture_lookup_hit.sum,
///     lts__t_sectors_srcunit_tex_op_read.sum ./load_order
/// With the argument `times`, instead: each warp notes the clock before each of its loads, and
/// printed is, between two of its loads, how many clocks there are and how many loads of the
/// scheduler and of the SM, on average.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kLineWords = 32;
constexpr int kWaves = 4;  // of blocks
constexpr int kMostThreads = 1024, kMostBlocks = 2;
constexpr int kSide = 8192;  // of a picture

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorName(code));
  std::exit(1);
}

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// --- What a thread reads -------------------------------------------------------------------------
// All words are 0. Two blocks of 1,024 threads fit an SM; so `independent<32>` has not all of its
// loads in flight.

template <int kWords>
__global__ void __launch_bounds__(kMostThreads, kMostBlocks)
    independent(const int* in, int* out, int stride) {
  const int* mine = in + thread_number() * stride;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) sum += mine[i];
  out[thread_number()] = sum;
}

template <int kWords>
__global__ void __launch_bounds__(kMostThreads, kMostBlocks)
    read_only(const int* in, int* out, int stride) {
  const int* mine = in + thread_number() * stride;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) sum += __ldg(mine + i);
  out[thread_number()] = sum;
}

/// Four loads are in flight; the next four need them.
template <int kWords>
__global__ void __launch_bounds__(kMostThreads, kMostBlocks)
    by_four(const int* in, int* out, int stride) {
  const int* mine = in + thread_number() * stride;
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < kWords; i += 4) {
    const int* four = mine + i + sum;
    sum += four[0] + four[1] + four[2] + four[3];
  }
  out[thread_number()] = sum;
}

template <int kWords>
__global__ void __launch_bounds__(kMostThreads, kMostBlocks)
    chain(const int* in, int* out, int stride) {
  const int* mine = in + thread_number() * stride;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) sum += mine[i + sum];
  out[thread_number()] = sum;
}

template <int kWords>
__global__ void __launch_bounds__(kMostThreads, kMostBlocks)
    fetch(cudaTextureObject_t in, int* out, int stride) {
  const int mine = thread_number() * stride;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) sum += tex1Dfetch<int>(in, mine + i);
  out[thread_number()] = sum;
}

template <int kWords>
__global__ void __launch_bounds__(kMostThreads, kMostBlocks)
    fetch_chain(cudaTextureObject_t in, int* out, int stride) {
  const int mine = thread_number() * stride;
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) sum += tex1Dfetch<int>(in, mine + i + sum);
  out[thread_number()] = sum;
}

/// Lab 07's walks with several pixels a thread.
template <int kWords>
__global__ void __launch_bounds__(kMostThreads, kMostBlocks)
    fetch_row(cudaTextureObject_t in, int* out, int) {
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const int at = thread_number() * kWords + i;
    sum += tex2D<int>(in, at % kSide + 0.5f, at / kSide + 0.5f);
  }
  out[thread_number()] = sum;
}

template <int kWords>
__global__ void __launch_bounds__(kMostThreads, kMostBlocks)
    fetch_column(cudaTextureObject_t in, int* out, int) {
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    const int at = thread_number() * kWords + i;
    sum += tex2D<int>(in, at / kSide + 0.5f, at % kSide + 0.5f);
  }
  out[thread_number()] = sum;
}

/// As `independent`; lane 0 notes when each load was issued, and where.
template <int kWords>
__global__ void __launch_bounds__(kMostThreads, kMostBlocks)
    note_times(const int* in, int* out, int stride, unsigned* times) {
  const int* mine = in + thread_number() * stride;
  unsigned at[kWords];
  int values[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    asm volatile("mov.u32 %0, %%clock;" : "=r"(at[i])::"memory");
    asm volatile("ld.global.ca.s32 %0, [%1];" : "=r"(values[i]) : "l"(mine + i) : "memory");
  }
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kWords; ++i) sum += values[i];
  out[thread_number()] = sum;
  if (threadIdx.x % 32 != 0) return;
  unsigned sm, warp;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  unsigned* notes = times + static_cast<std::size_t>(thread_number() / 32) * (kWords + 2);
  notes[0] = sm;
  notes[1] = warp;
#pragma unroll
  for (int i = 0; i < kWords; ++i) notes[2 + i] = at[i];
}

// --- Cases ---------------------------------------------------------------------------------------

struct Machine {
  int sms;
  int most_shared_kib;
};

/// How many warps an SM holds, and how much of its storage is shared memory: no more fits.
struct Room {
  int warps;
  int shared_kib;
  [[nodiscard]] int blocks() const { return warps > 32 ? warps / 32 : 1; }
  [[nodiscard]] int threads() const { return warps / blocks() * 32; }
  [[nodiscard]] int block_bytes() const { return shared_kib * 1024 / blocks() - 1024; }
};

template <typename Kernel>
void make_room(Kernel* kernel, const Room& room, const Machine& machine) {
  check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, room.block_bytes()),
      "cudaFuncSetAttribute");
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             100 * room.shared_kib / machine.most_shared_kib),
        "cudaFuncSetAttribute");
}

struct Source {
  Machine machine;
  const int* words;
  cudaTextureObject_t line, picture;
  int* out;
};

/// One launch, and its name on stdout: the n-th line names the n-th launch.
template <typename In>
void run(const char* name, int words, int stride, void (*kernel)(In, int*, int), In in,
         const Source& s, const Room& room) {
  make_room(kernel, room, s.machine);
  const int blocks = s.machine.sms * room.blocks() * kWaves;
  kernel<<<blocks, room.threads(), room.block_bytes()>>>(in, s.out, stride);
  check(cudaGetLastError(), name);
  check(cudaDeviceSynchronize(), name);
  std::printf("%s,%d,%d,%d,%d\n", name, words, stride, room.warps, room.shared_kib);
}

void run_all(const Source& s, const Room& room) {
  run("independent", 2, kLineWords, independent<2>, s.words, s, room);
  run("independent", 4, kLineWords, independent<4>, s.words, s, room);
  run("independent", 8, kLineWords, independent<8>, s.words, s, room);
  run("independent", 16, kLineWords, independent<16>, s.words, s, room);
  run("independent", 32, kLineWords, independent<32>, s.words, s, room);
  run("independent", 4, 8, independent<4>, s.words, s, room);
  run("independent", 8, 8, independent<8>, s.words, s, room);
  run("read_only", 8, kLineWords, read_only<8>, s.words, s, room);
  run("by_four", 8, kLineWords, by_four<8>, s.words, s, room);
  run("by_four", 32, kLineWords, by_four<32>, s.words, s, room);
  run("chain", 8, kLineWords, chain<8>, s.words, s, room);
  run("chain", 32, kLineWords, chain<32>, s.words, s, room);
  run("chain", 8, 8, chain<8>, s.words, s, room);
  run("fetch", 2, kLineWords, fetch<2>, s.line, s, room);
  run("fetch", 4, kLineWords, fetch<4>, s.line, s, room);
  run("fetch", 8, kLineWords, fetch<8>, s.line, s, room);
  run("fetch", 32, kLineWords, fetch<32>, s.line, s, room);
  run("fetch_chain", 8, kLineWords, fetch_chain<8>, s.line, s, room);
  run("fetch_row", 4, 4, fetch_row<4>, s.picture, s, room);
  run("fetch_row", 8, 8, fetch_row<8>, s.picture, s, room);
  run("fetch_column", 2, 2, fetch_column<2>, s.picture, s, room);
  run("fetch_column", 4, 4, fetch_column<4>, s.picture, s, room);
  run("fetch_column", 8, 8, fetch_column<8>, s.picture, s, room);
}

/// Between two loads of a warp: loads of others.
template <int kWords>
void show_times(const Source& s, const Room& room) {
  make_room(note_times<kWords>, room, s.machine);
  const int blocks = s.machine.sms * room.blocks() * kWaves;
  const std::size_t warps = static_cast<std::size_t>(blocks) * room.threads() / 32;
  unsigned* d_times = nullptr;
  check(cudaMalloc(&d_times, warps * (kWords + 2) * sizeof(unsigned)), "cudaMalloc");
  note_times<kWords>
      <<<blocks, room.threads(), room.block_bytes()>>>(s.words, s.out, kLineWords, d_times);
  check(cudaDeviceSynchronize(), "note_times");
  std::vector<unsigned> times(warps * (kWords + 2));
  check(cudaMemcpy(times.data(), d_times, times.size() * sizeof(unsigned), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  check(cudaFree(d_times), "cudaFree");
  std::vector<std::vector<unsigned>> of_scheduler(static_cast<std::size_t>(s.machine.sms) * 4);
  std::vector<std::vector<unsigned>> of_sm(static_cast<std::size_t>(s.machine.sms));
  for (std::size_t w = 0; w < warps; ++w) {
    const unsigned* notes = &times[w * (kWords + 2)];
    for (int i = 0; i < kWords; ++i) {
      of_scheduler[notes[0] * 4 + notes[1] % 4].push_back(notes[2 + i]);
      of_sm[notes[0]].push_back(notes[2 + i]);
    }
  }
  for (auto& all : of_scheduler) std::sort(all.begin(), all.end());
  for (auto& all : of_sm) std::sort(all.begin(), all.end());
  const auto between = [](const std::vector<unsigned>& all, unsigned from, unsigned to) {
    const auto first = std::upper_bound(all.begin(), all.end(), from);
    return static_cast<double>(std::lower_bound(first, all.end(), to) - first);
  };
  std::printf("times,%d,%d,%d", kWords, room.warps, room.shared_kib);
  // By the place of the load in its thread: clocks, loads of the scheduler, loads of the SM.
  for (int i = 0; i + 1 < kWords; ++i) {
    double clocks = 0, near = 0, far = 0;
    for (std::size_t w = 0; w < warps; ++w) {
      const unsigned* notes = &times[w * (kWords + 2)];
      const unsigned from = notes[2 + i], to = notes[3 + i];
      clocks += to - from;
      near += between(of_scheduler[notes[0] * 4 + notes[1] % 4], from, to);
      far += between(of_sm[notes[0]], from, to);
    }
    std::printf(",%.0f:%.2f:%.2f", clocks / warps, near / warps, far / warps);
  }
  std::printf("\n");
}

Source make_source(const Machine& machine) {
  Source s{machine, nullptr, 0, 0, nullptr};
  const std::size_t bytes = std::size_t{kSide} * kSide * sizeof(int);
  void* d_words = nullptr;
  void* d_out = nullptr;
  check(cudaMalloc(&d_words, bytes), "cudaMalloc");
  check(cudaMemset(d_words, 0, bytes), "cudaMemset");
  check(cudaMalloc(&d_out, bytes), "cudaMalloc");
  s.words = static_cast<const int*>(d_words);
  s.out = static_cast<int*>(d_out);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_words;
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  resource.res.linear.sizeInBytes = bytes;
  cudaTextureDesc how{};
  check(cudaCreateTextureObject(&s.line, &resource, &how, nullptr), "cudaCreateTextureObject");
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  check(cudaMallocArray(&array, &format, kSide, kSide), "cudaMallocArray");
  check(cudaMemcpy2DToArray(array, 0, 0, d_words, kSide * sizeof(int), kSide * sizeof(int), kSide,
                            cudaMemcpyDeviceToDevice),
        "cudaMemcpy2DToArray");
  resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  check(cudaCreateTextureObject(&s.picture, &resource, &how, nullptr), "cudaCreateTextureObject");
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  const Machine machine{properties.multiProcessorCount,
                        static_cast<int>(properties.sharedMemPerMultiprocessor / 1024)};
  const Source source = make_source(machine);
  const bool times = argc > 1 && std::string(argv[1]) == "times";
  for (const int shared_kib : {32, 132, 196, 228}) {
    for (const int warps : {8, 16, 32, 64}) {
      const Room room{warps, std::min(shared_kib, machine.most_shared_kib)};
      if (times) {
        show_times<4>(source, room);
        show_times<8>(source, room);
      } else {
        run_all(source, room);
      }
    }
  }
}
