// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device_kernels.hpp"

#include <algorithm>

#include "grader/harness/cuda_check.hpp"
#include "grader/harness/poison.hpp"

namespace membound::harness {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kVectorBytes = 16;
constexpr int kBlocksPerSm = 16;  // enough to fill any SM; the kernels stride over the rest
constexpr int kReadThreads = 512;
constexpr std::size_t kReadVectorsPerThread = 4;
constexpr std::size_t kResultBytes = 4096;

/// As in device/kernels.cu.
struct Draw {
  unsigned long long seed;
  long long low, high;
  double infinity_share;
  int fill;
  int whole_numbers;
};

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

void DeviceKernels::launch(const std::string& name, dim3 grid, int threads,
                           void** arguments) const {
  cuda_check(cudaLaunchKernel(kernel(name), grid, dim3(static_cast<unsigned>(threads)), arguments,
                              0, nullptr),
             name.c_str());
}

dim3 DeviceKernels::grid_for(std::size_t elements) const {
  const std::size_t wanted = (elements + kThreads - 1) / kThreads;
  const auto most = static_cast<std::size_t>(sm_count_) * kBlocksPerSm;
  return dim3(static_cast<unsigned>(std::clamp<std::size_t>(wanted, 1, most)));
}

void DeviceKernels::fill(const TimedBuffer& buffer, void* d_data, std::uint64_t seed) const {
  const IntegerRange range = buffer.integers.value_or(IntegerRange{});
  Draw draw{seed,
            range.low,
            range.high,
            buffer.infinity_share,
            static_cast<int>(buffer.fill),
            buffer.integers ? 1 : 0};
  unsigned long long count = buffer.count;
  void* arguments[] = {&d_data, &count, &draw};
  launch(std::string("membound_fill_") + name_of(buffer.type), grid_for(buffer.count), kThreads,
         arguments);
}

void DeviceKernels::prepare_output(const TimedBuffer& buffer, void* d_data) const {
  unsigned long long words = buffer.size_bytes() / sizeof(kPoisonWord);
  unsigned word = buffer.initial == Initial::kPoison ? kPoisonWord : 0;
  void* arguments[] = {&d_data, &words, &word};
  launch("membound_set_words", grid_for(words), kThreads, arguments);
}

void DeviceKernels::flush_l2() const {
  if (flush_.size_bytes() == 0) return;
  unsigned long long count = flush_.size_bytes() / kVectorBytes;
  void* d_in = flush_.data();
  void* d_never = result_.data();
  void* arguments[] = {&d_in, &count, &d_never};
  launch("membound_read", grid_for(count), kThreads, arguments);
}

Difference DeviceKernels::compare(const TimedBuffer& buffer, const void* d_got,
                                  const void* d_expected, Tolerance tolerance) const {
  Difference difference;
  void* d_result = result_.data();
  cuda_check(cudaMemcpy(d_result, &difference, sizeof(difference), cudaMemcpyHostToDevice),
             "preparing a comparison");
  unsigned long long count = buffer.count;
  void* arguments[] = {&d_got,   &d_expected, &count, &tolerance.absolute, &tolerance.relative,
                       &d_result};
  launch(std::string("membound_compare_") + name_of(buffer.type), grid_for(buffer.count), kThreads,
         arguments);
  cuda_check(cudaMemcpy(&difference, d_result, sizeof(difference), cudaMemcpyDeviceToHost),
             "reading a comparison");
  return difference;
}

void DeviceKernels::copy(void* d_out, const void* d_in, std::size_t size_bytes) const {
  unsigned long long count = size_bytes / kVectorBytes;
  void* arguments[] = {&d_out, &d_in, &count};
  launch("membound_copy", blocks_of(count, kThreads), kThreads, arguments);
}

void DeviceKernels::read(const void* d_in, std::size_t size_bytes) const {
  unsigned long long count = size_bytes / kVectorBytes;
  void* d_never = result_.data();
  void* arguments[] = {&d_in, &count, &d_never};
  launch("membound_read_ceiling", blocks_of(count, kReadThreads * kReadVectorsPerThread),
         kReadThreads, arguments);
}

double DeviceKernels::add_min(int rounds) const {
  // 2 blocks of 256 threads: 4 warps for each of an SM's four schedulers; more were no faster.
  constexpr int kBlock = 256;
  const int blocks = 2 * sm_count_;
  void* d_addends = static_cast<std::byte*>(result_.data()) + kResultBytes / 4;  // stays 0
  void* d_never = static_cast<std::byte*>(result_.data()) + kResultBytes / 2;
  void* arguments[] = {&d_addends, &d_never, &rounds};
  launch("membound_add_min", dim3(static_cast<unsigned>(blocks)), kBlock, arguments);
  return static_cast<double>(blocks) * kBlock * rounds * kAddMinOperationsPerRound;
}

}  // namespace membound::harness
