// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A library that is loaded before a program (LD_PRELOAD) and times its work with events of its
/// own, where the program meets its device by itself. The program is not changed, and what it says
/// of itself does not count. Program and clock share a process: who wants to can forge what it
/// writes.
///
/// MEMBOUND_WORK_CLOCK names the file for its report (work_report.hpp). Usually all work runs as
/// the program hands it in, and one line has the time from before the first kernel or asynchronous
/// copy to past the last one, of all streams. Events are then recorded where the program begins
/// and where the host waits, never between two operations, so that nothing is ordered that was
/// not. With MEMBOUND_WORK_CLOCK_APART each operation waits for the one before, and has a line.
/// Copies that keep the host are left out, and what is in a graph runs in turn, as one operation.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "grader/harness/program/work_report.hpp"

namespace membound::harness {
namespace {

/// The runtime's own function of that name.
template <typename Function>
Function* of_runtime(const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (found != nullptr) return found;
  std::fprintf(stderr, "work clock: the CUDA runtime has no %s\n", name);
  std::abort();
}

cudaError_t wait_for_device() {
  static auto* const wait = of_runtime<decltype(cudaDeviceSynchronize)>("cudaDeviceSynchronize");
  return wait();
}

// CUDA 13 can say more of an edge.
#if CUDART_VERSION >= 13000
#define PLAIN_EDGES nullptr,
#else
#define PLAIN_EDGES
#endif

/// Orders what lies side by side in a graph, each operation after the one before.
cudaError_t put_in_turn(cudaGraph_t graph) {
  std::size_t count = 0, edges = 0;
  if (const auto code = cudaGraphGetNodes(graph, nullptr, &count); code != cudaSuccess) return code;
  std::vector<cudaGraphNode_t> waiting(count), order;
  if (const auto code = cudaGraphGetNodes(graph, waiting.data(), &count); code != cudaSuccess)
    return code;
  if (const auto code = cudaGraphGetEdges(graph, nullptr, nullptr, PLAIN_EDGES & edges);
      code != cudaSuccess)
    return code;
  std::vector<cudaGraphNode_t> from(edges), to(edges);
  if (const auto code = cudaGraphGetEdges(graph, from.data(), to.data(), PLAIN_EDGES & edges);
      code != cudaSuccess)
    return code;
  const auto is_ready = [&](cudaGraphNode_t node) {
    for (std::size_t i = 0; i < edges; ++i)
      if (to[i] == node && std::find(order.begin(), order.end(), from[i]) == order.end())
        return false;
    return true;
  };
  while (!waiting.empty()) {
    const auto next = std::find_if(waiting.begin(), waiting.end(), is_ready);
    if (next == waiting.end()) return cudaErrorInvalidValue;
    order.push_back(*next);
    waiting.erase(next);
  }
  for (std::size_t i = 1; i < order.size(); ++i) {
    bool is_there = false;
    for (std::size_t k = 0; k < edges; ++k)
      is_there = is_there || (from[k] == order[i - 1] && to[k] == order[i]);
    if (is_there) continue;
    if (const auto code = cudaGraphAddDependencies(graph, &order[i - 1], &order[i], PLAIN_EDGES 1);
        code != cudaSuccess)
      return code;
  }
  return cudaSuccess;
}

class Clock {
 public:
  /// Hands in one operation with `call`.
  template <typename Call>
  cudaError_t hand_in(WorkKind kind, cudaStream_t stream, Call call) {
    const std::lock_guard guard(mutex_);
    if (inside_) return call();  // the runtime's own way to do what was asked for
    const Inside mark(inside_);
    cudaStreamCaptureStatus status{};
    check(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusNone) return call();  // nothing runs yet
    if (pieces_++ == 0) {
      if (!apart_) begin_ = recorded(stream);
      std::atexit([] { instance().report(); });
    }
    if (!apart_) {
      busy_.insert(stream);
      return call();
    }
    // The device orders them, not the host: a device that waits for the host is slower afterwards.
    if (!apart_operations_.empty())
      check(cudaStreamWaitEvent(stream, apart_operations_.back().behind, 0));
    cudaEvent_t const before = recorded(stream);
    const cudaError_t code = call();
    apart_operations_.push_back({kind, before, recorded(stream)});
    return code;
  }
  /// A graph is about to be made ready.
  void prepare(cudaGraph_t graph) {
    const std::lock_guard guard(mutex_);
    if (inside_ || !apart_) return;
    const Inside mark(inside_);
    check(put_in_turn(graph));
  }
  /// The host is about to wait for all that was handed in, or a stream is about to go.
  void close() {
    const std::lock_guard guard(mutex_);
    if (!inside_) record_ends();
  }
  static Clock& instance() {
    static auto* const clock = new Clock;  // outlives everything that calls at the end
    return *clock;
  }

