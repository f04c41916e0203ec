// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pieces of device work with what they touch, for the checker of races between streams and with
/// the host. Place in the chain: operation_executor -> [traced_work] -> stream_races, report_log,
/// console_messages.
#pragma once

#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/operation.hpp"

namespace membound::vgpu::runtime {

/// Whether anybody asks: racecheck is on, and there is a stream beside the default one, or memory
/// that the host and the device share.
[[nodiscard]] bool traces_work(const Context& context);

/// A launch, whose footprint the launch itself fills in; a copy; a fill; memory given out or back
/// in the order of a stream, before or after which nobody may touch it.
[[nodiscard]] TracedWork traced(const KernelOperation& kernel);
[[nodiscard]] TracedWork traced(const CopyOperation& copy);
[[nodiscard]] TracedWork traced(const FillOperation& fill);
[[nodiscard]] TracedWork traced_allocation(std::uint64_t address, std::uint64_t bytes);
[[nodiscard]] TracedWork traced_free(std::uint64_t address, std::uint64_t bytes);

/// It was done in this stream: tells the races it is part of.
void trace_work(Context& context, Stream& stream, TracedWork work);

/// Tells what the host has done too early until now.
void tell_host_touches(Context& context);

/// A call of the runtime: before it, what the host has done too early is told; after it, what work
/// uses that is not waited for is watched. Work that runs opens it (HostWatch::open). Costs nothing
/// where no checker asks.
class HostMemoryAccess {
 public:
  explicit HostMemoryAccess(Context& context) : context_(context) {
    if (context.settings.checks.racecheck) tell_host_touches(context);
  }
  ~HostMemoryAccess();
  HostMemoryAccess(const HostMemoryAccess&) = delete;
  HostMemoryAccess& operator=(const HostMemoryAccess&) = delete;

 private:
  Context& context_;
};

}  // namespace membound::vgpu::runtime
