// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a GPU and its driver do at the edges that grading relies on: records/grading_strangers.md.
/// One experiment a call, each in a process of its own; run.sh calls them in order.
///
///   experiments heap | leave | look | scrub | hang | probe | mappings | clocks | calls
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr unsigned kMark = 0x5EC2E7A5U;
constexpr std::size_t kMegabyte = std::size_t{1} << 20;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void need(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}

__global__ void write_word(volatile int* place, int value) { *place = value; }

__global__ void set_words(unsigned* out, std::size_t count, unsigned word) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    out[i] = word;
}

__global__ void count_words(const unsigned* in, std::size_t count, unsigned word,
                            unsigned long long* found) {
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += in[i] == word ? 1 : 0;
  if (mine != 0) atomicAdd(found, mine);
}

__global__ void never_ends(volatile int* stop) {
  while (*stop == 0) {
  }
}

__global__ void busy(float* out, int rounds) {
  float x = threadIdx.x;
  for (int i = 0; i < rounds; ++i) x = x * 1.0001F + 0.5F;
  if (x == 0.123F) *out = x;
}

/// E1: may a kernel follow a pointer into the host's heap?
int heap() {
  int pageable = 0, uses_host_tables = 0;
  cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0);
  cudaDeviceGetAttribute(&uses_host_tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0);
  int* const place = static_cast<int*>(std::malloc(sizeof(int)));
  *place = 1;
  write_word<<<1, 1>>>(place, 2);
  const cudaError_t code = cudaDeviceSynchronize();
  std::printf(
      "E1 pageableMemoryAccess %d, through the host's page tables %d; the kernel's write: %s; "
      "the word is %s\n",
      pageable, uses_host_tables, cudaGetErrorString(code), *place == 2 ? "CHANGED" : "unchanged");
  return 0;
}

/// E2, first half: fills memory with a mark and leaves without freeing it.
int leave() {
  constexpr std::size_t kBytes = 1024 * kMegabyte;
  unsigned* d_words = nullptr;
  need(cudaMalloc(&d_words, kBytes), "cudaMalloc");
  set_words<<<1024, 256>>>(d_words, kBytes / 4, kMark);
  need(cudaDeviceSynchronize(), "writing");
  std::printf("E2 left %zu MiB full of a mark\n", kBytes / kMegabyte);
  std::fflush(stdout);
  _exit(0);
}

