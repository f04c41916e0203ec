// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The harness's own kernels (harness_kernels.cu) as functions: all queue on the default stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "grader/base/result.hpp"
#include "grader/harness/cases/compare.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/device.hpp"

namespace membound::harness {

/// Additions and minima that one thread of add_min() does per iteration, together; as many are the
/// operations of multiply_add().
inline constexpr int kAddMinOperationsPerIteration = 512;

/// The loaded harness.fatbin with the buffers its kernels need, on one device, which makes it
/// (Device::load_kernels).
class DeviceKernels {
 public:
  struct Unload {
    void operator()(cudaLibrary_t library) const { cudaLibraryUnload(library); }
  };
  using Library = std::unique_ptr<CUlib_st, Unload>;

  /// Called where `device` is current.
  DeviceKernels(Library library, const Device& device);
  DeviceKernels(const DeviceKernels&) = delete;
  DeviceKernels& operator=(const DeviceKernels&) = delete;
  virtual ~DeviceKernels() = default;

  /// Draws an input.
  virtual void fill(const TimedBuffer& buffer, void* d_data, std::uint64_t seed) const = 0;
  /// Gives an output its state before a launch.
  void prepare_output(const TimedBuffer& buffer, void* d_data) const;
  /// The same two for arrays of which a sampled launch will touch little.
  virtual void fill_when_touched(const TimedBuffer& buffer, void* d_data,
                                 std::uint64_t seed) const {
    fill(buffer, d_data, seed);
  }
  virtual void prepare_when_touched(const TimedBuffer& buffer, void* d_data) const {
    prepare_output(buffer, d_data);
  }
  /// Shows, in order, what may have been touched of such an array since; waits.
  using See = std::function<void(std::size_t offset, std::span<const std::byte> bytes)>;
  virtual void each_touched(const void* d_data, std::size_t size_bytes, const See& see) const;
  /// Whether such an input holds what was drawn with this seed; waits.
  [[nodiscard]] virtual bool is_as_drawn(const TimedBuffer& buffer, const void* d_data,
                                         std::uint64_t seed) const;
  /// Leaves nothing in the L2 cache but clean lines of a buffer of its own, twice the cache's size.
  virtual void flush_l2() const = 0;
  /// The last thing before a timed launch: empty caches, and a device that is still busy when the
  /// launch is queued, so that the host's launch time stays hidden.
  virtual void settle() const = 0;
  /// Compares two outputs; waits.
  [[nodiscard]] Difference compare(const TimedBuffer& buffer, const void* d_got,
                                   const void* d_expected, Tolerance tolerance) const;

  /// The fingerprint of values.cuh of an array; waits.
  [[nodiscard]] virtual std::uint64_t fingerprint(const void* d_data, std::size_t size_bytes,
                                                  std::uint64_t key) const = 0;
  /// A launch that does nothing: what is left of a time when the work is taken away.
  void launch_nothing() const;

  /// Ceilings; `size_bytes` is rounded down to whole 16-byte vectors.
  void copy(void* d_out, const void* d_in, std::size_t size_bytes) const;
  void read(const void* d_in, std::size_t size_bytes) const;
  /// Fills the device with warps that each do `iterations` iterations; returns the operations done.
  double add_min(int iterations) const;
  /// The same with multiply-adds, which are two operations each.
  double multiply_add(int iterations) const;

 protected:
  static constexpr int kThreads = 256;
  static constexpr std::size_t kVectorBytes = 16;

  /// Some ten microseconds of work for the device and little for who interprets it.
  void keep_busy() const;
  /// What an output's words are before a launch.
  [[nodiscard]] static unsigned first_word(const TimedBuffer& buffer);
  /// "int32", …, as the kernels' names end.
  [[nodiscard]] static std::string type_name(ElementType type);
  [[nodiscard]] int device() const { return device_; }
  /// For what a kernel finds.
  [[nodiscard]] void* d_result() const { return result_.data(); }
  [[nodiscard]] dim3 grid_for(std::size_t elements) const;
  template <typename... Arguments>
  void launch(const std::string& name, dim3 grid, int threads, Arguments... arguments) const {
    const std::size_t sizes[] = {sizeof(Arguments)...};
    void* addresses[] = {&arguments...};
    launch_with(name, grid, threads, sizes, addresses);
  }

 private:
  virtual void set_words(void* d_data, std::size_t count, unsigned word) const = 0;
  void launch_with(const std::string& name, dim3 grid, int threads,
                   std::span<const std::size_t> sizes, void** addresses) const;
  /// Launches a kernel of arithmetic alone.
  void launch_arithmetic(const std::string& name, int blocks, int threads, int iterations) const;
  /// On all multiprocessors; returns the operations done.
  double fill_with_arithmetic(const std::string& name, int iterations, int operations) const;

  Library library_;
  int sm_count_, device_;
  DeviceBuffer result_;  // a Difference, and floats for the ceilings
};

/// The library in `fatbin`, for this device.
[[nodiscard]] base::Result<DeviceKernels::Library> load_library(
    const std::filesystem::path& fatbin);

/// Loads `fatbin` as `Kernels`, which is derived from DeviceKernels.
template <typename Kernels>
base::Result<std::unique_ptr<DeviceKernels>> load(const std::filesystem::path& fatbin,
                                                  const Device& device) {
  const DeviceScope on(device.number());
  auto library = load_library(fatbin);
  if (!library) return library.error();
  return std::unique_ptr<DeviceKernels>(std::make_unique<Kernels>(*std::move(library), device));
}

}  // namespace membound::harness
