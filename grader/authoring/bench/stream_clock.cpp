// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A library that is loaded before a program of lab 12 (LD_PRELOAD) and times its work on a real
/// GPU with events of its own: from before the first kernel or asynchronous copy to behind the last
/// one, of all streams. The program is not changed, and what it says of itself does not count.
/// Place in the chain: program_clock.sh -> [stream_clock] -> CUDA runtime. Left out: points. The
/// program and this library share a process: who wants to can forge what it prints.
///
/// Events are recorded where the program begins and where the host waits, never between two pieces
/// of work, so that nothing is ordered that was not. Copies that keep the host are left out.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

namespace {

/// The runtime's own function of that name.
template <typename Function>
Function* of_runtime(const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (found != nullptr) return found;
  std::fprintf(stderr, "stream_clock: the CUDA runtime has no %s\n", name);
  std::abort();
}

void must(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "stream_clock: %s\n", cudaGetErrorString(code));
  std::abort();
}

class Clock {
 public:
  /// Something is about to be handed in.
  void before(cudaStream_t stream) {
    cudaStreamCaptureStatus status{};
    must(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusNone) return;  // nothing runs yet
    if (begin_ == nullptr) {
      must(cudaEventCreate(&begin_));
      must(cudaEventRecord(begin_, stream));
      std::atexit([] { instance().report(); });
    }
    ++pieces_;
    busy_.insert(stream);
  }
  /// The host is about to wait for all that was handed in, or a stream is about to go.
  void close() {
    for (cudaStream_t stream : busy_) {
      cudaEvent_t end = nullptr;
      must(cudaEventCreate(&end));
      must(cudaEventRecord(end, stream));
      ends_.push_back(end);
    }
    busy_.clear();
  }
  static Clock& instance() {
    static auto* const clock = new Clock;  // outlives everything that calls at the end
    return *clock;
  }

 private:
  void report() {
    close();
    must(cudaDeviceSynchronize());
    float longest_ms = 0;
    for (cudaEvent_t end : ends_) {
      float since_begin_ms = 0;
      must(cudaEventElapsedTime(&since_begin_ms, begin_, end));
      longest_ms = std::max(longest_ms, since_begin_ms);
    }
    std::fprintf(stderr, "stream_clock: %.4f ms for %d pieces of work\n", longest_ms, pieces_);
  }

  cudaEvent_t begin_ = nullptr;
  std::vector<cudaEvent_t> ends_;
  std::set<cudaStream_t> busy_;
  int pieces_ = 0;
};

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                      size_t shared_bytes, cudaStream_t stream) {
  static auto* const launch = of_runtime<decltype(__cudaLaunchKernel)>("__cudaLaunchKernel");
  Clock::instance().before(stream);
  return launch(kernel, grid, block, arguments, shared_bytes, stream);
}

EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  static auto* const copy = of_runtime<decltype(cudaMemcpyAsync)>("cudaMemcpyAsync");
  Clock::instance().before(stream);
  return copy(to, from, bytes, kind, stream);
}

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  static auto* const launch = of_runtime<decltype(cudaGraphLaunch)>("cudaGraphLaunch");
  Clock::instance().before(stream);
  return launch(graph, stream);
}

EXPORT cudaError_t cudaDeviceSynchronize() {
  static auto* const wait = of_runtime<decltype(cudaDeviceSynchronize)>("cudaDeviceSynchronize");
  Clock::instance().close();
  return wait();
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  static auto* const wait = of_runtime<decltype(cudaStreamSynchronize)>("cudaStreamSynchronize");
  Clock::instance().close();
  return wait(stream);
}

EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  static auto* const destroy = of_runtime<decltype(cudaStreamDestroy)>("cudaStreamDestroy");
  Clock::instance().close();
  return destroy(stream);
}

EXPORT cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  static auto* const copy = of_runtime<decltype(cudaMemcpy)>("cudaMemcpy");
  Clock::instance().close();
  return copy(to, from, bytes, kind);
}
