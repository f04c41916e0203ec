// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/device_probe.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

namespace membound::runner {
namespace {

constexpr unsigned long long kProbeWords = 1 << 18;
constexpr unsigned kWord = 0x5EED1234U;

struct Step {
  const char* what;
  cudaError_t code;
};

/// The first step that fails, or one that says so of the data.
Step run(const std::string& file) {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  void* d_words = nullptr;
  cudaError_t code =
      cudaLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (code != cudaSuccess) return {"loading the harness's kernels", code};
  code = cudaLibraryGetKernel(&kernel, library, "membound_set_words");
  if (code != cudaSuccess) return {"finding membound_set_words", code};
  code = cudaMalloc(&d_words, kProbeWords * sizeof(kWord));
  if (code != cudaSuccess) return {"allocating 1 MiB", code};
  unsigned long long count = kProbeWords;
  unsigned word = kWord;
  void* arguments[] = {&d_words, &count, &word};
  code = cudaLaunchKernel(kernel, dim3{64}, dim3{256}, arguments, 0, nullptr);
  if (code != cudaSuccess) return {"launching a kernel", code};
  code = cudaDeviceSynchronize();
  if (code != cudaSuccess) return {"running a kernel", code};
  std::vector<unsigned> words(kProbeWords);
  code = cudaMemcpy(words.data(), d_words, kProbeWords * sizeof(kWord), cudaMemcpyDeviceToHost);
  if (code != cudaSuccess) return {"reading memory back", code};
  if (std::any_of(words.begin(), words.end(), [](unsigned got) { return got != kWord; }))
    return {"what a kernel wrote", cudaErrorECCUncorrectable};
  return {nullptr, cudaFree(d_words)};
}

}  // namespace

bool probe_device(const std::string& harness_kernels) {
  const auto start = std::chrono::steady_clock::now();
  const Step step = run(harness_kernels);
  std::size_t free_bytes = 0, total_bytes = 0;
  static_cast<void>(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  nlohmann::json report = {{"ok", step.what == nullptr && step.code == cudaSuccess},
                           {"free_bytes", free_bytes},
                           {"total_bytes", total_bytes},
                           {"seconds", took.count()}};
  if (step.what != nullptr)
    report["failed"] = std::string(step.what) + ": " + cudaGetErrorString(step.code);
  std::printf("%s\n", report.dump().c_str());
  return report["ok"];
}

}  // namespace membound::runner
