// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/device_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "grader/base/failpoint.hpp"
#include "grader/base/result.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/runtime_extensions.hpp"

namespace membound::harness {
namespace {

constexpr int kBlocksPerSm = 16;  // enough to fill any SM; the kernels stride over the rest
constexpr int kReadThreads = 512;
constexpr std::size_t kReadVectorsPerThread = 4;
constexpr std::size_t kResultBytes = 4096;

dim3 blocks_of(std::size_t elements, std::size_t per_block) {
  return dim3{static_cast<unsigned>((elements + per_block - 1) / per_block)};
}

}  // namespace

base::Result<DeviceKernels::Library> load_library(const std::filesystem::path& fatbin) {
  cudaLibrary_t library = nullptr;
  const auto load = [&](const std::filesystem::path& file) {
    return cudaLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr,
                                   0);
  };
  cudaError_t code = load(fatbin);
  // What this card or its driver does not take lies beside as PTX for all cards, where clang was
  // there to make it.
  if (code != cudaSuccess && load(fatbin.parent_path() / "harness.sm_60.ptx") == cudaSuccess)
    code = cudaSuccess;
  if (code != cudaSuccess)
    return base::Error{base::ErrorKind::kMachine, fatbin.string(), cuda_error_text(code),
                       "the harness's own kernels, compiled for this device",
                       "build again on this machine, so that the device is detected"};
  return DeviceKernels::Library(library);
}

DeviceKernels::DeviceKernels(Library library, const Device& device)
    : library_(std::move(library)),
      sm_count_(device.info().sm_count),
      device_(device.number()),
      result_(kResultBytes) {
  cuda_check(cudaMemset(result_.data(), 0, kResultBytes), "clearing a buffer");
}

std::string DeviceKernels::type_name(ElementType type) {
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

void DeviceKernels::launch_with(const std::string& name, dim3 grid, int threads,
                                std::span<const std::size_t> sizes, void** addresses) const {
  const DeviceScope on(device_);
  cudaKernel_t kernel = nullptr;
  cuda_check(cudaLibraryGetKernel(&kernel, library_.get(), name.c_str()), name.c_str());
  const void* const function = kernel;
  MEMBOUND_CHECK(parameters_match(function, sizes));
  cuda_check(
      cudaLaunchKernel(function, grid, dim3{static_cast<unsigned>(threads)}, addresses, 0, nullptr),
      name.c_str());
}

dim3 DeviceKernels::grid_for(std::size_t elements) const {
  const std::size_t wanted = (elements + kThreads - 1) / kThreads;
  const auto most = static_cast<std::size_t>(sm_count_) * kBlocksPerSm;
  return dim3{static_cast<unsigned>(std::clamp<std::size_t>(wanted, 1, most))};
}

void DeviceKernels::prepare_output(const TimedBuffer& buffer, void* d_data) const {
  const std::size_t words = buffer.size_bytes() / sizeof(kPoisonWord);
  if (words > 0) set_words(d_data, words, first_word(buffer));
}

unsigned DeviceKernels::first_word(const TimedBuffer& buffer) {
  const bool poisons = buffer.initial == Initial::kPoison && !base::switched_off("harness.poison");
  return poisons ? kPoisonWord : 0;
}

void DeviceKernels::each_touched(const void* d_data, std::size_t size_bytes, const See& see) const {
  const DeviceScope on(device_);
  std::vector<std::byte> bytes(size_bytes);
  if (bytes.empty()) return;
  cuda_check(cudaMemcpy(bytes.data(), d_data, size_bytes, cudaMemcpyDeviceToHost),
             "reading an array");
  see(0, bytes);
}

bool DeviceKernels::is_as_drawn(const TimedBuffer& buffer, const void* d_data,
                                std::uint64_t seed) const {
  bool is_same = true;
  DeviceKernels::each_touched(d_data, buffer.size_bytes(),
                              [&](std::size_t /*offset*/, std::span<const std::byte> bytes) {
                                const HostArray was = drawn(buffer, seed);
                                is_same = std::memcmp(bytes.data(), was.data(), was.size()) == 0;
                              });
  return is_same;
}

Difference DeviceKernels::compare(const TimedBuffer& buffer, const void* d_got,
                                  const void* d_expected, Tolerance tolerance) const {
  const DeviceScope on(device_);
  Difference difference;
  void* d_result = result_.data();
  cuda_check(cudaMemcpy(d_result, &difference, sizeof(difference), cudaMemcpyHostToDevice),
             "preparing a comparison");
  const unsigned long long count = buffer.count;
  launch("membound_compare_" + type_name(buffer.type), grid_for(buffer.count), kThreads, d_got,
         d_expected, count, tolerance.absolute, tolerance.relative, d_result);
  cuda_check(cudaMemcpy(&difference, d_result, sizeof(difference), cudaMemcpyDeviceToHost),
             "reading a comparison");
  return difference;
}

void DeviceKernels::keep_busy() const {
  constexpr int kOneWarp = 32;
  constexpr int kRounds = 16;
  launch_arithmetic("membound_add_min", 1, kOneWarp, kRounds);
}

void DeviceKernels::launch_nothing() const {
  launch("membound_set_words", dim3{1}, kThreads, result_.data(), 0ULL, 0U);
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

void DeviceKernels::launch_arithmetic(const std::string& name, int blocks, int threads,
                                      int iterations) const {
  void* d_addends = static_cast<std::byte*>(result_.data()) + kResultBytes / 4;  // stays 0
  void* d_never = static_cast<std::byte*>(result_.data()) + kResultBytes / 2;
  launch(name, dim3{static_cast<unsigned>(blocks)}, threads, d_addends, d_never, iterations);
}

double DeviceKernels::fill_with_arithmetic(const std::string& name, int iterations,
                                           int operations) const {
  // 2 blocks of 256 threads: 4 warps for each of an SM's four schedulers; more were no faster.
  constexpr int kBlock = 256;
  const int blocks = 2 * sm_count_;
  launch_arithmetic(name, blocks, kBlock, iterations);
  return static_cast<double>(blocks) * kBlock * iterations * operations;
}

double DeviceKernels::add_min(int iterations) const {
  return fill_with_arithmetic("membound_add_min", iterations, kAddMinOperationsPerIteration);
}

double DeviceKernels::multiply_add(int iterations) const {
  return fill_with_arithmetic("membound_multiply_add", iterations, kAddMinOperationsPerIteration);
}

}  // namespace membound::harness
