// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/vector_clock.hpp"

#include <algorithm>

namespace membound::vgpu::exec {
namespace {

using memory::Epoch;

void join(VectorClocks& into, const VectorClocks& from) {
  for (const auto& [block, known] : from) into[block].join(known);
}

/// The union; shares one of the two where it can.
VectorClocksPtr joined(const VectorClocksPtr& a, const VectorClocksPtr& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  auto all = std::make_shared<VectorClocks>(*a);
  join(*all, *b);
  return all;
}

bool among(const VectorClocksPtr& blocks, std::uint64_t epoch) {
  if (blocks == nullptr) return false;
  if ((epoch & Epoch::kManyBlocks) != 0) return true;  // which they were is not known
  const auto found = blocks->find(Epoch::block(epoch));
  return found != blocks->end() &&
         ((epoch & Epoch::kManyWarps) != 0 || found->second.covers(epoch));
}

}  // namespace

void VectorClock::join(const VectorClock& other) {
  base = std::max(base, other.base);
  if (other.time <= base) return;
  if (time <= base) {
    warp = other.warp;
    time = other.time;
    lanes = other.lanes;
    whole = other.whole;
  } else if (warp == other.warp) {
    time = std::max(time, other.time);
    lanes |= other.lanes;
    whole = std::max(whole, other.whole);
  } else {  // several warps of one block: all of it, so as not to invent a race
    base = time = std::max(time, other.time);
  }
}

void ReadClock::add(std::uint64_t first, std::uint64_t last, std::uint32_t time) {
  auto at = std::find_if(parts_.begin(), parts_.end(),
                         [&](const Part& part) { return first <= part.last + 1; });
  Part all{first, last, time};
  while (at != parts_.end() && at->first <= last + 1) {
    all = {std::min(all.first, at->first), std::max(all.last, at->last),
           std::max(all.time, at->time)};
    at = parts_.erase(at);
  }
  parts_.insert(at, all);
}

void ReadClock::join(const ReadClock& other) {
  for (const Part& part : other.parts_) add(part.first, part.last, part.time);
}

bool ReadClock::cover(std::uint64_t block, std::uint32_t time) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.first <= block && block <= part.last && time < part.time;
  });
}

void LanesKnow::spread(std::uint32_t from, std::uint32_t to) {
  for (std::uint32_t i = 0; i < count; ++i)
    if ((acquisitions[i].acquirers & from) != 0) acquisitions[i].acquirers |= to;
  if ((acquirers & from) != 0) acquirers |= to;
}

std::uint32_t LanesKnow::known_of(std::uint32_t warp, std::uint32_t lanes) const {
  std::uint32_t time = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    if (acquisitions[i].past.warp == warp && (acquisitions[i].acquirers & lanes) != 0)
      time = std::max(time, acquisitions[i].past.time);
  return time;
}

void LanesKnow::clear() {
  count = acquirers = 0;
  blocks = nullptr;
}

/// Whoever joins it is after all of its lanes.
void Fence::join(const Fence& other) {
  if (!other.made) return;
  made = true;
  own.join(other.past_of(~0u));
  blocks = joined(blocks, other.blocks_of(~0u));
}

void Fence::join(const Fence& other, std::uint32_t lanes, std::uint32_t all) {
  if (!other.made) return;
  if ((all & ~lanes) == 0) return join(other);
  made = true;
  const VectorClock past = other.past_of(~0u);
  of_lanes.blocks = joined(of_lanes.blocks, other.blocks_of(~0u));
  of_lanes.acquirers |= lanes;
  for (std::uint32_t i = 0; i < of_lanes.count; ++i)
    if (of_lanes.acquisitions[i].acquirers == lanes)
      return of_lanes.acquisitions[i].past.join(past);
  if (of_lanes.count == LanesKnow::kAcquisitions) return own.join(past);
  of_lanes.acquisitions[of_lanes.count++] = {past, lanes};
}