/// All memory that can be had, in pieces.
std::vector<std::pair<void*, std::size_t>> all_memory() {
  std::vector<std::pair<void*, std::size_t>> pieces;
  for (std::size_t bytes = 8192 * kMegabyte; bytes >= kMegabyte; bytes /= 2) {
    std::size_t free_bytes = 0, total_bytes = 0;
    need(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
    for (void* d_piece = nullptr; free_bytes > bytes; free_bytes -= bytes) {
      if (cudaMalloc(&d_piece, bytes) != cudaSuccess) break;
      pieces.emplace_back(d_piece, bytes);
    }
    static_cast<void>(cudaGetLastError());
  }
  return pieces;
}

/// E2, second half: how much of the mark does a new process find?
int look() {
  unsigned long long* d_found = nullptr;
  need(cudaMalloc(&d_found, sizeof(*d_found)), "cudaMalloc");
  need(cudaMemset(d_found, 0, sizeof(*d_found)), "cudaMemset");
  std::size_t looked_at = 0;
  for (const auto& [d_piece, bytes] : all_memory()) {
    count_words<<<1024, 256>>>(static_cast<const unsigned*>(d_piece), bytes / 4, kMark, d_found);
    looked_at += bytes;
  }
  unsigned long long found = 0;
  need(cudaMemcpy(&found, d_found, sizeof(found), cudaMemcpyDeviceToHost), "reading");
  std::printf("E2 a new process looked at %zu MiB and found %llu MiB of the mark\n",
              looked_at / kMegabyte, found * 4 / kMegabyte);
  return 0;
}

/// E8: how long does overwriting all memory take?
int scrub() {
  const double start = now_s();
  const auto pieces = all_memory();
  const double had = now_s();
  std::size_t bytes_written = 0;
  for (const auto& [d_piece, bytes] : pieces) {
    need(cudaMemset(d_piece, 0, bytes), "cudaMemset");
    bytes_written += bytes;
  }
  need(cudaDeviceSynchronize(), "scrubbing");
  std::printf("E8 took %.1f GB in %.3f s, overwrote them in %.3f s\n",
              static_cast<double>(bytes_written) / 1e9, had - start, now_s() - had);
  return 0;
}

/// E3: killed from outside while it runs.
int hang() {
  int* d_stop = nullptr;
  need(cudaMalloc(&d_stop, sizeof(int)), "cudaMalloc");
  need(cudaMemset(d_stop, 0, sizeof(int)), "cudaMemset");
  never_ends<<<1, 1>>>(d_stop);
  std::printf("E3 a kernel that never ends is running\n");
  std::fflush(stdout);
  need(cudaDeviceSynchronize(), "waiting for ever");
  return 0;
}

/// Whether the device answers, and how soon.
int probe() {
  const double start = now_s();
  unsigned* d_words = nullptr;
  need(cudaMalloc(&d_words, kMegabyte), "cudaMalloc");
  set_words<<<64, 256>>>(d_words, kMegabyte / 4, kMark);
  unsigned word = 0;
  need(cudaMemcpy(&word, d_words, sizeof(word), cudaMemcpyDeviceToHost), "reading");
  std::size_t free_bytes = 0, total_bytes = 0;
  need(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  std::printf("   the device answers %s in %.2f s, %zu of %zu MiB are free\n",
              word == kMark ? "right" : "WRONG", now_s() - start, free_bytes / kMegabyte,
              total_bytes / kMegabyte);
  return word == kMark ? 0 : 1;
}

template <typename Function>
Function driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found) !=
          cudaSuccess ||
      found != cudaDriverEntryPointSuccess)
    return nullptr;
  return reinterpret_cast<Function>(function);
}

