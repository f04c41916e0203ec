// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Handlers that do something around a step's own: note by which branch a lane went last; let other
/// warps go first where they take turns in drawn orders; let other blocks take what a warp has
/// handed over, or their share of the work; count loads and stores of shared memory that the
/// machine code has otherwise than the PTX (program/machine_accesses says which).
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/program/machine_accesses.hpp"

namespace membound::vgpu::exec {
namespace {

const Step* noted_branch(Warp& w, const Step* s) {
  if (w.mask == 0xFFFFFFFFu) {
    std::ranges::fill(w.last_branches, s);
  } else {
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1)
      w.last_branches[static_cast<std::size_t>(std::countr_zero(rest))] = s;
  }
  return s->extra->inner(w, s);
}

}  // namespace

Handler noted_branch_handler() { return &noted_branch; }

namespace {

/// The warp's turn ends at `next`.
const Step* pause_at(Warp& w, const Step* s, const Step* next) {
  w.pass = {};
  w.pass.wanted = true;
  // Blocks that run one beside the other go on before it, too: what it has told or heard may be old
  // by then.
  w.pass.to_blocks = s->extra->in->space != ptx::StateSpace::kShared;
  w.stop = next;
  return next;
}

const Step* pausing(Warp& w, const Step* s) {
  const Step* const next = s->extra->whole(w, s);
  // Else it has left the inner loop by itself.
  return next != s + 1 || w.pass.wanted || !draw_pause(w) ? next : pause_at(w, s, next);
}

const Step* waiting(Warp& w, const Step* s) {
  return draw_pause(w) ? pause_at(w, s, s) : s->extra->whole(w, s);
}

}  // namespace

Handler pausing_handler() { return &pausing; }
Handler waiting_handler() { return &waiting; }

namespace {

/// What stands in our memory where the running lanes access it, before they do. A guard may leave
/// out any of them, so that no lane speaks for the others.
class PlacesBefore {
 public:
  PlacesBefore(const Warp& w, const Step* s) {
    const program::Instruction& in = *s->extra->in;
    alignas(32) generic::u64 addresses[32];
    if (program::access_of(in).address_bits == 64)
      generic::lane_addresses<generic::u64>(w, s, addresses);
    else
      generic::lane_addresses<generic::u32>(w, s, addresses);
    bytes_ = std::min<std::size_t>(std::size_t{ptx::size_bytes(in.type)} * in.vector, kMostBytes);
    std::uint64_t last = 0;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
      const std::uint64_t address = addresses[std::countr_zero(rest)];
      if (count_ > 0 && address == last) continue;  // as where all lanes count in one word
      last = address;
      const std::byte* const place = w.launch->request->memory->host_bytes(address, bytes_);
      if (place == nullptr) continue;
      places_[count_] = place;
      std::memcpy(held_[count_++].data(), place, bytes_);
    }
  }

  [[nodiscard]] bool have_changed() const {
    for (std::size_t i = 0; i < count_; ++i)
      if (std::memcmp(places_[i], held_[i].data(), bytes_) != 0) return true;
    return false;
  }

 private:
  static constexpr std::size_t kMostBytes = 16;  // a vector of 4 words
  std::size_t bytes_ = 0, count_ = 0;
  std::array<const std::byte*, 32> places_;
  std::array<std::array<std::byte, kMostBytes>, 32> held_;
};

/// Of an addition that may be a ticket (`next = atomicAdd(&taken, 1)` in a loop): blocks that share
/// work out so run at the same time on a GPU, and each takes its part. Here one runs after the
/// other, and the first would take all of it: so whoever asks again waits until all others have
/// asked as often.
template <bool kMayBeTicket>
const Step* handing_over(Warp& w, const Step* s) {
  if (kMayBeTicket && w.ticket == Warp::Ticket::kTaken) {
    w.launch->shares_work = true;
    if (w.launch->all_share_work) w.ticket = Warp::Ticket::kNext;
    return pause_at(w, s, s);
  }
  if (!kMayBeTicket && w.pauses == 0) return s->extra->whole(w, s);
  const PlacesBefore before(w, s);
  const Step* const next = s->extra->whole(w, s);
  if (!before.have_changed()) return next;
  if (kMayBeTicket) w.ticket = Warp::Ticket::kTaken;
  if (w.pauses == 0 || w.launch->shares_work || next != s + 1 || w.pass.wanted) return next;
  --w.pauses;
  return pause_at(w, s, next);
}

}  // namespace

Handler handing_over_handler() { return &handing_over<false>; }
Handler ticket_handler() { return &handing_over<true>; }

namespace {

using generic::u32;
using generic::u64;

/// Lanes that all want one place, as where a block's sum is read.
bool all_equal(const u32* offsets) {
  u32 differs = 0;
  MEMBOUND_LANES differs |= offsets[i] ^ offsets[0];
  return differs == 0;
}

/// The same for each half of the warp, as where a row of a tile of 16 is read.
bool halves_equal(const u32* offsets) {
  u32 differs = 0;
  MEMBOUND_LANES differs |= offsets[i] ^ offsets[i & 16];
  return differs == 0;
}

/// What the access takes where it is of `bytes` a lane, from where these are aligned.
memory::Wavefronts wide_cost(const Warp& w, const Step* s, u32 bytes) {
  alignas(32) u64 addresses[32];
  if (program::access_of(*s->extra->in).address_bits == 64)
    generic::lane_addresses<u64>(w, s, addresses);
  else
    generic::lane_addresses<u32>(w, s, addresses);
  alignas(32) u32 offsets[32];
  MEMBOUND_LANES offsets[i] = static_cast<u32>(addresses[i]) & (0u - bytes);
  const bool is_load = s->extra->in->opcode == program::Opcode::kLd;
  if (is_load && w.mask == 0xFFFFFFFFu && all_equal(offsets)) {
    const u32 passes = std::max(1u, bytes / 8);  // lanes that agree go in pairs
    return {passes, passes, bytes};
  }
  if (is_load && bytes == 16 && w.mask == 0xFFFFFFFFu && halves_equal(offsets))
    return {2, 2, 2 * bytes};  // 16 lanes that agree pass together
  return memory::shared_wavefronts(offsets, w.mask, bytes, is_load);
}

const Step* issued_access(Warp& w, const Step* s) {
  StepStats& stats = w.stats[s->stats];
  const u32 bytes = s->extra->in->issued_bytes;
  memory::Wavefronts issued;
  u64 requests = 0;
  if (bytes != program::kNotIssued && w.launch->counts) {  // before the address is overwritten
    issued = wide_cost(w, s, bytes);
    requests = 1;
  }
  const u64 requests_before = stats.shared_requests, passes_before = stats.wavefronts;
  const u64 ideal_before = stats.ideal_wavefronts, bytes_before = stats.shared_bytes;
  const Step* const next = s->extra->as_written(w, s);
  if (!w.launch->counts) return next;
  stats.joined_requests += stats.shared_requests - requests_before - requests;
  stats.joined_wavefronts += stats.wavefronts - passes_before - issued.taken;
  stats.joined_ideal_wavefronts += stats.ideal_wavefronts - ideal_before - issued.ideal;
  stats.joined_shared_bytes += stats.shared_bytes - bytes_before - issued.bytes;
  return next;
}

}  // namespace

Handler issued_access_handler() { return &issued_access; }

}  // namespace membound::vgpu::exec
