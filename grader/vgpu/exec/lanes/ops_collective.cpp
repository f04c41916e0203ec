// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Shuffles, votes, matches and warp-wide reductions: where lanes see each other. The lanes a
/// member mask names wait for each other first; lanes that have exited are not missed.
#include <algorithm>

#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/schedule/block.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"
#include "grader/vgpu/exec/state/access.hpp"
#include "grader/vgpu/exec/state/shuffle_source.hpp"

namespace membound::vgpu::exec {
namespace {

using generic::at;
using generic::end_run;
using generic::predicate;
using generic::set_predicate;
using generic::write_lanes;
using program::Atomic;
using program::Instruction;
using program::Opcode;
using program::VoteMode;

/// True when the collective may run now with the lanes in w.mask; else the group waits and the
/// caller returns w.stop.
bool converged(Warp& w, const Step* s, Ref member_ref) {
  const auto* masks = at<const std::uint32_t>(w, member_ref);
  std::uint32_t members = 0;
  for (std::uint32_t i = 0; i < 32; ++i) members |= (w.mask >> i) & 1 ? masks[i] : 0;
  Group& here = w.groups[w.current];
  if (((members & w.live) & ~w.mask) != 0 && !here.forced &&
      w.launch->scheduler->waits_for_lanes()) {
    end_run(w, s);
    here.pc = s;
    here.state = GroupState::kConverge;
    here.wanted = members;
    w.leave = Leave::kWait;
    return false;
  }
  tell_of_members(w, s, masks, w.mask);
  // By the manual shuffles and votes order no memory; programs rely on it all the same, so what
  // they do with it is not called a race.
  if (w.observer != nullptr) observe_lane_sync(w, masks);
  here.forced = false;
  return true;
}

void tell_of_odd_width(Warp& w, const Step* s) {
  const auto* c = at<const std::uint32_t>(w, s->c);
  for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(rest));
    if (!divides_warp(c[lane])) return w.observer->odd_shuffle(w, s, lane);
  }
}

bool are_all(const std::uint32_t* lanes, std::uint32_t value) {
  std::uint32_t differ = 0;
  for (std::uint32_t i = 0; i < 32; ++i) differ |= lanes[i] ^ value;
  return differ == 0;
}

/// The shuffle that nearly all kernels execute: all 32 lanes, in one segment, by one distance.
/// False: it is another one, and nothing was done.
bool shuffle_whole_warp(const Warp& w, const Step* s, std::uint32_t* values, std::uint32_t& found) {
  using program::ShuffleMode;
  const ShuffleMode mode = s->extra->in->as<program::Shuffle>().mode;
  const std::uint32_t last = mode == ShuffleMode::kUp ? 0 : 31;
  const auto* by = at<const std::uint32_t>(w, s->b);
  const std::uint32_t distance = by[0] & 31;
  if (w.mask != 0xFFFFFFFFu || !are_all(at<const std::uint32_t>(w, s->extra->s[3]), 0xFFFFFFFFu) ||
      !are_all(at<const std::uint32_t>(w, s->c), last) || !are_all(by, by[0]))
    return false;
  const auto* a = at<const std::uint32_t>(w, s->a);
  const std::uint32_t rest = 32 - distance;
  found = 0xFFFFFFFFu;
  switch (mode) {
    case ShuffleMode::kUp:
      std::copy_n(a, distance, values);
      std::copy_n(a, rest, values + distance);
      found <<= distance;
      break;
    case ShuffleMode::kDown:
      std::copy_n(a + distance, rest, values);
      std::copy_n(a + rest, distance, values + rest);
      found >>= distance;
      break;
    case ShuffleMode::kBfly:
      for (std::uint32_t i = 0; i < 32; ++i) values[i] = a[i ^ distance];
      break;
    case ShuffleMode::kIdx:
      std::fill_n(values, 32, a[distance]);
      break;
  }
  return true;
}

const Step* shuffle(Warp& w, const Step* s) {
  if (!converged(w, s, s->extra->s[3])) return w.stop;
  const auto* a = at<const std::uint32_t>(w, s->a);
  const auto* members = at<const std::uint32_t>(w, s->extra->s[3]);
  std::uint32_t values[32], found = 0, deserted = 0;
  if (shuffle_whole_warp(w, s, values, found)) {
    write_lanes(w, s->d, values);
    if (s->collective.has_second) set_predicate(w, s->extra->d[1], found);
    return s + 1;
  }
  for (std::uint32_t i = 0; i < 32; ++i) {
    const ShuffleSource source = shuffle_source(w, s, i);
    values[i] = a[source.lane];
    found |= static_cast<std::uint32_t>(source.in_range) << i;
    deserted |= (~(members[i] & w.mask) >> source.lane & 1) << i;
  }
  deserted &= w.mask & found;
  if (w.observer != nullptr) tell_of_odd_width(w, s);
  if (w.observer != nullptr && deserted != 0) w.observer->deserted_shuffle(w, s, deserted);
  write_lanes(w, s->d, values);
  if (s->collective.has_second) set_predicate(w, s->extra->d[1], found);
  return s + 1;
}

/// Calls `each` once for every different member mask among the running lanes, with the lanes that
/// take part (`members`) and those that wait for the answer (`lanes`).
template <typename Each>
void for_each_tile(const Warp& w, Ref member_ref, Each each) {
  const auto* masks = at<const std::uint32_t>(w, member_ref);
  for (std::uint32_t left = w.mask; left != 0;) {
    const std::uint32_t mask = masks[__builtin_ctz(left)];
    std::uint32_t lanes = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      if (masks[lane] == mask) lanes |= 1u << lane;
    }
    each(mask & w.mask, lanes);
    left &= ~lanes;
  }
}

