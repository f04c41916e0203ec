// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/context.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "grader/base/processor.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"
#include "grader/vgpu/runtime/device/stream_races.hpp"
#include "grader/vgpu/timing/machine.hpp"

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

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGXCPU, SIGHUP};

// Fixed memory for the handler: the path must not be built there.
std::array<char, 3840> counters_path{};

// What the program gave exit(), or returned from main().
int exit_code = 0;

std::mutex unchecked_mutex;
// Never destroyed: finish() runs after this library's own destructors. Guarded by unchecked_mutex.
UncheckedLaunch& unchecked = *new UncheckedLaunch;

void write_counters(const Context& context) {
  if (counters_path[0] == '\0') return;
  if (!context.log.write_file(counters_path.data())) {
    constexpr char kText[] = "membound: the counters file cannot be written\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
  }
}

void die_by(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/// Says what a segmentation fault on a device pointer is. Only a walk over fixed text and a number.
void explain_device_address(const Context& context, const void* address) {
  if (!context.memory.is_device_address(reinterpret_cast<std::uint64_t>(address))) return;
  std::array<char, 256> text{};
  const int length = std::snprintf(
      text.data(), text.size(),
      "membound: host code used the device address %p\n  try: copy the data to host memory with "
      "cudaMemcpy first, or allocate it with cudaMallocManaged\n",
      address);
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, text.data(), static_cast<std::size_t>(length));
}

void on_crash(int signal_number, siginfo_t* info, void* machine) {
  if (signal_number == SIGSEGV &&
      HostWatch::takes_fault(reinterpret_cast<std::uint64_t>(info->si_addr),
                             base::is_write(*static_cast<const ucontext_t*>(machine))))
    return;
  if (const Context* context = existing_context()) {
    if (signal_number == SIGSEGV) explain_device_address(*context, info->si_addr);
    write_counters(*context);
  }
  die_by(signal_number);
}

void on_interrupt(int signal_number) {
  Context* context = existing_context();
  if (context != nullptr && context->kernel_runs && !context->stop.exchange(true)) {
    constexpr char kText[] =
        "\nmembound: stopping the kernel; Ctrl-C again ends the program at once\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText, sizeof kText - 1);
    return;
  }
  if (context != nullptr) write_counters(*context);
  die_by(signal_number);
}

bool is_default(int signal_number) {
  struct sigaction present = {};
  sigaction(signal_number, nullptr, &present);
  return (present.sa_flags & SA_SIGINFO) == 0 && present.sa_handler == SIG_DFL;
}

/// Memory the program allocated and never freed. Variables, pools' and graphs' memory is the
/// runtime's own business.
void report_leaks(Context& context) {
  for (const exec::CheckReport& report : context.services.leaks()) {
    context.log.add_report(to_json(report));
    messages::print(messages::finding(report));
  }
  for (const memory::Allocation& allocation : context.memory.live()) {
    const auto kind = allocation.info.kind;
    if (kind != memory::AllocationKind::kMalloc && kind != memory::AllocationKind::kArray) continue;
    exec::CheckReport report;
    report.checker = "leakcheck";
    report.kind = "memory never freed";
    report.address = allocation.address;
    report.size_bytes = static_cast<std::uint32_t>(allocation.size_bytes);
    report.text = messages::leak(allocation);
    report.advice = "give it back with cudaFree before the program ends";
    context.log.add_report(to_json(report));
    messages::print(report.text + "\n  try: " + report.advice);
  }
}

void report_unchecked(Context& context) {
  const std::scoped_lock lock(unchecked_mutex);
  if (unchecked.code == cudaSuccess) return;
  exec::CheckReport report;
  report.checker = "launchcheck";
  report.kind = "unchecked launch error";
  report.place.kernel = unchecked.kernel;
  report.text = messages::unchecked_launch(unchecked.kernel, unchecked.code, unchecked.why);
  context.log.add_report(to_json(report));
  messages::print(report.text);
}

/// Runs after the program's own exit handlers and destructors.
__attribute__((destructor)) void finish() {
  Context* context = existing_context();
  if (context == nullptr) return;
  tell_host_touches(*context);
  if (const std::size_t lost = context->services.waiting_bytes(); lost > 0)
    messages::print(messages::lost_output(lost));
  if (context->settings.checks.any()) {
    report_unchecked(*context);
    // After a fault nothing can be freed any more.
    if (context->settings.checks.leakcheck && !context->is_lost()) report_leaks(*context);
  }
  write_counters(*context);
  if (!context->settings.summary) return;
  const std::uint64_t findings = context->log.report_count();
  messages::print(context->summary.text(context->machine.name + " (virtual)"));
  messages::print(findings_line(context->settings.checks.any(), findings));
  if (findings == 0 || exit_code != 0) return;
  std::fflush(nullptr);  // exit() would do so after us
  _exit(1);
}

}  // namespace

Context::Context(Settings settings_, timing::Machine machine_)
    : settings(std::move(settings_)),
      machine(std::move(machine_)),
      memory(machine.memory_bytes),
      services(memory) {
  if (settings.checks.initcheck) memory.track_initialised(true);
  if (settings.checked_layout) memory.keep_distance(kCheckedDistanceBytes);
  log.set_device(machine.name + " (virtual)", machine.id);
}

CodeTarget Context::code_target() const {
  return {machine.compute_major * 10 + machine.compute_minor,
          settings.checked_layout ? kCheckedSharedGapBytes : 0, machine.passes};
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

void install_signal_handlers() {
  on_exit([](int code, void*) { exit_code = code; }, nullptr);
  const std::string& path = existing_context()->settings.counters_file;
  if (path.size() < counters_path.size())
    std::memcpy(counters_path.data(), path.data(), path.size());
  struct sigaction action = {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO;
  for (const int signal_number : kCrashes)
    if (is_default(signal_number)) sigaction(signal_number, &action, nullptr);
  if (!is_default(SIGINT)) return;
  struct sigaction interrupt = {};
  interrupt.sa_handler = on_interrupt;
  sigaction(SIGINT, &interrupt, nullptr);
}

bool takes_crashes() {
  struct sigaction present = {};
  sigaction(SIGSEGV, nullptr, &present);
  return (present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == on_crash;
}

void end_stopped(Context& context) {
  context.services.flush_output();
  write_counters(context);
  die_by(SIGINT);
  _exit(130);  // where SIGINT is blocked
}

void release_host_memory(std::uint64_t address, const HostMemory& memory) {
  if (!memory.is_registered) munmap(reinterpret_cast<void*>(address), memory.mapped_bytes);
}

void note_unchecked_launch(UncheckedLaunch launch) {
  const std::scoped_lock lock(unchecked_mutex);
  if (unchecked.code == cudaSuccess) unchecked = std::move(launch);
}

void launch_error_is_read() {
  const std::scoped_lock lock(unchecked_mutex);
  if (const Context* const context = existing_context();
      !unchecked.why.empty() && context != nullptr && context->settings.checks.any())
    messages::print(messages::refused_launch(unchecked.kernel, unchecked.why));
  unchecked = {};
}

}  // namespace membound::vgpu::runtime
