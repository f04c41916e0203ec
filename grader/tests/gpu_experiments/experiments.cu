// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Questions about a real GPU and its driver that no document answers, one subcommand each; run.sh
/// asks them all. docs/security.md holds the answers and what follows from them.
#include <cuda.h>
#include <cuda_runtime.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::uint32_t kMark = 0x5ec4e75u;
constexpr double kMilli = 1e3;
constexpr double kMicro = 1e6;

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  std::exit(1);
}
#define MUST(call) must(call, #call)

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

__global__ void write_word(volatile std::uint32_t* where) { *where = kMark; }
__global__ void fill(std::uint32_t* words, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    words[i] = kMark;
}
__global__ void count_marks(const std::uint32_t* words, std::size_t count,
                            unsigned long long* found) {
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    mine += words[i] == kMark;
  if (mine != 0) atomicAdd(found, mine);
}
__global__ void spin_for(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void spin_for_ever(volatile int* stop) {
  while (*stop == 0) {
  }
}

/// Nearly all memory that is free, and how much that is.
std::uint32_t* take_all(std::size_t* bytes) {
  std::size_t free_bytes = 0, all = 0;
  MUST(cudaMemGetInfo(&free_bytes, &all));
  void* memory = nullptr;
  for (*bytes = free_bytes; *bytes > all / 8; *bytes -= std::size_t{256} << 20) {
    if (cudaMalloc(&memory, *bytes) == cudaSuccess) return static_cast<std::uint32_t*>(memory);
    (void)cudaGetLastError();
  }
  std::printf("no memory to be had\n");
  std::exit(1);
}

/// Runs `body` in a process of its own, because a fault spoils a process's device for good.
template <typename Body>
void apart(Body body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("ended by signal %d\n", WTERMSIG(status));
}

// E1
void host_pointer() {
  apart([] {
    int pageable = 0, tables = 0;
    MUST(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0));
    MUST(cudaDeviceGetAttribute(&tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0));
    std::printf("pageable memory access %d, by the host's page tables %d\n", pageable, tables);
    auto* heap = static_cast<std::uint32_t*>(std::calloc(1024, sizeof(std::uint32_t)));
    write_word<<<1, 1>>>(heap);
    const cudaError_t error = cudaDeviceSynchronize();
    std::printf("a kernel writes the host's heap: %s, the word is %s\n", cudaGetErrorName(error),
                *heap == kMark ? "changed" : "unchanged");
  });
}

// E2 and E8
void leave_marks() {
  std::size_t bytes = 0;
  std::uint32_t* const words = take_all(&bytes);
  fill<<<2048, 256>>>(words, bytes / 4);
  MUST(cudaDeviceSynchronize());
  std::printf("left marks in %.1f GiB\n", static_cast<double>(bytes) / (1 << 30));
}
void look_for_marks() {
  std::size_t bytes = 0;
  const double start = now();
  std::uint32_t* const words = take_all(&bytes);
  const double allocated = now();
  bytes -= 4096;
  auto* const found = reinterpret_cast<unsigned long long*>(words + bytes / 4);
  MUST(cudaMemset(found, 0, sizeof *found));
  count_marks<<<2048, 256>>>(words, bytes / 4, found);
  unsigned long long marks = 0;
  MUST(cudaMemcpy(&marks, found, sizeof marks, cudaMemcpyDeviceToHost));
  std::printf("%llu of %zu words still hold the mark (allocation took %.0f ms)\n", marks, bytes / 4,
              (allocated - start) * kMilli);
}
void scrub() {
  std::size_t bytes = 0;
  MUST(cudaFree(nullptr));
  const double start = now();
  std::uint32_t* const words = take_all(&bytes);
  const double allocated = now();
  MUST(cudaMemset(words, 0, bytes));
  MUST(cudaDeviceSynchronize());
  const double done = now();
  MUST(cudaFree(words));
  std::printf("%.1f GiB: allocate %.0f ms, clear %.0f ms, free %.0f ms\n",
              static_cast<double>(bytes) / (1 << 30), (allocated - start) * kMilli,
              (done - allocated) * kMilli, (now() - done) * kMilli);
}

