// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/device_kernels.hpp"

#include <algorithm>

#include "grader/base/check.hpp"
#include "grader/base/switches.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/cases/host_arrays.hpp"
#include "grader/harness/cases/poison.hpp"
#include "grader/harness/device/cuda_check.hpp"
#include "grader/harness/device/device_scope.hpp"
#include "grader/harness/device/runner_link.hpp"

namespace membound::harness {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kVectorBytes = 16;
constexpr int kBlocksPerSm = 16;  // enough to fill any SM; the kernels stride over the rest
constexpr int kReadThreads = 512;
constexpr std::size_t kReadVectorsPerThread = 4;
constexpr std::size_t kResultBytes = 4096;

const char* name_of(ElementType type) {
  switch (type) {
    case ElementType::kInt32:
      return "int32";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kFloat:
      return "float";
    case ElementType::kDouble:
      break;
  }
  return "double";
}

dim3 blocks_of(std::size_t elements, std::size_t per_block) {
  return dim3(static_cast<unsigned>((elements + per_block - 1) / per_block));
}

}  // namespace

base::Result<DeviceKernels> DeviceKernels::load(const std::filesystem::path& fatbin,
                                                const Device& device) {
  const DeviceScope on(device.number());
  cudaLibrary_t library = nullptr;
  if (const cudaError_t code = cudaLibraryLoadFromFile(&library, fatbin.c_str(), nullptr, nullptr,
                                                       0, nullptr, nullptr, 0);
      code != cudaSuccess)
    return base::Error{base::ErrorKind::kMachine, fatbin.string(), cuda_error_text(code),
                       "the harness's own kernels, compiled for this device",
                       "build again on this machine, so that the device is detected"};
  DeviceKernels kernels;
  kernels.library_.reset(library);
  kernels.sm_count_ = device.info().sm_count;
  kernels.device_ = device.number();
  kernels.is_virtual_ = device.is_virtual();
  kernels.result_ = DeviceBuffer(kResultBytes);
  cuda_check(cudaMemset(kernels.result_.data(), 0, kResultBytes), "clearing a buffer");
  if (!device.is_virtual()) {
    kernels.flush_ = DeviceBuffer(2 * static_cast<std::size_t>(device.info().l2_bytes));
    cuda_check(cudaMemset(kernels.flush_.data(), 0, kernels.flush_.size_bytes()),
               "clearing the flush buffer");
  }
  return kernels;
}

const void* DeviceKernels::kernel(const std::string& name) const {
  cudaKernel_t kernel = nullptr;
  cuda_check(cudaLibraryGetKernel(&kernel, library_.get(), name.c_str()), name.c_str());
  return kernel;
}

template <typename... Arguments>
void DeviceKernels::launch(const std::string& name, dim3 grid, int threads,
                           Arguments... arguments) const {
  const DeviceScope on(device_);
  const void* function = kernel(name);
  const std::size_t sizes[] = {sizeof(Arguments)...};
  MEMBOUND_CHECK(parameters_match(function, sizes));
  void* addresses[] = {&arguments...};
  cuda_check(
      cudaLaunchKernel(function, grid, dim3(static_cast<unsigned>(threads)), addresses, 0, nullptr),
      name.c_str());
}

dim3 DeviceKernels::grid_for(std::size_t elements) const {
  const std::size_t wanted = (elements + kThreads - 1) / kThreads;
  const auto most = static_cast<std::size_t>(sm_count_) * kBlocksPerSm;
  return dim3(static_cast<unsigned>(std::clamp<std::size_t>(wanted, 1, most)));
}

void DeviceKernels::fill(const TimedBuffer& buffer, void* d_data, std::uint64_t seed) const {
  if (buffer.count == 0) return;
  if (is_virtual_) {
    const DeviceScope on(device_);
    const HostArray values = drawn(buffer, seed);
    cuda_check(cudaMemcpy(d_data, values.data(), values.size(), cudaMemcpyHostToDevice),
               "writing an input");
    return;
  }
  const Draw draw = draw_of(buffer, seed);
  const unsigned long long count = buffer.count;
  launch(std::string("membound_fill_") + name_of(buffer.type), grid_for(buffer.count), kThreads,
         d_data, count, draw);
}

