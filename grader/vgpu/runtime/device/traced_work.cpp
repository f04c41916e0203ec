// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/traced_work.hpp"

#include <algorithm>

#include "grader/base/demangle.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/runtime/device/console_messages.hpp"
#include "grader/vgpu/runtime/device/finish.hpp"

namespace membound::vgpu::runtime {
namespace {

using exec::AccessKind;

/// The rows of a box at `address`, as one part.
void add_box(exec::Footprint& footprint, AccessKind kind, const CopyEnd& end,
             std::uint64_t row_bytes, std::size_t height, std::size_t depth) {
  exec::Footprint::Part& part = footprint.parts.emplace_back();
  part.kind = kind;
  for (std::size_t z = 0; z < depth; ++z) {
    for (std::size_t y = 0; y < height; ++y) {
      const std::uint64_t begin = end.address + z * end.slice_bytes + y * end.pitch_bytes;
      part.ranges.add(begin, begin + row_bytes);
    }
  }
}

/// Memory of the host that the device uses, and its pages: of what the program itself has
/// registered only whole ones, for in the others lies what the device has nothing to do with.
template <typename See>
void each_host_array(const Context& context, See see) {
  constexpr std::uint64_t kPageBytes = memory::AddressSpace::kPageBytes;
  for (const auto& [address, host] : context.host_memory) {
    const std::uint64_t end = address + host.bytes;
    if (host.is_registered)
      see(address, end, (address + kPageBytes - 1) / kPageBytes * kPageBytes,
          end / kPageBytes * kPageBytes);
    else
      see(address, end, address, address + host.mapped_bytes);
  }
  for (const memory::Allocation& array : context.memory.managed_variables())
    see(array.address, array.address + array.size_bytes, array.address,
        array.address + array.size_bytes + array.gap_bytes);
}

bool watches_host(const Context& context) {
  return context.settings.checks.racecheck && !context.is_judged &&
         (!context.host_memory.empty() || !context.memory.managed_variables().empty());
}

/// Host and device then hand over data by flags, while a kernel runs: nobody waits for its end.
bool talks_to_host(const KernelOperation& kernel) {
  const auto functions = kernel.kernel->module->program().functions();
  const std::vector<std::uint32_t>& reachable = kernel.kernel->kernel->reachable;
  return std::any_of(reachable.begin(), reachable.end(), [&](std::uint32_t function) {
    const auto& code = functions[function].code;
    return std::any_of(code.begin(), code.end(), [](const program::Instruction& in) {
      return in.mnemonic.find(".sys") != std::string_view::npos;
    });
  });
}

void find_on_host(const Context& context, TracedWork& work) {
  each_host_array(context, [&](std::uint64_t begin, std::uint64_t end, std::uint64_t pages_begin,
                               std::uint64_t pages_end) {
    if (pages_begin >= pages_end) return;
    for (std::size_t part = 0; part < work.footprint.parts.size(); ++part)
      work.footprint.parts[part].ranges.each_within(
          begin, end, [&](std::uint64_t from, std::uint64_t to) {
            work.on_host.push_back({part, from, to, pages_begin, pages_end});
          });
  });
}

std::string line_of(const exec::Place& place) {
  return place.line == 0 ? "" : " at " + exec::line_text(place);
}

void tell(Context& context, const HostTouch& touch) {
  const char* const verb = touch.kind == AccessKind::kLoad    ? "reads"
                           : touch.kind == AccessKind::kStore ? "writes"
                                                              : "changes";
  exec::CheckReport found{"racecheck", "data race", touch.place, touch.address, 0, 1, ""};
  const auto held = context.memory.find(touch.address);
  found.text = std::string("the host ") + (touch.wrote ? "writes to " : "reads ") +
               exec::hex(touch.address) + (held ? ", in " + exec::describe(*held) : "") +
               ", which " + touch.work + ", submitted before, " + verb + line_of(touch.place) +
               "; the host has not waited for it";
  found.advice =
      "wait before the host touches it: cudaStreamSynchronize of that stream, cudaEventSynchronize "
      "of an event after that work, or cudaDeviceSynchronize";
  // Once for each line of the work, and way of the host.
  if (!context.told_touches
           .insert(touch.work + line_of(touch.place) + (touch.wrote ? "w" : "r") +
                   (held ? std::to_string(held->serial) : ""))
           .second)
    return;
  context.log.add_report(to_json(found));
  messages::print(messages::finding(found));
}

}  // namespace

bool traces_work(const Context& context) {
  return context.settings.checks.racecheck &&
         (context.streams.has_several() || watches_host(context));
}

TracedWork traced(const KernelOperation& kernel) {
  TracedWork work;
  work.name = "kernel " + base::short_function_name(kernel.kernel->kernel->name);
  work.talks_to_host = talks_to_host(kernel);
  return work;
}

TracedWork traced(const CopyOperation& copy) {
  TracedWork work;
  work.name = "a copy";
  add_box(work.footprint, AccessKind::kLoad, copy.from, copy.width_bytes, copy.height, copy.depth);
  add_box(work.footprint, AccessKind::kStore, copy.to, copy.width_bytes, copy.height, copy.depth);
  return work;
}

TracedWork traced(const FillOperation& fill) {
  TracedWork work;
  work.name = "a fill";
  const CopyEnd end{fill.address, fill.pitch_bytes, fill.slice_bytes, fill.on_device};
  add_box(work.footprint, AccessKind::kStore, end, fill.width * fill.element_bytes, fill.height,
          fill.depth);
  return work;
}

TracedWork traced_allocation(std::uint64_t address, std::uint64_t bytes) {
  TracedWork work;
  work.name = "cudaMallocAsync";
  work.verb = "gives out";
  add_box(work.footprint, AccessKind::kStore, {address, 0, 0, true}, bytes, 1, 1);
  return work;
}

TracedWork traced_free(std::uint64_t address, std::uint64_t bytes) {
  TracedWork work = traced_allocation(address, bytes);
  work.name = "cudaFreeAsync";
  work.verb = "gives back";
  return work;
}

void trace_work(Context& context, Stream& stream, TracedWork work) {
  work.stream = stream.id;
  work.number = ++stream.traced_pieces;
  if (!work.talks_to_host && watches_host(context)) find_on_host(context, work);
  const std::vector<exec::CheckReport> races =
      context.stream_races.add(std::move(work), stream.past);
  stream.past.learn(stream.id, stream.traced_pieces);
  for (const exec::CheckReport& race : races) {
    context.log.add_report(to_json(race));
    messages::print(messages::finding(race));
  }
}

void tell_host_touches(Context& context) {
  for (const HostTouch& touch : context.host_watch.take_touches()) tell(context, touch);
}

HostMemoryAccess::~HostMemoryAccess() {
  if (!context_.settings.checks.racecheck) return;
  if (context_.host_watch.is_out_of_date(context_.stream_races) && takes_crashes())
    context_.host_watch.close(context_.stream_races);
}

}  // namespace membound::vgpu::runtime
