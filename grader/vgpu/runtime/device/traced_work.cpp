// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/traced_work.hpp"

#include "grader/base/function_name.hpp"
#include "grader/vgpu/runtime/device/console_messages.hpp"

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

}  // namespace

bool traces_work(const Context& context) {
  return context.settings.checks.racecheck && context.streams.has_several();
}

TracedWork traced(const KernelOperation& kernel) {
  TracedWork work;
  work.name = "kernel " + base::short_function_name(kernel.kernel->kernel->name);
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
  const std::vector<exec::CheckReport> races =
      context.stream_races.add(std::move(work), stream.past);
  stream.past.learn(stream.id, stream.traced_pieces);
  for (const exec::CheckReport& race : races) {
    context.log.add_report(to_json(race));
    messages::print(messages::finding(race));
  }
}

}  // namespace membound::vgpu::runtime
