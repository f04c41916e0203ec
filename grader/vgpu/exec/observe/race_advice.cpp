// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What to do about a race. The code between the two accesses says what is missing and where: a
/// barrier on the way from the one to the other, or on the way round a loop; or what a lock lacks.
/// Place in the chain: racecheck -> [race_advice] -> program/paths.
#include <bit>
#include <optional>

#include "grader/vgpu/exec/observe/race_messages.hpp"
#include "grader/vgpu/program/paths.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::exec {
namespace {

using memory::Stamp;
using program::Instruction;
using program::Opcode;
using program::Order;

/// Whether other active lanes touch the very place of `lane`: then no barrier puts it right.
bool is_shared_by_lanes(const WarpAccess& access, std::uint32_t lane) {
  std::uint32_t same = 0;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1)
    same += access.addresses[std::countr_zero(rest)] == access.addresses[lane] ? 1 : 0;
  return same > 1;
}

/// The step's number in its function.
std::uint32_t index_of(const Launch& launch, const Step* step) {
  return static_cast<std::uint32_t>(step - launch.code[step->extra->function].begin);
}

bool is_barrier(const Instruction& in, Relation apart) {
  if (program::is_block_barrier(in)) return in.as<program::BlockBarrier>().counts_all;
  return apart == Relation::kWarp && (in.opcode == Opcode::kBar || in.opcode == Opcode::kBarrier);
}

/// May `to` run after `from` with no barrier between?
bool lacks_barrier(const Launch& launch, const Step* from, const Step* to, Relation apart) {
  const program::Function& function = *launch.code[from->extra->function].function;
  const auto ends = [&](const Instruction& in) { return is_barrier(in, apart); };
  return program::reached_from(function, index_of(launch, from), ends)[index_of(launch, to)];
}

/// "between lines 5 and 6", or where a loop comes from the later line to the earlier one again.
RaceAdvice missing_place(const Warp& w, const WarpAccess& access, const Race& race,
                         const Place& place, const OtherAccess& other) {
  const Step* const step = w.launch->origins[race.origin];
  if (place.line == 0 || other.place.line == 0 || place.line == other.place.line || step == nullptr)
    return {"between the two"};
  const bool is_later = place.line > other.place.line;
  const Step* const early = is_later ? step : access.step;
  const Step* const late = is_later ? access.step : step;
  const std::string first = std::to_string(std::min(place.line, other.place.line));
  const std::string last = std::to_string(std::max(place.line, other.place.line));
  if (early->extra->function != late->extra->function) return {"between the two"};
  const Relation apart = relation(w, race);
  if (!lacks_barrier(*w.launch, early, late, apart) && lacks_barrier(*w.launch, late, early, apart))
    return {"after line " + last + ", before the next round comes to line " + first, true};
  return {"between lines " + first + " and " + last};
}

bool is_fence(const Instruction& in) {
  return in.opcode == Opcode::kMembar || in.opcode == Opcode::kFence;
}

std::string line_of(const Warp& w, const Step* step) {
  const Place place = place_of(w, step, 0);
  return place.line == 0 ? "line " + std::to_string(place.ptx_line) + " of the PTX"
                         : "line " + std::to_string(place.line);
}

bool is_plain_store(const Step* step) {
  const Instruction& in = *step->extra->in;
  return in.opcode == Opcode::kSt && in.order == Order::kWeak;
}

/// What the lock around both accesses lacks; empty where there is none, or it lacks nothing.
std::string lock_advice(const Warp& w, const WarpAccess& access, const Race& race) {
  const Step* const other = w.launch->origins[race.origin];
  const auto [take, give_back] = race.lock;
  if (take == nullptr || give_back == nullptr || other == nullptr) return {};
  constexpr const char* kExchange = "give the lock back with atomicExch, after a __threadfence()";
  if (take == access.step)
    return give_back == other && is_plain_store(other) ? kExchange : std::string();
  for (const Step* step : {access.step, other, give_back})
    if (step->extra->function != take->extra->function) return {};
  const program::Function& function = *w.launch->code[take->extra->function].function;
  const auto leads = [&](const Step* from, const Step* to, const program::PathEnd& ends) -> bool {
    return program::reached_from(function, index_of(*w.launch, from),
                                 ends)[index_of(*w.launch, to)];
  };
  for (const Step* guarded : {access.step, other})
    if (!leads(take, guarded, nullptr) || !leads(guarded, give_back, nullptr)) return {};
  const Order taken = take->extra->in->order, given = give_back->extra->in->order;
  const bool no_acquire = taken != Order::kAcquire && taken != Order::kAcqRel &&
                          (leads(take, access.step, is_fence) || leads(take, other, is_fence));
  const bool no_release =
      given != Order::kRelease && given != Order::kAcqRel &&
      (leads(access.step, give_back, is_fence) || leads(other, give_back, is_fence));
  if (!no_acquire && !no_release) return {};
  const std::string fence =
      access.space == ptx::StateSpace::kShared ? "__threadfence_block()" : "__threadfence()";
  std::string text = "the lock orders nothing by itself: put " + fence;
  if (no_acquire) text += " after " + line_of(w, take) + ", which takes it";
  if (no_acquire && no_release) text += ", and one";
  if (no_release) text += " before " + line_of(w, give_back) + ", which gives it back";
  if (is_plain_store(give_back)) text += " with a plain store where it needs atomicExch";
  return text;
}

}  // namespace

RaceAdvice race_advice(const Warp& w, const WarpAccess& access, const Race& race,
                       const Place& place, const OtherAccess& other) {
  const bool was_atomic = (race.before & Stamp::kAtomic) != 0;
  const bool is_atomic = access.kind == AccessKind::kAtomic;
  if (std::string lock = lock_advice(w, access, race); !lock.empty()) return {std::move(lock)};
  if (was_atomic != is_atomic && relation(w, race) == Relation::kGrid)
    return {"make both accesses atomic, or let a second kernel do what must come after"};
  const bool same_line = other.place.line == place.line;
  if (same_line && relation(w, race) != Relation::kGrid && is_shared_by_lanes(access, race.lane))
    return {
        "use an atomic operation (atomicAdd), or let each thread write to a place of its own: "
        "here many threads change one place, and no barrier keeps what each of them adds"};
  const bool is_volatile = access.step->extra->in->order == Order::kVolatile;
  const std::string no_order = is_volatile ? "; volatile orders nothing" : "";
  RaceAdvice where = missing_place(w, access, race, place, other);
  switch (relation(w, race)) {
    case Relation::kGrid:
      return {
          "use an atomic operation, or let each block write to a place of its own: blocks run "
          "in any order" +
          no_order};
    case Relation::kBlock:
      if (same_line)
        return {
            "put __syncthreads() between one round and the next, or give each thread an "
            "element of its own; where threads add to one place, use atomicAdd" +
            no_order};
      return {"put __syncthreads() " + where.text + ", where every thread reaches it" + no_order,
              where.is_of_next_round};
    case Relation::kWarp:
      break;
  }
  return {"put __syncwarp() (or __syncthreads()) " + where.text +
              ": since Volta the lanes of a warp need not run in step" +
              (is_volatile ? ", and volatile orders nobody" : ""),
          where.is_of_next_round};
}

}  // namespace membound::vgpu::exec
