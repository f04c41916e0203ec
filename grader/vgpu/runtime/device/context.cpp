// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/context.hpp"

#include <unistd.h>

#include <cstdlib>

#include "grader/vgpu/runtime/device/console_messages.hpp"
#include "grader/vgpu/runtime/device/finish.hpp"
#include "grader/vgpu/timing/machine_files.hpp"

namespace membound::vgpu::runtime {
namespace {

std::atomic<Context*> the_context{nullptr};

[[noreturn]] void refuse_to_start(const base::Error& error) {
  messages::print(base::to_string(error));
  _exit(base::exit_code_of(error.kind));
}

/// Never destroyed: programs call CUDA from destructors that run after ours would.
Context* make_context() {
  const auto settings = read_settings([](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  });
  if (!settings) refuse_to_start(settings.error());
  auto machine = settings->machine_text.empty()
                     ? timing::find_machine(settings->machine_id)
                     : timing::machine_of({settings->machine_id, "MEMBOUND_MACHINE",
                                           settings->machine_text, false});
  if (!machine) refuse_to_start(machine.error());
  auto* made = new Context(*settings, timing::slice_of(std::move(*machine), settings->sm_count));
  the_context = made;
  install_signal_handlers();
  return made;
}

/// Between two allocations while memcheck looks on: an index may be wrong by a few rows of a
/// matrix.
constexpr std::uint64_t kCheckedDistanceBytes = std::uint64_t{64} << 10;
/// The same between two variables in shared memory: a word for each of 1,024 threads.
constexpr std::uint32_t kCheckedSharedGapBytes = 4096;

}  // namespace

Context::Context(Settings settings_, timing::Machine machine_)
    : settings(std::move(settings_)),
      machine(std::move(machine_)),
      memory(machine.memory_bytes),
      services(memory) {
  if (settings.checks.initcheck) memory.track_initialised(true);
  if (settings.checks.memcheck) memory.keep_distance(kCheckedDistanceBytes);
  log.set_device(machine.name + " (virtual)", machine.id);
}

CodeTarget Context::code_target() const {
  return {machine.compute_major * 10 + machine.compute_minor,
          settings.checks.memcheck ? kCheckedSharedGapBytes : 0};
}

const std::pair<const std::uint64_t, HostMemory>* Context::find_host_memory(
    std::uint64_t address) const {
  auto after = host_memory.upper_bound(address);
  if (after == host_memory.begin()) return nullptr;
  --after;
  return address - after->first < after->second.bytes ? &*after : nullptr;
}

void Context::fail(cudaError_t code) {
  if (lost_ == cudaSuccess) lost_ = code;
}

cudaError_t Context::error_seen_by(bool waits) {
  if (lost_ == cudaSuccess) return cudaSuccess;
  if (waits) lost_seen_ = true;
  return lost_seen_ ? lost_ : cudaSuccess;
}

void Context::reset() {
  services.flush_output();
  services.reset();
  host_watch.open();
  registry.unload_all(memory);
  arrays = ArrayTable();
  streams.reset();
  stream_races = StreamRaces();
  for (const memory::Allocation& allocation : memory.live()) memory.free(allocation.address);
  for (const auto& [address, host] : host_memory) {
    memory.unregister_host_range(reinterpret_cast<void*>(address));
    release_host_memory(address, host);
  }
  host_memory.clear();
  limits = Limits();
  pools.reset();
  lost_ = cudaSuccess;
  lost_seen_ = false;
}

Context& context() {
  static Context* const only = make_context();
  return *only;
}

Context* existing_context() { return the_context.load(); }

}  // namespace membound::vgpu::runtime