 private:
  struct ApartOperation {
    WorkKind kind;
    cudaEvent_t before = nullptr, behind = nullptr;
  };
  /// Sets a mark while it lives.
  class Inside {
   public:
    explicit Inside(bool& inside) : inside_(inside) { inside_ = true; }
    ~Inside() { inside_ = false; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    bool& inside_;
  };

  void check(cudaError_t code) { well_ = well_ && code == cudaSuccess; }
  cudaEvent_t recorded(cudaStream_t stream) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event));
    check(cudaEventRecord(event, stream));
    return event;
  }
  double elapsed_ns(cudaEvent_t from, cudaEvent_t to) {
    constexpr double kNsPerMs = 1e6;
    float elapsed_ms = 0;
    check(cudaEventElapsedTime(&elapsed_ms, from, to));
    return elapsed_ms * kNsPerMs;
  }
  void record_ends() {
    for (cudaStream_t stream : busy_) ends_.push_back(recorded(stream));
    busy_.clear();
  }
  /// Where a call of the clock's failed, the file is not written.
  void report() {
    const std::lock_guard guard(mutex_);
    record_ends();
    check(wait_for_device());
    double longest_ns = 0;
    for (cudaEvent_t end : ends_) longest_ns = std::max(longest_ns, elapsed_ns(begin_, end));
    std::string text = apart_ ? "" : line_of(WorkKind::kAll, longest_ns);
    for (const ApartOperation& operation : apart_operations_)
      text += line_of(operation.kind, elapsed_ns(operation.before, operation.behind));
    const char* const path = std::getenv("MEMBOUND_WORK_CLOCK");
    std::FILE* const file = well_ && path != nullptr ? std::fopen(path, "wb") : nullptr;
    if (file == nullptr) return;
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }

  std::recursive_mutex mutex_;
  bool inside_ = false;  ///< one of the program's calls
  const bool apart_ = std::getenv("MEMBOUND_WORK_CLOCK_APART") != nullptr;
  bool well_ = true;
  cudaEvent_t begin_ = nullptr;
  std::vector<cudaEvent_t> ends_;
  std::set<cudaStream_t> busy_;
  long pieces_ = 0;
  std::vector<ApartOperation> apart_operations_;
};

WorkKind work_of(cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice) return WorkKind::kCopyIn;
  return kind == cudaMemcpyDeviceToHost ? WorkKind::kCopyOut : WorkKind::kOnDevice;
}

}  // namespace
}  // namespace membound::harness

using membound::harness::Clock;
using membound::harness::of_runtime;
using membound::harness::WorkKind;

#define EXPORT extern "C" __attribute__((visibility("default")))

/// What `<<<…>>>` calls.
EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                      size_t shared_bytes, cudaStream_t stream) {
  static auto* const launch = of_runtime<decltype(__cudaLaunchKernel)>("__cudaLaunchKernel");
  return Clock::instance().hand_in(WorkKind::kKernel, stream, [&] {
    return launch(kernel, grid, block, arguments, shared_bytes, stream);
  });
}

EXPORT cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes, cudaStream_t stream) {
  static auto* const launch =
      of_runtime<cudaError_t(const void*, dim3, dim3, void**, size_t, cudaStream_t)>(
          "cudaLaunchKernel");
  return Clock::instance().hand_in(WorkKind::kKernel, stream, [&] {
    return launch(kernel, grid, block, arguments, shared_bytes, stream);
  });
}

EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream) {
  static auto* const copy = of_runtime<decltype(cudaMemcpyAsync)>("cudaMemcpyAsync");
  return Clock::instance().hand_in(membound::harness::work_of(kind), stream,
                                   [&] { return copy(to, from, bytes, kind, stream); });
}

EXPORT cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  static auto* const fill = of_runtime<decltype(cudaMemsetAsync)>("cudaMemsetAsync");
  return Clock::instance().hand_in(WorkKind::kOnDevice, stream,
                                   [&] { return fill(data, value, bytes, stream); });
}

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  static auto* const launch = of_runtime<decltype(cudaGraphLaunch)>("cudaGraphLaunch");
  return Clock::instance().hand_in(WorkKind::kGraph, stream, [&] { return launch(graph, stream); });
}

EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph,
                                        unsigned long long flags) {
  static auto* const instantiate =
      of_runtime<cudaError_t(cudaGraphExec_t*, cudaGraph_t, unsigned long long)>(
          "cudaGraphInstantiate");
  Clock::instance().prepare(graph);
  return instantiate(ready, graph, flags);
}

EXPORT cudaError_t cudaDeviceSynchronize() {
  Clock::instance().close();
  return membound::harness::wait_for_device();
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  static auto* const wait = of_runtime<decltype(cudaStreamSynchronize)>("cudaStreamSynchronize");
  Clock::instance().close();
  return wait(stream);
}

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  static auto* const wait = of_runtime<decltype(cudaEventSynchronize)>("cudaEventSynchronize");
  Clock::instance().close();
  return wait(event);
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