VectorClock Fence::past_of(std::uint32_t lanes) const {
  VectorClock past = own;
  for (std::uint32_t i = 0; i < of_lanes.count; ++i)
    if ((of_lanes.acquisitions[i].acquirers & lanes) != 0) past.join(of_lanes.acquisitions[i].past);
  return past;
}

VectorClocksPtr Fence::blocks_of(std::uint32_t lanes) const {
  return (of_lanes.acquirers & lanes) == 0 ? blocks : joined(blocks, of_lanes.blocks);
}

void BlockClock::start(std::uint64_t block, const std::uint32_t* lanes, std::uint32_t warps) {
  block_ = block & Epoch::kBlockMask;
  floor_ = 1;
  warp_count_ = warps;
  has_table_ = false;
  if (gathered_) gatherings_ = {};
  gathered_ = fenced_ = false;
  for (std::uint32_t w = 0; w < warps; ++w) {
    WarpClock& clock = warps_[w];
    clock.time = clock.whole = 1;
    clock.lanes = lanes[w];
    clock.touched = false;
    clock.lane_join_count = 0;
    clock.of_lanes.clear();
    clock.blocks = nullptr;
    clock.reads = {};
    if (clock.block_fence.made) clock.block_fence = {};
    if (clock.device_fence.made) clock.device_fence = {};
    clock.last_acquired = nullptr;
  }
}

void BlockClock::tick(WarpClock& warp) {
  if (!warp.touched) return;
  warp.touched = false;
  if (warp.time < Epoch::kLastTime) ++warp.time;
}

void BlockClock::join_all(std::uint32_t id) {
  if (gathered_) gatherings_[id] = {};
  std::uint32_t time = floor_;
  bool touched = false;
  VectorClocksPtr blocks;
  ReadClock reads;
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    time = std::max(time, warps_[w].time);
    touched = touched || warps_[w].touched;
    if (warps_[w].blocks != nullptr) blocks = joined(blocks, warps_[w].blocks);
    if (warps_[w].of_lanes.acquirers != 0) blocks = joined(blocks, warps_[w].of_lanes.blocks);
    if (!warps_[w].reads.empty()) reads.join(warps_[w].reads);
  }
  if (touched && time < Epoch::kLastTime) ++time;
  floor_ = time;
  has_table_ = false;
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    WarpClock& clock = warps_[w];
    clock.time = clock.whole = time;
    clock.touched = false;
    clock.lane_join_count = 0;
    clock.of_lanes.clear();
    if (blocks != nullptr) clock.blocks = blocks;
    if (!reads.empty()) clock.reads = reads;
  }
  if (fenced_) share_fences();
}

void BlockClock::share_fences() {
  Fence block_fence, device_fence;
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    block_fence.join(warps_[w].block_fence);
    device_fence.join(warps_[w].device_fence);
  }
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    warps_[w].block_fence = block_fence;
    warps_[w].device_fence = device_fence;
  }
}

void BlockClock::keep_table() {
  if (has_table_) return;
  has_table_ = true;
  table_.resize(kWarps);
  for (std::uint32_t w = 0; w < warp_count_; ++w) table_[w].fill(floor_);
}

void BlockClock::arrive(std::uint32_t warp, std::uint32_t id) {
  keep_table();
  gathered_ = true;
  tick(warps_[warp]);
  Gathering& gathering = gatherings_[id];
  for (std::uint32_t v = 0; v < warp_count_; ++v)
    gathering.times[v] = std::max(gathering.times[v], known_of(warp, v, ~0u));
  gathering.times[warp] = std::max(gathering.times[warp], warps_[warp].time);
  gathering.blocks = joined(gathering.blocks, blocks_of(warps_[warp], ~0u));
  gathering.block_fence.join(warps_[warp].block_fence);
  gathering.device_fence.join(warps_[warp].device_fence);
}