// E3
void probe() {
  std::uint32_t* word = nullptr;
  MUST(cudaMalloc(&word, 4));
  write_word<<<1, 1>>>(word);
  std::uint32_t value = 0;
  MUST(cudaMemcpy(&value, word, 4, cudaMemcpyDeviceToHost));
  std::printf("%s\n", value == kMark ? "answers" : "wrong value");
  if (value != kMark) std::exit(1);
}
/// Seconds until `self probe` ends well, at most `limit`; -1 when it never does.
double seconds_to_answer(const std::string& self, double limit) {
  const double start = now();
  while (now() - start < limit)
    if (std::system(("timeout 20 " + self + " probe >/dev/null").c_str()) == 0)
      return now() - start;
  return -1;
}
void kill_while_it_runs(const std::string& self) {
  const double before = seconds_to_answer(self, 30);
  int ready[2];
  if (pipe(ready) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    int* stop = nullptr;
    MUST(cudaMalloc(&stop, sizeof(int)));
    MUST(cudaMemset(stop, 0, sizeof(int)));
    spin_for_ever<<<1, 32>>>(stop);
    if (cudaStreamQuery(nullptr) != cudaErrorNotReady || write(ready[1], "", 1) != 1) _exit(1);
    pause();
  }
  char byte = 0;
  if (read(ready[0], &byte, 1) != 1) std::exit(1);
  usleep(300'000);
  const double start = now();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const double reaped = now() - start;
  const double after = seconds_to_answer(self, 60);
  std::printf(
      "reaped after %.2f s; a new process has an answer after %.2f s more (%.2f s before)\n",
      reaped, after, before);
}

// E4
template <typename Function>
Function driver(const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  MUST(cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found));
  return reinterpret_cast<Function>(entry);
}
void gaps() {
  struct Case {
    const char* name;
    CUmemAccess_flags access;
    bool behind;
  };
  for (const Case& one :
       {Case{"inside a writable mapping", CU_MEM_ACCESS_FLAGS_PROT_READWRITE, false},
        Case{"into the gap behind it", CU_MEM_ACCESS_FLAGS_PROT_READWRITE, true},
        Case{"into a read-only mapping", CU_MEM_ACCESS_FLAGS_PROT_READ, false}})
    apart([&] {
      MUST(cudaFree(nullptr));
      CUmemAllocationProp prop{};
      prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
      prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
      std::size_t page = 0;
      driver<decltype(&cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity")(
          &page, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
      CUdeviceptr place = 0;
      CUmemGenericAllocationHandle handle{};
      driver<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&place, 2 * page, 0, 0, 0);
      driver<decltype(&cuMemCreate)>("cuMemCreate")(&handle, page, &prop, 0);
      driver<decltype(&cuMemMap)>("cuMemMap")(place, page, 0, handle, 0);
      const CUmemAccessDesc access{prop.location, one.access};
      const CUresult set =
          driver<decltype(&cuMemSetAccess)>("cuMemSetAccess")(place, page, &access, 1);
      if (set != CUDA_SUCCESS) {
        std::printf("a write %s: the driver refuses such a mapping (%d)\n", one.name, set);
        return;
      }
      write_word<<<1, 1>>>(reinterpret_cast<std::uint32_t*>(place + (one.behind ? page : 0)));
      std::printf("a write %s: %s (pages of %zu KiB)\n", one.name,
                  cudaGetErrorName(cudaDeviceSynchronize()), page >> 10);
    });
}

// E5
double wall_of(int launches, long long cycles) {
  const double start = now();
  for (int i = 0; i < launches; ++i) spin_for<<<1, 1>>>(cycles);
  MUST(cudaDeviceSynchronize());
  return now() - start;
}
void clocks() {
  int kilohertz = 0;
  MUST(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  cudaEvent_t begin, end;
  MUST(cudaEventCreate(&begin));
  MUST(cudaEventCreate(&end));
  wall_of(1000, 10'000);
  for (const double micros : {5.0, 20.0, 100.0, 500.0, 2000.0, 5000.0}) {
    const auto cycles = static_cast<long long>(micros * kilohertz / kMilli);
    const int launches = std::max(8, static_cast<int>(20'000 / micros));
    std::vector<double> slopes, events;
    for (int round = 0; round < 7; ++round) {
      const double few = wall_of(launches, cycles);
      slopes.push_back((wall_of(2 * launches, cycles) - few) / launches * kMicro);
      MUST(cudaEventRecord(begin));
      for (int i = 0; i < launches; ++i) spin_for<<<1, 1>>>(cycles);
      MUST(cudaEventRecord(end));
      MUST(cudaEventSynchronize(end));
      float elapsed = 0;
      MUST(cudaEventElapsedTime(&elapsed, begin, end));
      events.push_back(elapsed * kMilli / launches);
    }
    std::printf(
        "kernels of %6.0f us: events %8.2f us, slope of the outside clock %8.2f us, ratio %.4f\n",
        micros, median(events), median(slopes), median(slopes) / median(events));
  }
}

// E7
void calls() {
  constexpr int kCalls = 2000;
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) std::exit(1);
  char message[64] = {};
  if (fork() == 0) {
    close(pair[0]);
    while (read(pair[1], message, sizeof message) == sizeof message) {
      if (message[0] == 1) {
        spin_for<<<1, 1>>>(1);
        MUST(cudaDeviceSynchronize());
      }
      if (write(pair[1], message, sizeof message) != sizeof message) break;
    }
    _exit(0);
  }
  close(pair[1]);
  for (const char work : {0, 1}) {
    std::vector<double> micros;
    for (int i = 0; i < kCalls; ++i) {
      message[0] = work;
      const double start = now();
      if (write(pair[0], message, sizeof message) != sizeof message ||
          read(pair[0], message, sizeof message) != sizeof message)
        std::exit(1);
      micros.push_back((now() - start) * kMicro);
    }
    std::printf("a call through a socket, %s: %.1f us\n", work ? "launch and wait" : "empty",
                median(micros));
  }
  close(pair[0]);
  std::vector<double> micros;
  for (int i = 0; i < kCalls; ++i) {
    const double start = now();
    spin_for<<<1, 1>>>(1);
    MUST(cudaDeviceSynchronize());
    micros.push_back((now() - start) * kMicro);
  }
  std::printf("launch and wait in the own process: %.1f us\n", median(micros));
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string question = argc > 1 ? argv[1] : "";
  if (question == "host-pointer")
    host_pointer();
  else if (question == "leave-marks")
    leave_marks();
  else if (question == "look-for-marks")
    look_for_marks();
  else if (question == "scrub")
    scrub();
  else if (question == "probe")
    probe();
  else if (question == "kill")
    kill_while_it_runs(argv[0]);
  else if (question == "gaps")
    gaps();
  else if (question == "clocks")
    clocks();
  else if (question == "calls")
    calls();
  else
    return std::fputs("see run.sh\n", stderr), 2;
  return 0;
}
