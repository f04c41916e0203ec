// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/stream_races.hpp"

#include <algorithm>
#include <filesystem>

#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::runtime {
namespace {

using exec::AccessKind;
using exec::CheckReport;
using Part = exec::Footprint::Part;

constexpr const char* kAdvice =
    "record an event behind the first (cudaEventRecord) and let the other's stream wait for it "
    "(cudaStreamWaitEvent), or put both into one stream";

bool may_race(const Part& one, const Part& other) {
  const bool reads = one.kind == AccessKind::kLoad && other.kind == AccessKind::kLoad;
  return !reads && !(one.kind == AccessKind::kAtomic && other.kind == AccessKind::kAtomic);
}

std::string verb(const TracedWork& work, AccessKind kind) {
  if (work.verb != nullptr) return work.verb;
  return kind == AccessKind::kLoad ? "reads" : kind == AccessKind::kStore ? "writes" : "changes";
}

std::string line_of(const Part& part) {
  if (part.place.file.empty()) return "";
  return " at " + std::filesystem::path(part.place.file).filename().string() + ":" +
         std::to_string(part.place.line);
}

/// A kernel's place before that of a copy, which has none; of two kernels that of the later one.
CheckReport report_of(const TracedWork& later, const Part& part, const TracedWork& earlier,
                      const Part& other, std::uint64_t address) {
  const bool swap = part.place.kernel.empty() && !other.place.kernel.empty();
  const TracedWork& told_work = swap ? earlier : later;
  const TracedWork& other_work = swap ? later : earlier;
  const Part& told = swap ? other : part;
  const Part& against = swap ? part : other;
  CheckReport found{"racecheck", "data race", told.place, address, 0, 1, ""};
  found.text = told_work.name + " " + verb(told_work, told.kind) + " " + exec::hex(address) +
               ", which " + other_work.name + ", submitted " + (swap ? "later" : "earlier") +
               " to another stream, " + verb(other_work, against.kind) + line_of(against) +
               "; no event, wait or default stream orders the two";
  found.advice = kAdvice;
  if (!against.place.kernel.empty())
    found.other = exec::OtherAccess{against.place, against.kind != AccessKind::kLoad};
  return found;
}

std::optional<CheckReport> race_between(const TracedWork& later, const TracedWork& earlier) {
  for (const Part& part : later.footprint.parts)
    for (const Part& other : earlier.footprint.parts)
      if (may_race(part, other))
        if (const auto address = part.ranges.first_common(other.ranges))
          return report_of(later, part, earlier, other, *address);
  return std::nullopt;
}

}  // namespace

std::vector<CheckReport> StreamRaces::add(TracedWork work, const Past& past) {
  std::vector<CheckReport> all;
  for (const TracedWork& earlier : open_) {
    if (earlier.stream == work.stream || past.pieces_of(earlier.stream) >= earlier.number) continue;
    auto race = race_between(work, earlier);
    if (!race) continue;
    const std::string what = work.name + "|" + earlier.name + "|" +
                             std::to_string(race->place.line) + "|" +
                             std::to_string(race->other ? race->other->place.line : 0);
    if (told_.insert(what).second) all.push_back(*std::move(race));
  }
  if (work.verb != nullptr && all.size() > 1) {  // one order is missing: told of a kernel, if any
    const auto kernel = std::find_if(all.rbegin(), all.rend(), [](const CheckReport& race) {
      return !race.place.kernel.empty();
    });
    all = {kernel != all.rend() ? *kernel : all.back()};
  }
  open_.push_back(std::move(work));
  ++version_;
  if (open_.size() > kMostOpen) open_.pop_front();
  return all;
}

void StreamRaces::host_learns(const Past& past) {
  host_.learn(past);
  const std::size_t ended = std::erase_if(
      open_, [&](const TracedWork& work) { return host_.pieces_of(work.stream) >= work.number; });
  if (ended != 0) ++version_;
}

}  // namespace membound::vgpu::runtime