void BlockClock::open(std::uint32_t id, std::uint32_t warps) {
  keep_table();
  Gathering& gathering = gatherings_[id];
  for (std::uint32_t w = 0; w < warp_count_; ++w) {
    if (((warps >> w) & 1) == 0) continue;
    for (std::uint32_t v = 0; v < warp_count_; ++v)
      table_[w][v] = std::max(table_[w][v], gathering.times[v]);
    warps_[w].whole = std::max(warps_[w].whole, gathering.times[w]);
    warps_[w].blocks = joined(warps_[w].blocks, gathering.blocks);
    warps_[w].block_fence.join(gathering.block_fence);
    warps_[w].device_fence.join(gathering.device_fence);
  }
  gathering = {};
}

void BlockClock::join_lanes(std::uint32_t warp, std::uint32_t lanes) {
  WarpClock& clock = warps_[warp];
  tick(clock);
  if ((clock.lanes & ~lanes) == 0) {
    clock.whole = clock.time;
    clock.lane_join_count = 0;
    spread(clock, ~0u, ~0u);
    return;
  }
  add_join(clock, {clock.time, lanes, lanes});
}

/// What one of the lanes `from` has acquired, `to` know now, too.
void BlockClock::spread(WarpClock& clock, std::uint32_t from, std::uint32_t to) {
  clock.of_lanes.spread(from, to);
  clock.block_fence.of_lanes.spread(from, to);
  clock.device_fence.of_lanes.spread(from, to);
  if (clock.of_lanes.acquirers != 0) learn(clock, nullptr, 0);
}

/// `lanes` know this of other blocks, and what other lanes have acquired before.
void BlockClock::learn(WarpClock& clock, const VectorClocksPtr& blocks, std::uint32_t lanes) {
  LanesKnow& known = clock.of_lanes;
  known.acquirers |= lanes;
  known.blocks = joined(known.blocks, blocks);
  if ((clock.lanes & ~known.acquirers) != 0) return;
  clock.blocks = joined(clock.blocks, known.blocks);
  known.blocks = nullptr;
  known.acquirers = 0;
}

/// Of another warp of the block.
void BlockClock::acquire_from(std::uint32_t warp, const VectorClock& past, std::uint32_t lanes) {
  WarpClock& clock = warps_[warp];
  if ((clock.lanes & ~lanes) == 0 && past.lanes == ~0u) {
    table_[warp][past.warp] = std::max(table_[warp][past.warp], past.time);
    return;
  }
  LanesKnow& partly = clock.of_lanes;
  for (std::uint32_t i = 0; i < partly.count; ++i) {
    Acquisition& known = partly.acquisitions[i];
    if (known.past.warp != past.warp || known.acquirers != lanes) continue;
    known.past.join(past);
    return;
  }
  auto& all = partly.acquisitions;
  if (partly.count == LanesKnow::kAcquisitions) {  // forget the oldest: counts for both warps whole
    const VectorClock& oldest = all[0].past;
    table_[warp][oldest.warp] = std::max(table_[warp][oldest.warp], oldest.time);
    std::move(all.begin() + 1, all.end(), all.begin());
    --partly.count;
  }
  all[partly.count++] = {past, lanes};
}

/// Of the past of its warp that lanes release: what they did, and those they have met.
VectorClock BlockClock::told_by(const WarpClock& clock, std::uint32_t warp, VectorClock past,
                                std::uint32_t lanes) {
  if (past.warp != warp) return past;
  for (std::uint32_t m = clock.lane_join_count; m-- > 0;)
    if ((clock.lane_joins[m].to & lanes) != 0) lanes |= clock.lane_joins[m].from;
  past.lanes = (clock.lanes & ~lanes) == 0 ? ~0u : lanes;
  past.whole = std::min(past.time, clock.whole);
  return past;
}

/// The time before which one of these lanes of `warp` has all of `other` in order, or some of it.
std::uint32_t BlockClock::known_of(std::uint32_t warp, std::uint32_t other,
                                   std::uint32_t lanes) const {
  return std::max(table_[warp][other], warps_[warp].of_lanes.known_of(other, lanes));
}

