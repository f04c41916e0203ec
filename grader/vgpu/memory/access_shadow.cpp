// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_shadow.hpp"

#include <sys/mman.h>

#include "grader/base/check.hpp"

namespace membound::vgpu::memory {
namespace {

/// Can the two have happened in either order, or at once?
bool unordered(const ShadowStamp& a, const ShadowStamp& b) {
  if (a.thread == 0 || a.era != b.era) return false;
  if (a.scope != b.scope) return true;
  return a.thread != b.thread && a.epoch == b.epoch;
}

}  // namespace

RaceKind note_access(ShadowWord& word, const ShadowStamp& now, bool writes, bool atomic) {
  RaceKind race = RaceKind::kNone;
  const bool after_write = unordered(word.write, now) && !(word.write_atomic && atomic);
  if (after_write) race = writes ? RaceKind::kWriteAfterWrite : RaceKind::kReadAfterWrite;
  if (writes) {
    // With many readers one of them was another thread, if they are of this era and epoch at all.
    const ShadowStamp& read = word.read;
    const bool same_time = read.thread != 0 && read.era == now.era &&
                           (read.scope != now.scope || read.epoch == now.epoch);
    const bool others = word.many_readers ? same_time : unordered(read, now);
    if (race == RaceKind::kNone && others && !(word.read_atomic && atomic))
      race = RaceKind::kWriteAfterRead;
    word.write = now;
    word.write_atomic = atomic;
    return race;
  }
  const bool same_period =
      word.read.era == now.era && word.read.scope == now.scope && word.read.epoch == now.epoch;
  const bool other_block =
      word.read.thread != 0 && word.read.era == now.era && word.read.scope != now.scope;
  word.many_readers =
      other_block || (same_period && (word.many_readers || word.read.thread != now.thread));
  word.read_atomic = atomic && (word.read_atomic || !same_period);
  word.read = now;
  return race;
}

AccessShadow::AccessShadow(std::uint64_t begin, std::uint64_t bytes)
    : begin_(begin), words_(bytes / 4) {
  void* place = mmap(nullptr, words_ * sizeof(ShadowWord), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  MEMBOUND_CHECK(place != MAP_FAILED);
  data_ = static_cast<ShadowWord*>(place);
}

AccessShadow::~AccessShadow() { munmap(data_, words_ * sizeof(ShadowWord)); }

}  // namespace membound::vgpu::memory
