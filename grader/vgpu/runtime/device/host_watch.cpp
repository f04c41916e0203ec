// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/host_watch.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <utility>

namespace membound::vgpu::runtime {

struct HostWatch::Closed {
  /// Bytes of one piece of work. `touch`: twice the first address that the host touched, plus 1
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

namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::size_t kKept = 64;
/// Each run of pages is a mapping of its own, of which a process may have 65,530; with more nothing
/// is watched.
constexpr std::size_t kMostRuns = 4096;

/// Also when all is open again: a fault of another thread may be under way.
std::atomic<HostWatch::Closed*> latest{nullptr};

void protect(std::uint64_t begin, std::uint64_t end, int access) {
  mprotect(reinterpret_cast<void*>(begin), end - begin, access);
}

}  // namespace

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
    for (const TracedWork::OnHost& piece : work.on_host) {
      const exec::Footprint::Part& part = work.footprint.parts[piece.part];
      Closed::Range& range = closed->ranges[next++];
      range.begin = piece.begin;
      range.end = piece.end;
      range.is_written = part.kind != exec::AccessKind::kLoad;
      range.told = {0, false, work.name, part.place, part.kind};
      (range.is_written ? written : read)
          .add(std::max(piece.begin / kPageBytes * kPageBytes, piece.pages_begin),
               std::min((piece.end + kPageBytes - 1) / kPageBytes * kPageBytes, piece.pages_end));
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

}  // namespace membound::vgpu::runtime
