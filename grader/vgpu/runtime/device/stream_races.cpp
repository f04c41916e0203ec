// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/stream_races.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "grader/base/demangle.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/reports.hpp"

namespace membound::vgpu::runtime {
namespace {

using exec::AccessKind;
using exec::CheckReport;
using Part = exec::Footprint::Part;

constexpr const char* kAdvice =
    "record an event after the first (cudaEventRecord) and let the other's stream wait for it "
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

/// Of this machine's kernel: 4 KiB, on AArch64 16 or 64 KiB too.
const auto kPageBytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
constexpr std::size_t kKept = 64;
/// Each run of pages is a mapping of its own, of which a process may have 65,530; with more nothing
/// is watched.
constexpr std::size_t kMostRuns = 4096;

/// Also when all is open again: a fault of another thread may be under way.
std::atomic<HostWatch::Closed*> latest{nullptr};

/// Whole pages alone: in another part of one lies what nobody asked about.
void protect(std::uint64_t begin, std::uint64_t end, int access) {
  const std::uint64_t whole = end / kPageBytes * kPageBytes;
  if (whole > begin) mprotect(reinterpret_cast<void*>(begin), whole - begin, access);
}

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
        array.address + array.size_bytes + array.red_zone_bytes);
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

std::vector<CheckReport> StreamRaces::add(TracedWork work, const Past& past) {
  std::vector<CheckReport> all;
  for (const TracedWork& earlier : open_) {
    if (earlier.stream == work.stream || past.ended_of(earlier.stream) >= earlier.number) continue;
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
      open_, [&](const TracedWork& work) { return host_.ended_of(work.stream) >= work.number; });
  if (ended != 0) ++version_;
}

struct HostWatch::Closed {
  /// Bytes of one operation. `touch`: twice the first address that the host touched, plus 1
  /// where it wrote; 0: none.
  struct Range {
    std::uint64_t begin = 0, end = 0;
    bool is_written = false;
    std::atomic<std::uint64_t> touch{0};
    HostTouch told;
  };
  struct Pages {
    std::uint64_t begin = 0, end = 0;
    int access = PROT_NONE;
  };
  std::unique_ptr<Range[]> ranges;
  std::size_t count = 0;
  std::vector<Pages> pages;

  [[nodiscard]] bool holds(std::uint64_t address) const {
    return std::any_of(pages.begin(), pages.end(),
                       [&](const Pages& run) { return address >= run.begin && address < run.end; });
  }
};

HostWatch::HostWatch() = default;

HostWatch::~HostWatch() {
  open();
  latest = nullptr;
}

std::vector<HostTouch> HostWatch::take_touches() {
  std::vector<HostTouch> taken = std::exchange(touches_, {});
  if (!is_closed_) return taken;
  const Closed& closed = *all_.back();
  for (std::size_t i = 0; i < closed.count; ++i) {
    Closed::Range& range = closed.ranges[i];
    const std::uint64_t touch = range.touch.exchange(0);
    if (touch == 0) continue;
    taken.push_back(range.told);
    taken.back().address = touch >> 1;
    taken.back().wrote = (touch & 1) != 0;
  }
  return taken;
}

void HostWatch::open() {
  if (!is_closed_) return;
  for (const Closed::Pages& run : all_.back()->pages)
    protect(run.begin, run.end, PROT_READ | PROT_WRITE);
  touches_ = take_touches();
  is_closed_ = false;
}

void HostWatch::close(const StreamRaces& races) {
  open();
  version_ = races.version();
  auto closed = std::make_unique<Closed>();
  for (const TracedWork& work : races.open()) closed->count += work.on_host.size();
  if (closed->count == 0) return;
  closed->ranges = std::make_unique<Closed::Range[]>(closed->count);
  memory::AddressRanges read, written;  // pages
  std::size_t next = 0;
  for (const TracedWork& work : races.open()) {
    for (const TracedWork::OnHost& array : work.on_host) {
      const exec::Footprint::Part& part = work.footprint.parts[array.part];
      Closed::Range& range = closed->ranges[next++];
      range.begin = array.begin;
      range.end = array.end;
      range.is_written = part.kind != exec::AccessKind::kLoad;
      range.told = {0, false, work.name, part.place, part.kind};
      (range.is_written ? written : read)
          .add(std::max(array.begin / kPageBytes * kPageBytes, array.pages_begin),
               std::min((array.end + kPageBytes - 1) / kPageBytes * kPageBytes, array.pages_end));
    }
  }
  if (read.count() + written.count() > kMostRuns) return;
  read.each([&](std::uint64_t begin, std::uint64_t end) {
    closed->pages.push_back({begin, end, PROT_READ});
  });
  written.each([&](std::uint64_t begin, std::uint64_t end) {
    closed->pages.push_back({begin, end, PROT_NONE});
  });
  all_.push_back(std::move(closed));
  if (all_.size() > kKept) all_.erase(all_.begin());
  latest = all_.back().get();
  is_closed_ = true;
  for (const Closed::Pages& run : all_.back()->pages) protect(run.begin, run.end, run.access);
}

bool HostWatch::takes_fault(std::uint64_t address, bool writes) {
  Closed* const closed = latest;
  if (closed == nullptr || !closed->holds(address)) return false;
  for (std::size_t i = 0; i < closed->count; ++i) {
    Closed::Range& range = closed->ranges[i];
    if (address < range.begin || address >= range.end || !(range.is_written || writes)) continue;
    std::uint64_t none = 0;
    range.touch.compare_exchange_strong(none, address << 1 | (writes ? 1 : 0));
  }
  const std::uint64_t page = address / kPageBytes * kPageBytes;
  protect(page, page + kPageBytes, PROT_READ | PROT_WRITE);
  return true;
}

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
  work.number = ++stream.traced_operations;
  if (!work.talks_to_host && watches_host(context)) find_on_host(context, work);
  const std::vector<exec::CheckReport> races =
      context.stream_races.add(std::move(work), stream.past);
  stream.past.learn(stream.id, stream.traced_operations);
  for (const exec::CheckReport& race : races) {
    context.log.add_report(to_json(race));
    messages::print(messages::finding(race));
  }
}

void tell_host_touches(Context& context) {
  for (const HostTouch& touch : context.host_watch.take_touches()) tell(context, touch);
}

HostMemoryAccess::HostMemoryAccess(Context& context) : context_(context) {
  if (context.settings.checks.racecheck) tell_host_touches(context);
}

HostMemoryAccess::~HostMemoryAccess() {
  if (!context_.settings.checks.racecheck) return;
  if (context_.host_watch.is_out_of_date(context_.stream_races) && takes_crashes())
    context_.host_watch.close(context_.stream_races);
}

}  // namespace membound::vgpu::runtime