void DeviceKernels::prepare_output(const TimedBuffer& buffer, void* d_data) const {
  const unsigned long long words = buffer.size_bytes() / sizeof(kPoisonWord);
  const bool poisons = buffer.initial == Initial::kPoison && !base::switched_off("harness.poison");
  const unsigned word = poisons ? kPoisonWord : 0;
  if (is_virtual_) {
    if (words == 0) return;
    const DeviceScope on(device_);
    const std::vector<unsigned> all(words, word);
    cuda_check(cudaMemcpy(d_data, all.data(), buffer.size_bytes(), cudaMemcpyHostToDevice),
               "preparing an output");
    return;
  }
  launch("membound_set_words", grid_for(words), kThreads, d_data, words, word);
}

void DeviceKernels::flush_l2() const {
  if (flush_.size_bytes() == 0) return;
  const unsigned long long count = flush_.size_bytes() / kVectorBytes;
  launch("membound_read", grid_for(count), kThreads, flush_.data(), count, result_.data());
}

Difference DeviceKernels::compare(const TimedBuffer& buffer, const void* d_got,
                                  const void* d_expected, Tolerance tolerance) const {
  const DeviceScope on(device_);
  Difference difference;
  void* d_result = result_.data();
  cuda_check(cudaMemcpy(d_result, &difference, sizeof(difference), cudaMemcpyHostToDevice),
             "preparing a comparison");
  const unsigned long long count = buffer.count;
  launch(std::string("membound_compare_") + name_of(buffer.type), grid_for(buffer.count), kThreads,
         d_got, d_expected, count, tolerance.absolute, tolerance.relative, d_result);
  cuda_check(cudaMemcpy(&difference, d_result, sizeof(difference), cudaMemcpyDeviceToHost),
             "reading a comparison");
  return difference;
}

std::uint64_t DeviceKernels::fingerprint(const void* d_data, std::size_t size_bytes,
                                         std::uint64_t key) const {
  const DeviceScope on(device_);
  const unsigned long long count = size_bytes / sizeof(std::uint32_t);
  if (is_virtual_) {
    std::vector<std::uint32_t> words(count);
    if (count > 0)
      cuda_check(cudaMemcpy(words.data(), d_data, size_bytes, cudaMemcpyDeviceToHost),
                 "reading an array for its fingerprint");
    return fingerprint_of(words, key);
  }
  unsigned long long sum = 0;
  cuda_check(cudaMemcpy(result_.data(), &sum, sizeof(sum), cudaMemcpyHostToDevice),
             "preparing a fingerprint");
  const unsigned long long word_key = key;
  launch("membound_fingerprint", grid_for(count), kThreads, d_data, count, word_key,
         result_.data());
  cuda_check(cudaMemcpy(&sum, result_.data(), sizeof(sum), cudaMemcpyDeviceToHost),
             "reading a fingerprint");
  return sum;
}

void DeviceKernels::keep_busy() const {
  constexpr int kOneWarp = 32;
  constexpr int kRounds = 16;
  launch_add_min(1, kOneWarp, kRounds);
}

void DeviceKernels::launch_nothing() const {
  launch("membound_set_words", dim3(1), kThreads, result_.data(), 0ULL, 0U);
}

void DeviceKernels::copy(void* d_out, const void* d_in, std::size_t size_bytes) const {
  const unsigned long long count = size_bytes / kVectorBytes;
  launch("membound_copy", blocks_of(count, kThreads), kThreads, d_out, d_in, count);
}

void DeviceKernels::read(const void* d_in, std::size_t size_bytes) const {
  const unsigned long long count = size_bytes / kVectorBytes;
  launch("membound_read_ceiling", blocks_of(count, kReadThreads * kReadVectorsPerThread),
         kReadThreads, d_in, count, result_.data());
}

void DeviceKernels::launch_add_min(int blocks, int threads, int rounds) const {
  void* d_addends = static_cast<std::byte*>(result_.data()) + kResultBytes / 4;  // stays 0
  void* d_never = static_cast<std::byte*>(result_.data()) + kResultBytes / 2;
  launch("membound_add_min", dim3(static_cast<unsigned>(blocks)), threads, d_addends, d_never,
         rounds);
}

double DeviceKernels::add_min(int rounds) const {
  // 2 blocks of 256 threads: 4 warps for each of an SM's four schedulers; more were no faster.
  constexpr int kBlock = 256;
  const int blocks = 2 * sm_count_;
  launch_add_min(blocks, kBlock, rounds);
  return static_cast<double>(blocks) * kBlock * rounds * kAddMinOperationsPerRound;
}

}  // namespace membound::harness
