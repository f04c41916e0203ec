// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/unwritten_copies.hpp"

#include <algorithm>
#include <limits>

#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/runtime/device/console_messages.hpp"

namespace membound::vgpu::runtime {
namespace {

/// Of all rows of a copy.
struct Unwritten {
  std::uint64_t bytes = 0;
  std::uint64_t first = 0;  ///< address
};

Unwritten unwritten(const Context& context, const CopyOperation& copy) {
  Unwritten all;
  for (std::size_t z = 0; z < copy.depth; ++z)
    for (std::size_t y = 0; y < copy.height; ++y) {
      const std::uint64_t row =
          copy.from.address + z * copy.from.slice_bytes + y * copy.from.pitch_bytes;
      const memory::UnwrittenBytes found = context.memory.unwritten(row, copy.width_bytes);
      if (all.bytes == 0) all.first = row + found.first;
      all.bytes += found.count;
    }
  return all;
}

}  // namespace

void tell_of_unwritten(Context& context, const CopyOperation& copy) {
  const bool asked = context.settings.checks.initcheck && !context.is_judged;
  if (!asked || !copy.from.on_device || copy.to.on_device) return;
  const auto array = context.memory.find(copy.from.address);
  if (!array || array->info.kind != memory::AllocationKind::kMalloc) return;
  const Unwritten found = unwritten(context, copy);
  if (found.bytes == 0) return;
  const std::uint64_t all = copy.width_bytes * copy.height * copy.depth;
  exec::CheckReport report;
  report.checker = "initcheck";
  report.kind = "uninitialised copy";
  report.address = found.first;
  report.size_bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(found.bytes, std::numeric_limits<std::uint32_t>::max()));
  report.text = std::string(copy.called_by.substr(0, copy.called_by.find("_pt"))) + " copies " +
                std::to_string(all) + " bytes to the host, of which nobody has written " +
                (found.bytes == all ? "any" : std::to_string(found.bytes)) +
                "; the first is byte " + std::to_string(found.first - array->address) + " of " +
                exec::describe(*array);
  report.advice =
      "let a kernel write every element: does the grid reach the last one (n / 256 rounds down)? "
      "Or "
      "copy only what was written, or clear the array first with cudaMemset";
  if (!context.told_copies.insert(report.text).second) return;
  context.log.add_report(to_json(report));
  messages::print(messages::finding(report));
}

}  // namespace membound::vgpu::runtime