void put_lanes(std::uint32_t* values, std::uint32_t lanes, std::uint32_t value) {
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) values[__builtin_ctz(rest)] = value;
}

const Step* vote(Warp& w, const Step* s) {
  if (!converged(w, s, s->b)) return w.stop;
  const VoteMode mode = s->extra->in->as<program::Vote>().mode;
  const std::uint32_t says = predicate(w, s->a);
  std::uint32_t values[32] = {}, holds = 0;
  for_each_tile(w, s->b, [&](std::uint32_t members, std::uint32_t lanes) {
    const std::uint32_t yes = says & members;
    put_lanes(values, lanes, yes);
    const bool answer = mode == VoteMode::kAll   ? yes == members
                        : mode == VoteMode::kAny ? yes != 0
                                                 : yes == 0 || yes == members;
    if (answer) holds |= lanes;
  });
  if (mode == VoteMode::kBallot)
    write_lanes(w, s->d, values);
  else
    set_predicate(w, s->d, holds);
  return s + 1;
}

template <typename Word, bool kAll>
const Step* match(Warp& w, const Step* s) {
  if (!converged(w, s, s->b)) return w.stop;
  const auto* a = at<const Word>(w, s->a);
  std::uint32_t values[32] = {}, holds = 0;
  for_each_tile(w, s->b, [&](std::uint32_t members, std::uint32_t lanes) {
    bool equal = true;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int i = __builtin_ctz(rest);
      std::uint32_t same = 0;
      for (std::uint32_t others = members; others != 0; others &= others - 1) {
        const int j = __builtin_ctz(others);
        if (a[i] == a[j]) same |= 1u << j;
      }
      values[i] = same;
      equal = equal && same == members;
      if (!kAll && (same & (0u - same)) == 1u << i) ++w.stats[s->stats].match_values;
    }
    if (kAll) put_lanes(values, lanes, equal ? members : 0);
    if (equal) holds |= lanes;
  });
  if (kAll && s->collective.has_second) set_predicate(w, s->extra->d[1], holds);
  write_lanes(w, s->d, values);
  return s + 1;
}

/// Which lanes come together is nobody's promise: where turns are drawn, some go first.
const Step* active_mask(Warp& w, const Step* s) {
  const std::uint32_t together = draw_lanes(w, s), later = w.mask & ~together;
  if (later != 0) {
    end_run(w, s);
    w.launch->scheduler->add_group(w, s, later, w.frame, w.groups[w.current].penalty);
    w.groups[w.current].mask = together;
    set_mask(w, together);
    w.run_begin = s;
  }
  std::uint32_t values[32];
  for (std::uint32_t& value : values) value = w.mask;
  write_lanes(w, s->d, values);
  if (later == 0) return s + 1;
  end_run(w, s + 1);
  w.run_begin = s + 1;
  return w.launch->scheduler->redirect(w, s + 1);
}

template <typename T>
T joined(Atomic operation, T a, T b) {
  switch (operation) {
    case Atomic::kAdd:
      return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
    case Atomic::kMin:
      return b < a ? b : a;
    case Atomic::kMax:
      return a < b ? b : a;
    case Atomic::kAnd:
      return a & b;
    case Atomic::kOr:
      return a | b;
    default:
      return a ^ b;
  }
}

template <typename T>
const Step* redux(Warp& w, const Step* s) {
  if (!converged(w, s, s->b)) return w.stop;
  const auto* a = at<const T>(w, s->a);
  const Atomic operation = s->extra->in->as<program::Joined>().operation;
  std::uint32_t values[32] = {};
  for_each_tile(w, s->b, [&](std::uint32_t members, std::uint32_t lanes) {
    const std::uint32_t from = members != 0 ? members : lanes;
    T result = a[__builtin_ctz(from)];
    for (std::uint32_t rest = from & (from - 1); rest != 0; rest &= rest - 1)
      result = joined(operation, result, a[__builtin_ctz(rest)]);
    put_lanes(values, lanes, static_cast<std::uint32_t>(result));
  });
  write_lanes(w, s->d, values);
  return s + 1;
}

const Step* elect(Warp& w, const Step* s) {
  if (!converged(w, s, s->a)) return w.stop;
  std::uint32_t values[32] = {}, leaders = 0;
  for_each_tile(w, s->a, [&](std::uint32_t members, std::uint32_t lanes) {
    const std::uint32_t from = members != 0 ? members : lanes;
    put_lanes(values, lanes, static_cast<std::uint32_t>(__builtin_ctz(from)));
    leaders |= from & (0u - from);
  });
  write_lanes(w, s->d, values);
  set_predicate(w, s->extra->d[1], leaders);
  return s + 1;
}

}  // namespace

Handler select_collective(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kShfl:
      return &shuffle;
    case Opcode::kVote:
      return &vote;
    case Opcode::kMatch: {
      const bool all = in.as<program::Match>().mode == program::MatchMode::kAll;
      if (ptx::size_bytes(in.type) == 8)
        return all ? &match<std::uint64_t, true> : &match<std::uint64_t, false>;
      return all ? &match<std::uint32_t, true> : &match<std::uint32_t, false>;
    }
    case Opcode::kActivemask:
      return &active_mask;
    case Opcode::kRedux:
      return in.type == ptx::ScalarType::kS32   ? &redux<std::int32_t>
             : in.type == ptx::ScalarType::kF32 ? nullptr
                                                : &redux<std::uint32_t>;
    case Opcode::kElect:
      return &elect;
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec
