// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/state/access.hpp"

#include <algorithm>
#include <bit>

#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/memory/address_sets.hpp"

namespace membound::vgpu::exec {
namespace {

/// A bad lane: a checker may take the report and let the others go on, else the launch ends.
/// True: the lane leaves the mask. False: faulted.
bool reject(Warp& w, const Step* s, FaultKind kind, const WarpAccess& access, std::uint32_t lane) {
  if (w.observer != nullptr && w.observer->bad_access(access, kind, lane)) return true;
  raise(w, s, kind, lane, access.addresses[lane], describe_bad_access(w, access, kind, lane));
  return false;
}

/// Host bytes of `lane`, whose address the array holds, and of those lanes of `wanted` that follow
/// it in the same chunk, as in a tile's row: they are looked up once. Notes the chunk for their
/// next accesses. The lanes that are done.
std::uint32_t in_piece(memory::LaneChunks::Row& row, std::uint32_t lane, std::uint32_t wanted,
                       const std::uint64_t* addresses, std::uint64_t bytes,
                       const memory::AddressSpace::LazyPlace& drawn, std::byte** host) {
  if (row.holds(lane, addresses[lane], bytes)) {
    host[lane] = reinterpret_cast<std::byte*>(addresses[lane] + row.host_offset[lane]);
    return 1u << lane;
  }
  const std::uint64_t offset = addresses[lane] - drawn.begin;
  const std::uint64_t into = offset % memory::LaneChunks::kBytes;
  std::byte* const first = drawn.array->make_in_chunk(offset);
  if (offset - into + memory::LaneChunks::kBytes > drawn.array->size_bytes()) {
    host[lane] = first;
    return 1u << lane;
  }
  const std::uint64_t begin = addresses[lane] - into;
  const std::uint64_t host_offset = reinterpret_cast<std::uint64_t>(first) - addresses[lane];
  std::uint32_t done = 0;
  for (std::uint32_t i = lane; i < 32; ++i) {
    const bool follows = (wanted >> i & 1) != 0 && (addresses[i] & (bytes - 1)) == 0 &&
                         addresses[i] - begin <= memory::LaneChunks::kBytes - bytes;
    if (!follows) break;
    host[i] = reinterpret_cast<std::byte*>(addresses[i] + host_offset);
    row.begin[i] = begin;
    row.host_offset[i] = host_offset;
    done |= 1u << i;
  }
  return done;
}

/// Of each lane: its frames, the running one included.
std::uint64_t local_bytes_in_use(const Warp& w) {
  const auto& code = w.launch->code[w.frame->function];
  return w.frame->local_base + code.function->frame_bytes + w.frame->alloca_bytes;
}

}  // namespace

std::optional<ThreadNumber> other_owner(const Warp& w, std::uint32_t lane, std::uint64_t address) {
  const LocalWindows windows = local_windows(w);
  if (!w.launch->precise || windows.has(static_cast<int>(lane), address)) return std::nullopt;
  const std::uint64_t whose = address + windows.slack;
  if (whose >> kMarkShift != kLocalMark) return std::nullopt;
  const std::uint64_t numbers = whose & ((std::uint64_t{1} << kMarkShift) - 1);
  return ThreadNumber{numbers >> kBlockShift,
                      numbers % (std::uint64_t{1} << kBlockShift) / windows.stride};
}

std::optional<ThreadNumber> other_owner(const WarpAccess& access, std::uint32_t lane) {
  if (access.space == ptx::StateSpace::kShared) return std::nullopt;
  const bool is_offset = access.space == ptx::StateSpace::kLocal;
  const std::uint64_t base =
      is_offset ? local_windows(*access.warp).of(static_cast<int>(lane)) : std::uint64_t{0};
  return other_owner(*access.warp, lane, access.addresses[lane] + base);
}

bool translate_slowly(Warp& w, const Step* s, const std::uint64_t* addresses, std::uint32_t& mask,
                      std::uint32_t bytes, AccessKind kind, std::byte** host) {
  StepStats& stats = w.stats[s->stats];
  const memory::AddressSpace& space = *w.launch->request->memory;
  const WarpAccess access{&w,    s,         ptx::StateSpace::kGlobal, kind, mask,
                          bytes, addresses, LanePattern::kUnknown};
  memory::AddressSpace::LazyPlace drawn;  // of a lane before
  memory::LaneChunks::Row* row = nullptr;
  std::uint64_t before = 0;          // the same lane's address,
  std::byte* host_before = nullptr;  // and what lies there; null: no lane's yet
  // Lanes within a page may have the span of one of them, here and the next time.
  constexpr std::uint64_t kFar = memory::AddressSpace::kPageBytes;
  if (mask != 0 && space.any_lazy()) {
    const std::uint64_t first = addresses[std::countr_zero(mask)];
    if (addresses[31 - std::countl_zero(mask)] - first >= kFar) drawn = space.lazy_about(first);
    if (w.worker->chunks == nullptr) w.worker->chunks = std::make_unique<memory::LaneChunks>();
    row = &w.worker->chunks->row_of(first);
  }
  for (std::uint32_t rest = mask; rest != 0;) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint64_t address = addresses[lane];
    rest &= rest - 1;
    if (host_before != nullptr && address == before) {
      host[lane] = host_before;
      continue;
    }
    const bool aligned = (address & (bytes - 1)) == 0;  // words: 1, 2, 4, 8 or 16 bytes
    if (aligned && drawn.holds(address, bytes)) {
      rest &= ~in_piece(*row, lane, rest | 1u << lane, addresses, bytes, drawn, host);
      before = address;
      host_before = host[lane];
      continue;
    }
    if (!aligned) {
      if (!reject(w, s, FaultKind::kMisalignedAddress, access, lane)) return false;
      mask &= ~(1u << lane);
      continue;
    }
    if (stats.span_bytes < bytes || address - stats.span_begin > stats.span_bytes - bytes) {
      const auto span = space.span_of(address, w.launch->precise);
      if (!span || span->end - address < bytes) {
        if (!reject(w, s, FaultKind::kIllegalAddress, access, lane)) return false;
        mask &= ~(1u << lane);
        continue;
      }
      drawn = space.lazy_about(address);
      stats.span_begin = span->begin;
      stats.span_bytes = span->end - span->begin;
      stats.host_offset = span->host_offset;
    }
    host[lane] =
        reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(stats.host_offset));
    before = address;
    host_before = host[lane];
  }
  return true;
}