void BlockClock::add_join(WarpClock& clock, const LaneJoin& join) {
  spread(clock, join.from, join.to);
  if (clock.lane_join_count > 0) {
    LaneJoin& last = clock.lane_joins[clock.lane_join_count - 1];
    const bool equal = last.from == join.from && last.to == join.to;
    // A warp that acquires word by word does so once a lane: that counts as one.
    const bool between_lanes = last.from != last.to && join.from != join.to;
    if (last.time == join.time && (equal || between_lanes)) {
      last.from |= join.from;
      last.to |= join.to;
      return;
    }
  }
  if (clock.lane_join_count == kLaneJoins) {  // forget the oldest: counts as the whole warp's
    clock.whole = std::max(clock.whole, clock.lane_joins[0].time);
    std::move(clock.lane_joins.begin() + 1, clock.lane_joins.end(), clock.lane_joins.begin());
    --clock.lane_join_count;
  }
  clock.lane_joins[clock.lane_join_count++] = join;
}

VectorClocksPtr BlockClock::blocks_of(const WarpClock& clock, std::uint32_t lanes) {
  return (clock.of_lanes.acquirers & lanes) == 0 ? clock.blocks
                                                 : joined(clock.blocks, clock.of_lanes.blocks);
}

VectorClock BlockClock::own_past(std::uint32_t warp, std::uint32_t lanes) const {
  VectorClock known{floor_, warp, warps_[warp].time};
  if (has_table_) {
    for (std::uint32_t v = 0; v < warp_count_; ++v)
      if (v != warp) known.base = std::max(known.base, known_of(warp, v, lanes));
  }
  return known;
}

void BlockClock::fence(std::uint32_t warp, Reach reach) {
  WarpClock& clock = warps_[warp];
  tick(clock);
  fenced_ = true;
  const Fence fence{true, own_past(warp, 0), clock.blocks, clock.of_lanes};
  clock.block_fence = fence;
  if (reach == Reach::kDevice) clock.device_fence = fence;
}

void BlockClock::release(std::uint32_t warp, std::uint32_t lanes, SyncVariable& place, Reach reach,
                         bool releases, bool replaces) {
  WarpClock& clock = warps_[warp];
  if (releases) {
    tick(clock);
  } else if (!clock.block_fence.made) {
    if (replaces && (place.on_device != nullptr || !place.in_block.empty())) {
      place.in_block.clear();
      place.on_device = nullptr;
      ++place.version;
    }
    return;
  }
  ++place.version;
  if (replaces) {
    place.in_block.clear();
    place.on_device = nullptr;
  }
  Released& told = place.in_block[block_];
  const bool others_told = told.lanes != 0 && told.past.warp != warp;
  told.lanes = others_told ? ~0u : told.lanes | lanes;
  const auto past_before = [&](const Fence& fence) {
    return told_by(clock, warp, releases ? own_past(warp, lanes) : fence.past_of(lanes), lanes);
  };
  const auto blocks_before = [&](const Fence& fence) {
    return releases ? blocks_of(clock, lanes) : fence.blocks_of(lanes);
  };
  told.past.join(past_before(clock.block_fence));
  told.blocks = joined(told.blocks, blocks_before(clock.block_fence));
  told.on_device.join(clock.device_fence);
  const bool on_device = reach == Reach::kDevice && (releases || clock.device_fence.made);
  if (!on_device) return;
  auto all = std::make_shared<VectorClocks>();
  if (place.on_device != nullptr) *all = *place.on_device;
  if (const VectorClocksPtr others = blocks_before(clock.device_fence)) join(*all, *others);
  (*all)[block_].join(past_before(clock.device_fence));
  place.on_device = std::move(all);
}

void BlockClock::release_reads(std::uint32_t warp, SyncVariable& place) {
  ++place.version;
  place.reads = warps_[warp].reads;
  place.reads.add(block_, block_, floor_);
}