/// E4: writes to a gap without memory, or to memory mapped for reading. `what`: "gap" or
/// "read-only".
int mappings(const std::string& what) {
  need(cudaFree(nullptr), "starting");
  const auto granularity =
      driver<CUresult (*)(std::size_t*, const CUmemAllocationProp*,
                          CUmemAllocationGranularity_flags)>("cuMemGetAllocationGranularity");
  const auto reserve =
      driver<CUresult (*)(CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr, unsigned long long)>(
          "cuMemAddressReserve");
  const auto create =
      driver<CUresult (*)(CUmemGenericAllocationHandle*, std::size_t, const CUmemAllocationProp*,
                          unsigned long long)>("cuMemCreate");
  const auto map =
      driver<CUresult (*)(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
                          unsigned long long)>("cuMemMap");
  const auto allow =
      driver<CUresult (*)(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t)>(
          "cuMemSetAccess");
  if (granularity == nullptr || reserve == nullptr || create == nullptr || map == nullptr ||
      allow == nullptr) {
    std::printf("E4 %s: this device has no mappings to try\n", what.c_str());
    return 0;
  }
  CUmemAllocationProp form{};
  form.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  form.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  std::size_t size = 0;
  CUdeviceptr place = 0;
  CUmemGenericAllocationHandle memory = 0;
  const CUmemAccessDesc access{form.location, what == "gap" ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                            : CU_MEM_ACCESS_FLAGS_PROT_READ};
  CUresult code = granularity(&size, &form, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (code == CUDA_SUCCESS) code = reserve(&place, 2 * size, 0, 0, 0);
  if (code == CUDA_SUCCESS) code = create(&memory, size, &form, 0);
  if (code == CUDA_SUCCESS) code = map(place, size, 0, memory, 0);
  if (code == CUDA_SUCCESS) code = allow(place, size, &access, 1);
  if (code != CUDA_SUCCESS) {
    std::printf("E4 %s: cannot be set up: driver error %d\n", what.c_str(), static_cast<int>(code));
    return 0;
  }
  write_word<<<1, 1>>>(reinterpret_cast<int*>(what == "gap" ? place + size : place), 1);
  std::printf("E4 %s: a write gives \"%s\"\n", what.c_str(),
              cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}

double events_us(float* d_out, int rounds, int launches) {
  cudaEvent_t start, stop;
  need(cudaEventCreate(&start), "cudaEventCreate");
  need(cudaEventCreate(&stop), "cudaEventCreate");
  need(cudaEventRecord(start), "cudaEventRecord");
  for (int i = 0; i < launches; ++i) busy<<<132, 256>>>(d_out, rounds);
  need(cudaEventRecord(stop), "cudaEventRecord");
  need(cudaEventSynchronize(stop), "waiting");
  float ms = 0;
  need(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
  return 1000.0 * ms / launches;
}

double outside_us(float* d_out, int rounds, int launches) {
  need(cudaDeviceSynchronize(), "waiting");
  const double start = now_s();
  for (int i = 0; i < launches; ++i) busy<<<132, 256>>>(d_out, rounds);
  need(cudaDeviceSynchronize(), "waiting");
  return (now_s() - start) * 1e6;
}

/// E5: do events agree with the slope of a clock outside? The slope leaves the way there out.
int clocks() {
  float* d_out = nullptr;
  need(cudaMalloc(&d_out, sizeof(float)), "cudaMalloc");
  for (const int rounds : {1000, 4000, 20000, 100000, 400000, 1000000}) {
    constexpr int kFew = 20, kMany = 60;
    std::vector<double> events, slopes;
    events_us(d_out, rounds, kFew);
    for (int i = 0; i < 7; ++i) {
      events.push_back(events_us(d_out, rounds, kFew));
      slopes.push_back((outside_us(d_out, rounds, kMany) - outside_us(d_out, rounds, kFew)) /
                       (kMany - kFew));
    }
    std::sort(events.begin(), events.end());
    std::sort(slopes.begin(), slopes.end());
    std::printf("E5 events %.2f us, slope of the clock outside %.2f us: %+.2f %%\n", events[3],
                slopes[3], 100 * (slopes[3] / events[3] - 1));
  }
  return 0;
}

/// E7: what a call through a socket costs, beside the same call made here.
int calls() {
  constexpr int kCalls = 20000;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  const pid_t server = fork();  // before CUDA starts: the child has a device of its own
  if (server == 0) {
    close(ends[0]);
    need(cudaFree(nullptr), "starting");
    char message[64];
    while (read(ends[1], message, sizeof(message)) == sizeof(message)) {
      need(cudaDeviceSynchronize(), "waiting");
      if (write(ends[1], message, sizeof(message)) != sizeof(message)) break;
    }
    _exit(0);
  }
  close(ends[1]);
  char message[64] = {};
  double start = 0;
  for (int i = -1; i < kCalls; ++i) {  // the first one waits for the device to start
    if (i == 0) start = now_s();
    if (write(ends[0], message, sizeof(message)) != sizeof(message) ||
        read(ends[0], message, sizeof(message)) != sizeof(message))
      return 1;
  }
  const double remote_us = (now_s() - start) / kCalls * 1e6;
  close(ends[0]);
  waitpid(server, nullptr, 0);
  need(cudaFree(nullptr), "starting");
  start = now_s();
  for (int i = 0; i < kCalls; ++i) need(cudaDeviceSynchronize(), "waiting");
  std::printf("E7 waiting for an idle device: %.2f us through a socket, %.2f us here\n", remote_us,
              (now_s() - start) / kCalls * 1e6);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "heap") return heap();
  if (what == "leave") return leave();
  if (what == "look") return look();
  if (what == "scrub") return scrub();
  if (what == "hang") return hang();
  if (what == "probe") return probe();
  if (what == "mappings") return mappings(argc > 2 ? argv[2] : "gap");
  if (what == "clocks") return clocks();
  if (what == "calls") return calls();
  std::fprintf(stderr, "heap, leave, look, scrub, hang, probe, mappings, clocks or calls\n");
  return 2;
}