std::byte* translate_range(Warp& w, const Step* s, std::uint64_t address, std::uint64_t bytes) {
  StepStats& stats = w.stats[s->stats];
  const auto span = w.launch->request->memory->span_of(address, w.launch->precise);
  if (!span || span->end - address < bytes) return nullptr;
  stats.span_begin = span->begin;
  stats.span_bytes = span->end - span->begin;
  stats.host_offset = span->host_offset;
  return reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(span->host_offset));
}

bool check_offsets(Warp& w, const Step* s, const std::uint64_t* offsets, std::uint32_t& mask,
                   std::uint32_t bytes, std::uint64_t limit, ptx::StateSpace space,
                   AccessKind kind) {
  const WarpAccess access{&w, s, space, kind, mask, bytes, offsets, LanePattern::kUnknown};
  // The storage of local memory grows by doubling; memcheck knows what the thread really has.
  if (space == ptx::StateSpace::kLocal && w.launch->precise)
    limit = std::min(limit, local_bytes_in_use(w));
  const std::uint32_t alignment = alignment_of(bytes);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const bool outside = limit < bytes || offsets[lane] > limit - bytes;
    if (!outside && offsets[lane] % alignment == 0) continue;
    const auto fault = outside ? FaultKind::kIllegalAddress : FaultKind::kMisalignedAddress;
    if (!reject(w, s, fault, access, lane)) return false;
    mask &= ~(1u << lane);
  }
  return true;
}

void observe(Warp& w, const Step* s, ptx::StateSpace space, AccessKind kind, std::uint32_t mask,
             std::uint32_t bytes, const std::uint64_t* addresses, LanePattern shape) {
  w.observer->access({&w, s, space, kind, mask, bytes, addresses, shape});
}

void tell_of_members(Warp& w, const Step* s, const std::uint32_t* masks, std::uint32_t present) {
  if (w.observer == nullptr) return;
  std::uint32_t named = 0, strangers = 0;
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    named |= masks[lane];
    if (((masks[lane] >> lane) & 1) == 0) strangers |= 1u << lane;
  }
  if ((named & w.live & ~present) != 0 || strangers != 0)
    w.observer->collective(w, s, named, present, strangers);
}

void observe_lane_sync(Warp& w, const std::uint32_t* masks) {
  for (std::uint32_t left = w.mask; left != 0;) {
    const std::uint32_t members = masks[std::countr_zero(left)];
    std::uint32_t lanes = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (masks[lane] == members) lanes |= 1u << lane;
    }
    w.observer->lanes_sync(w, lanes);
    left &= ~lanes;
  }
}

bool grow_local(Warp& w, const Step* s, std::uint64_t bytes) {
  if (bytes <= w.local_stride) return true;
  const std::uint64_t limit = w.launch->request->limits.local_bytes;
  const std::uint64_t in_use = local_bytes_in_use(w);
  if (w.launch->precise && bytes > in_use) bytes = in_use;  // check_offsets says so
  if (bytes <= w.local_stride || bytes > std::max(limit, in_use)) return true;
  const std::uint64_t wanted = std::max<std::uint64_t>(in_use, bytes);
  std::uint64_t stride = std::max<std::uint64_t>(64, w.local_stride);
  while (stride < wanted) stride *= 2;
  if (w.frame->depth == 0) stride = std::max<std::uint64_t>(16, (wanted + 15) / 16 * 16);
  if (wanted > limit) {
    raise(w, s, FaultKind::kStackOverflow, static_cast<std::uint32_t>(std::countr_zero(w.mask)), 0,
          "local memory and call stack need " + std::to_string(wanted) +
              " bytes a thread; the limit is " + std::to_string(limit));
    return false;
  }
  std::vector<std::byte> larger(stride * 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    std::copy_n(w.local.begin() + std::ptrdiff_t{lane} * w.local_stride, w.local_stride,
                larger.begin() + static_cast<std::ptrdiff_t>(lane * stride));
  w.local = std::move(larger);
  w.local_stride = static_cast<std::uint32_t>(stride);
  return true;
}

LocalSectors local_sectors(const std::uint64_t* offsets, std::uint32_t mask, std::uint32_t bytes) {
  LocalSectors total;
  if (mask == 0) return total;
  // A row holds one word of each lane: eight lanes share a sector.
  for (std::uint32_t part = 0; part < 4; ++part) {  // lanes 8 part … 8 part + 7
    const std::uint32_t lanes = mask & (0xFFu << (8 * part));
    if (lanes == 0) continue;
    memory::NumberSet rows;
    std::uint32_t sectors = 0;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
      sectors += rows.insert(offsets[std::countr_zero(rest)] / 4);
    total.all += sectors;
    if (sectors > 1 || std::popcount(lanes) < 8 || bytes < 4) total.partial += sectors;
  }
  total.all *= local_words(bytes);
  total.partial *= local_words(bytes);
  return total;
}

}  // namespace membound::vgpu::exec