void BlockClock::acquire(std::uint32_t warp, std::uint32_t lanes, const SyncVariable& place) {
  WarpClock& clock = warps_[warp];
  const bool again = clock.last_acquired == &place && clock.last_version == place.version;
  if (again && (lanes & ~clock.last_acquirers) == 0) return;
  clock.last_acquired = &place;
  clock.last_version = place.version;
  clock.last_acquirers = again ? clock.last_acquirers | lanes : lanes;
  VectorClocksPtr blocks = place.on_device;
  if (const auto own = place.in_block.find(block_); own != place.in_block.end()) {
    keep_table();
    const Released& told = own->second;
    const VectorClock& known = told.past;
    for (std::uint32_t v = 0; v < warp_count_; ++v)
      table_[warp][v] = std::max(table_[warp][v], known.base);
    if (known.warp != warp && known.time > known.base) acquire_from(warp, known, lanes);
    // Lanes of one warp synchronise with each other in this way too: who acquires with who
    // released.
    if (known.warp == warp && known.time > known.base && told.lanes != ~0u)
      add_join(clock, {known.time, told.lanes, lanes});
    else if (known.warp == warp || known.time <= known.base)
      clock.whole = std::max(clock.whole, known.time);
    blocks = joined(told.blocks, blocks);
    clock.block_fence.join(told.on_device, lanes, clock.lanes);
    clock.device_fence.join(told.on_device, lanes, clock.lanes);
  }
  if (blocks != nullptr) learn(clock, blocks, lanes);
  if (!place.reads.empty()) clock.reads.join(place.reads);
}

bool BlockClock::read_before(std::uint64_t epoch, std::uint32_t warp) const {
  const ReadClock& reads = warps_[warp].reads;
  if (reads.empty()) return false;
  if ((epoch & Epoch::kManyBlocks) != 0) return true;  // which they were is not known
  return Epoch::block(epoch) != block_ && reads.cover(Epoch::block(epoch), Epoch::time(epoch));
}

bool BlockClock::lanes_ordered(const WarpClock& warp, std::uint64_t epoch,
                               std::uint32_t lane) const {
  const std::uint32_t time = Epoch::time(epoch);
  if (time < warp.whole) return true;
  std::uint32_t reached = 1u << Epoch::lane(epoch);
  for (std::uint32_t m = 0; m < warp.lane_join_count; ++m) {
    const LaneJoin& lane_join = warp.lane_joins[m];
    if (lane_join.time <= time) continue;
    if ((epoch & Epoch::kManyLanes) != 0) return true;  // who they were is not known
    if ((lane_join.from & reached) != 0) reached |= lane_join.to;
  }
  return (epoch & Epoch::kManyLanes) == 0 && ((reached >> lane) & 1) != 0;
}

bool BlockClock::blocks_ordered(const WarpClock& warp, std::uint64_t epoch, std::uint32_t lane) {
  return among(warp.blocks, epoch) ||
         (((warp.of_lanes.acquirers >> lane) & 1) != 0 && among(warp.of_lanes.blocks, epoch));
}

bool BlockClock::ordered(std::uint64_t epoch, std::uint32_t thread) const {
  const std::uint32_t w = thread / 32, time = Epoch::time(epoch);
  const WarpClock& warp = warps_[w];
  if (time == Epoch::kLastTime) return true;
  if (Epoch::block(epoch) != block_ || (epoch & Epoch::kManyBlocks) != 0)
    return blocks_ordered(warp, epoch, thread % 32);
  if (time < floor_) return true;
  if ((epoch & Epoch::kManyWarps) != 0) return has_table_;  // who they were is not known
  const std::uint32_t v = Epoch::warp(epoch);
  if (v != w) {
    if (!has_table_) return false;
    if (time < table_[w][v]) return true;
    const auto* const first = warp.of_lanes.acquisitions.data();
    return std::any_of(first, first + warp.of_lanes.count, [&](const Acquisition& known) {
      return ((known.acquirers >> (thread % 32)) & 1) != 0 && known.past.covers(epoch);
    });
  }
  if (Epoch::thread(epoch) == thread && (epoch & Epoch::kMany) == 0) return true;
  return lanes_ordered(warp, epoch, thread % 32);
}

}  // namespace membound::vgpu::exec
