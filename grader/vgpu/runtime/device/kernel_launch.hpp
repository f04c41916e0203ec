// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A kernel launch from checked configuration to counted, timed result; and what running kernels
/// ask of the runtime: printf's buffer and the device heap.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "grader/vgpu/exec/launch/launch.hpp"
#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/runtime/device/graph.hpp"
#include "grader/vgpu/runtime/device/streams.hpp"

namespace membound::vgpu::runtime {

class Context;

/// What running kernels ask of the runtime; called by several worker threads at once.
class DeviceServices final : public exec::DeviceCalls {
 public:
  explicit DeviceServices(memory::AddressSpace& memory) : memory_(memory) {}

  bool print(std::string_view text) override;
  std::uint64_t allocate(std::uint64_t bytes, const exec::Place* where) override;
  bool release(std::uint64_t address) override;

  /// Writes what kernels printed to standard output, as a synchronising call does.
  void flush_output();
  [[nodiscard]] std::size_t waiting_bytes() const;

  void set_print_limit(std::size_t bytes) { print_limit_bytes_ = bytes; }
  [[nodiscard]] std::size_t print_limit() const { return print_limit_bytes_; }
  void set_heap_limit(std::size_t bytes) { heap_limit_bytes_ = bytes; }
  [[nodiscard]] std::size_t heap_limit() const { return heap_limit_bytes_; }
  /// What kernels allocated and never freed, a finding for each place that did.
  [[nodiscard]] std::vector<exec::CheckReport> leaks() const;
  /// Frees everything kernels allocated.
  void reset();

 private:
  memory::AddressSpace& memory_;
  mutable std::mutex mutex_;
  std::string output_;
  std::size_t dropped_lines_ = 0;  ///< printf calls since the last flush that found no room
  std::map<std::uint64_t, exec::Place> heap_;  ///< by address; places only with leakcheck
  std::size_t heap_used_bytes_ = 0;
  std::size_t print_limit_bytes_ = 7 << 20;  // defaults of current GPUs, recalled
  std::size_t heap_limit_bytes_ = 8 << 20;
};

/// Loads the kernel's module if need be; a failure is explained on standard error once.
cudaError_t load_kernel(Context& context, KernelHandle& handle);

/// Copies arguments to where the kernel expects them.
[[nodiscard]] std::vector<std::byte> pack_parameters(const program::Kernel& kernel,
                                                     void* const* arguments);

/// Runs it now; its time is added to `timeline`. A fault makes the device unusable. `footprint` is
/// filled in if it is not null.
cudaError_t run_kernel(Context& context, Timeline& timeline, const KernelOperation& operation,
                       std::uint64_t stream_id, bool in_graph, exec::Footprint* footprint);

}  // namespace membound::vgpu::runtime
