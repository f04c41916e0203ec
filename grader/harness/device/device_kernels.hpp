// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The harness's own kernels (device/kernels.cu) as functions: all queue on the default stream.
/// Place in the chain: timing, ceiling -> [device_kernels] -> CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "grader/base/result.hpp"
#include "grader/harness/cases/compare.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/device.hpp"
#include "grader/harness/device/device_buffer.hpp"

namespace membound::harness {

/// Additions and minima that one thread of add_min() does per round, together.
inline constexpr int kAddMinOperationsPerRound = 512;

/// The loaded harness.fatbin with the buffers its kernels need, on one device.
class DeviceKernels {
 public:
  [[nodiscard]] static base::Result<DeviceKernels> load(const std::filesystem::path& fatbin,
                                                        const Device& device);

  /// Draws an input. On the virtual GPU, as prepare_output(), computed here and copied: the same
  /// numbers, without an interpreter between.
  void fill(const TimedBuffer& buffer, void* d_data, std::uint64_t seed) const;
  /// Gives an output its state before a launch.
  void prepare_output(const TimedBuffer& buffer, void* d_data) const;
  /// Leaves nothing in the L2 cache but clean lines of a buffer of its own, twice the cache's size.
  void flush_l2() const;
  /// Compares two outputs; waits.
  [[nodiscard]] Difference compare(const TimedBuffer& buffer, const void* d_got,
                                   const void* d_expected, Tolerance tolerance) const;

  /// The fingerprint of values.cuh of an array; waits. On the virtual GPU computed here, from a
  /// copy: the same number in a fraction of the time.
  [[nodiscard]] std::uint64_t fingerprint(const void* d_data, std::size_t size_bytes,
                                          std::uint64_t key) const;
  /// Some ten microseconds of work for the device and little for who interprets it, so that what is
  /// queued next does not find the device idle.
  void keep_busy() const;
  /// A launch that does nothing: what is left of a time when the work is taken away.
  void launch_nothing() const;

  /// Ceilings; `size_bytes` is rounded down to whole 16-byte vectors.
  void copy(void* d_out, const void* d_in, std::size_t size_bytes) const;
  void read(const void* d_in, std::size_t size_bytes) const;
  /// Fills the device with warps that each do `rounds` rounds; returns the operations done.
  double add_min(int rounds) const;

 private:
  struct Unload {
    void operator()(cudaLibrary_t library) const { cudaLibraryUnload(library); }
  };
  [[nodiscard]] const void* kernel(const std::string& name) const;
  template <typename... Arguments>
  void launch(const std::string& name, dim3 grid, int threads, Arguments... arguments) const;
  void launch_add_min(int blocks, int threads, int rounds) const;
  [[nodiscard]] dim3 grid_for(std::size_t elements) const;

  std::unique_ptr<CUlib_st, Unload> library_;
  int sm_count_ = 0;
  int device_ = 0;
  bool is_virtual_ = false;
  DeviceBuffer flush_;   // empty on the virtual GPU
  DeviceBuffer result_;  // a Difference, and floats for the ceilings
};

}  // namespace membound::harness
