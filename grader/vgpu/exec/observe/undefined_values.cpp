// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/undefined_values.hpp"

#include <algorithm>
#include <bit>

#include "grader/base/strings.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"
#include "grader/vgpu/exec/state/shuffle_source.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {
namespace {

using program::Opcode;

std::uint64_t low_bits(std::uint32_t count) {
  return count >= 64 ? kAllBits : (std::uint64_t{1} << count) - 1;
}

std::uint32_t width_of(ptx::ScalarType type) { return 8 * ptx::size_bytes(type); }

/// From the lowest undefined bit on everything is: what a carry may reach.
std::uint64_t carried(std::uint64_t bits) { return bits | (0 - bits); }

/// What an operand of up to 64 bits holds.
std::uint64_t value_of(const Warp& w, const Step* s, std::size_t operand, std::uint32_t width,
                       std::uint32_t lane) {
  const Ref ref = s->extra->s[operand];
  return width > 32 ? generic::at<const std::uint64_t>(w, ref)[lane]
                    : generic::at<const std::uint32_t>(w, ref)[lane];
}

/// Of `a & b`: a bit that is 0 in a defined operand is 0.
std::uint64_t bits_of_and(std::uint64_t a, std::uint64_t b, std::uint64_t value_a,
                          std::uint64_t value_b) {
  return (a & b) | (a & value_b) | (b & value_a);
}

}  // namespace

std::uint64_t undefined_bits(const Warp& w, const Step* s, std::size_t result, std::uint32_t lane,
                             const OperandBits& bits) {
  const program::Instruction& in = *s->extra->in;
  const auto of = [&](std::size_t operand) { return bits[operand]; };
  const std::uint32_t width = width_of(in.type);
  const auto value = [&](std::size_t operand) { return value_of(w, s, operand, width, lane); };
  const auto holds = [&](std::size_t operand) {
    return ((generic::predicate(w, s->extra->s[operand]) >> lane) & 1) != 0 ? kAllBits : 0;
  };
  const bool on_predicates = in.type == ptx::ScalarType::kPred;
  const auto known = [&](std::size_t operand) {
    return on_predicates ? holds(operand) : value(operand);
  };
  std::uint64_t any = 0;
  for (const std::uint64_t each : bits) any |= each;
  switch (in.opcode) {
    case Opcode::kMov:
      if (in.vector == 1) return of(0);
      if (in.as<program::Move>().way == program::MoveWay::kUnpack && width <= 64)
        return of(0) >> (result * width / in.vector) & low_bits(width / in.vector);
      if (width <= 64) {
        std::uint64_t all = 0;
        const std::uint32_t part = width / in.vector;
        for (std::size_t i = 0; i < in.vector; ++i) all |= (of(i) & low_bits(part)) << (i * part);
        return all;
      }
      break;
    case Opcode::kNot:
    case Opcode::kCvta:
      return of(0);
    case Opcode::kXor:
      return of(0) | of(1);
    case Opcode::kAnd:
      return bits_of_and(of(0), of(1), known(0), known(1));
    case Opcode::kOr:
      return bits_of_and(of(0), of(1), ~known(0), ~known(1));
    case Opcode::kLop3: {
      std::uint64_t ones = 0, zeros = 0;  // where some choice of the undefined bits gives 1, or 0
      for (unsigned row = 0; row < 8; ++row) {
        std::uint64_t possible = kAllBits;
        for (std::size_t i = 0; i < 3; ++i)
          possible &= of(i) | ((row >> (2 - i)) & 1 ? value(i) : ~value(i));
        ((in.as<program::TruthTable>().table >> row) & 1 ? ones : zeros) |= possible;
      }
      return ones & zeros & low_bits(32);
    }
    case Opcode::kSelp:
      if (of(2) != 0) return known(0) == known(1) && (of(0) | of(1)) == 0 ? 0 : kAllBits;
      return holds(2) != 0 ? of(0) : of(1);
    case Opcode::kShl:
    case Opcode::kShr: {
      if (of(1) != 0) return kAllBits;
      const std::uint64_t by = value_of(w, s, 1, 32, lane);
      const std::uint64_t field = of(0) & low_bits(width);
      if (in.opcode == Opcode::kShl) return by >= width ? 0 : field << by;
      const bool arithmetic = in.type == ptx::ScalarType::kS16 ||
                              in.type == ptx::ScalarType::kS32 || in.type == ptx::ScalarType::kS64;
      const bool sign = arithmetic && (field >> (width - 1)) != 0;
      if (by >= width) return sign ? kAllBits : 0;
      return field >> by | (sign ? ~low_bits(width - static_cast<std::uint32_t>(by)) : 0);
    }
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kNeg:
      return ptx::is_float(in.type) ? kAllBits : carried(any);
    case Opcode::kCvt: {
      if (ptx::is_float(in.type) || ptx::is_float(in.type2) || in.has(program::kSat))
        return kAllBits;
      const std::uint32_t narrow = std::min(width, width_of(in.type2));
      const std::uint64_t field = of(0) & low_bits(narrow);
      return (field >> (narrow - 1)) != 0 ? field | ~low_bits(narrow) : field;
    }
    case Opcode::kSetp: {
      // Joined with a predicate that decides alone, the comparison does not matter.
      const program::Combine combine = in.as<program::Compare>().combine;
      if (combine == program::Combine::kNone || of(2) != 0) break;
      if (combine == program::Combine::kAnd && holds(2) == 0) return 0;
      if (combine == program::Combine::kOr && holds(2) != 0) return 0;
      break;
    }
    default:
      break;
  }
  return any != 0 ? kAllBits : 0;
}

namespace {

using program::Instruction;
using program::Shape;
using program::Value;
using program::ValueKind;

template <typename Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

bool writes_or_waits(const Instruction& in) {
  switch (program::shape_of(in)) {
    case Shape::kLoad:
    case Shape::kStore:
    case Shape::kAtom:
    case Shape::kRed:
    case Shape::kCpAsync:
    case Shape::kMbarrier:
    case Shape::kSust:
    case Shape::kBra:
    case Shape::kBrx:
    case Shape::kCall:
    case Shape::kEnd:
    case Shape::kBar:
      return true;
    default:
      return false;
  }
}

/// Such an instruction keeps bits or puts them elsewhere, as the copy of a struct does.
bool moves_bits(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kNot:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kLop3:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kShf:
    case Opcode::kPrmt:
    case Opcode::kBfe:
    case Opcode::kBfi:
    case Opcode::kSelp:
      return true;
    case Opcode::kCvt:
      return !ptx::is_float(in.type) && !ptx::is_float(in.type2);
    default:
      return false;
  }
}

}  // namespace

void UndefinedValues::clear() {
  frames_.clear();
  sources_.clear();
}

const UndefinedValues::Register* UndefinedValues::find(const Warp& w, const Value& value) const {
  if (value.kind != ValueKind::kRegister && value.kind != ValueKind::kPredicate) return nullptr;
  const auto frame = frames_.find(w.frame);
  if (frame == frames_.end()) return nullptr;
  const auto& all =
      value.kind == ValueKind::kRegister ? frame->second.registers : frame->second.predicates;
  const auto found = all.find(value.index);
  return found == all.end() || found->second.lanes == 0 ? nullptr : &found->second;
}

UndefinedValues::Register* UndefinedValues::find(const Warp& w, const Value& value) {
  return const_cast<Register*>(std::as_const(*this).find(w, value));
}

std::uint32_t UndefinedValues::lanes(const Warp& w, const Value& value) const {
  const Register* const found = find(w, value);
  return found == nullptr ? 0 : found->lanes;
}

std::uint64_t UndefinedValues::bits(const Warp& w, const Value& of, std::uint32_t lane) const {
  const Register* const found = find(w, of);
  return found == nullptr || ((found->lanes >> lane) & 1) == 0 ? 0 : found->bits[lane];
}

bool UndefinedValues::is_computed(const Warp& w, const Value& of, std::uint32_t lane) const {
  const Register* const found = find(w, of);
  return found != nullptr && ((found->lanes & found->computed) >> lane & 1) != 0;
}

const UndefinedSource& UndefinedValues::source(const Warp& w, const Value& of) const {
  return sources_[find(w, of)->source];
}

void UndefinedValues::put(Warp& w, const Value& to, std::uint32_t mask,
                          const std::array<std::uint64_t, 32>& bits, std::uint32_t source,
                          std::uint32_t computed) {
  if (to.kind != ValueKind::kRegister && to.kind != ValueKind::kPredicate) return;
  std::uint32_t some = 0;
  for_each_lane(mask, [&](std::uint32_t lane) { some |= (bits[lane] != 0 ? 1u : 0u) << lane; });
  Register* known = find(w, to);
  if (some == 0 && known == nullptr) return;
  FrameValues& frame = frames_[w.frame];
  Register& here = (to.kind == ValueKind::kRegister ? frame.registers : frame.predicates)[to.index];
  for_each_lane(mask, [&](std::uint32_t lane) { here.bits[lane] = bits[lane]; });
  here.lanes = (here.lanes & ~mask) | some;
  here.computed = (here.computed & ~mask) | (computed & mask);
  if (some != 0) here.source = source;
}

std::uint32_t UndefinedValues::add_source(const UndefinedSource& source) {
  const auto found =
      std::find_if(sources_.begin(), sources_.end(), [&](const UndefinedSource& each) {
        return each.step == source.step && each.was_stored == source.was_stored;
      });
  const auto number = static_cast<std::uint32_t>(found - sources_.begin());
  if (found == sources_.end())
    sources_.push_back(source);
  else
    *found = source;
  return number;
}

void UndefinedValues::taint(Warp& w, const Value& to, std::uint32_t lane, std::uint64_t bits,
                            std::uint32_t source) {
  std::array<std::uint64_t, 32> all{};
  all[lane] = bits;
  put(w, to, 1u << lane, all, source);
}

void UndefinedValues::use(Warp& w, const Step* s, const Value& value, Use how, const Used& used) {
  Register* const found = find(w, value);
  if (found == nullptr) return;
  const std::uint32_t lanes = found->lanes & w.mask;
  const UndefinedSource source = sources_[found->source];
  found->lanes &= ~lanes;
  for_each_lane(lanes, [&](std::uint32_t lane) { used(w, source, s, lane, how); });
}

void UndefinedValues::step(Warp& w, const Step* s, const Used& used) {
  const Instruction& in = *s->extra->in;
  if (!frames_.contains(w.frame)) return;
  if (in.guard && writes_or_waits(in)) use(w, s, in.guard, Use::kBranch, used);
  switch (program::shape_of(in)) {
    case Shape::kAtom:
    case Shape::kRed:
      for (std::size_t i = 1; i < in.s.size(); ++i) use(w, s, in.s[i], Use::kAtomic, used);
      [[fallthrough]];
    case Shape::kLoad:
    case Shape::kStore:
    case Shape::kMbarrier:
      use(w, s, in.s[0], Use::kAddress, used);
      break;
    case Shape::kCpAsync:
    case Shape::kTex:
    case Shape::kSuld:
    case Shape::kSust:
      for (const Value& each : in.s) use(w, s, each, Use::kAddress, used);
      break;
    case Shape::kBrx:
    case Shape::kCall:
      use(w, s, in.s[0], Use::kBranch, used);
      break;
    case Shape::kShfl:
    case Shape::kVote:
    case Shape::kMatch:
    case Shape::kRedux:
    case Shape::kElect:
    case Shape::kBar:
      return across_lanes(w, s);
    default:
      return propagate(w, s);
  }
  // What these give is told by who knows memory; until then it counts as defined.
  std::uint32_t mask = w.mask;
  if (in.guard) mask &= generic::predicate(w, s->guard);
  for (const Value& to : in.d) put(w, to, mask, {}, 0);
  if (const auto* site = std::get_if<program::CallSite>(&in.detail)) {
    const auto& call = w.launch->code[s->extra->function].function->calls[site->call];
    for (const program::ArgumentCopy& copy : call.results) put(w, copy.value, mask, {}, 0);
  }
}

/// A result of one lane is made of that lane's operands.
void UndefinedValues::propagate(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  FrameValues& frame = frames_[w.frame];
  std::uint32_t from = 0, source = 0, computed = moves_bits(in) ? 0 : w.mask;
  const auto look_at = [&](const Value& value) {
    const Register* const found = find(w, value);
    if (found == nullptr || (found->lanes & w.mask) == 0) return;
    from |= found->lanes;
    computed |= found->computed & found->lanes;
    source = found->source;
  };
  for (const Value& each : in.s) look_at(each);
  const bool reads_carry =
      in.opcode == Opcode::kAddc || in.opcode == Opcode::kSubc || in.opcode == Opcode::kMadc;
  const std::uint32_t by_carry = reads_carry ? frame.carry : 0;
  std::uint32_t doubtful = 0;  // lanes of which nobody knows whether they execute it
  if (in.guard) {
    doubtful = lanes(w, in.guard) & w.mask;
    look_at(in.guard);
  }
  std::uint32_t mask = w.mask;
  if (in.guard) mask &= generic::predicate(w, s->guard) | doubtful;
  from = (from | by_carry) & mask;
  std::uint32_t before = 0;
  for (const Value& to : in.d) before |= lanes(w, to);
  if (from == 0 && (before & mask) == 0 && !in.has(program::kCarryOut)) return;
  for (std::size_t d = 0; d < in.d.size(); ++d) {
    if (!in.d[d]) continue;
    std::array<std::uint64_t, 32> bits{};
    for_each_lane(from, [&](std::uint32_t lane) {
      const bool all = (((doubtful | by_carry) >> lane) & 1) != 0;
      OperandBits of{};
      for (std::size_t i = 0; i < of.size(); ++i) of[i] = this->bits(w, in.s[i], lane);
      bits[lane] = all ? kAllBits : undefined_bits(w, s, d, lane, of);
    });
    put(w, in.d[d], mask, bits, source, computed);
  }
  if (in.has(program::kCarryOut)) frames_[w.frame].carry = (frame.carry & ~mask) | from;
}

/// A result of one lane is made of what other lanes have.
void UndefinedValues::across_lanes(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const Shape shape = program::shape_of(in);
  std::uint32_t from = 0, source = 0;
  for (const Value& each : in.s) {
    const Register* const found = find(w, each);
    if (found == nullptr || (found->lanes & w.mask) == 0) continue;
    from |= found->lanes & w.mask;
    source = found->source;
  }
  std::uint32_t before = 0;
  for (const Value& to : in.d) before |= lanes(w, to);
  if (from == 0 && (before & w.mask) == 0) return;
  std::array<std::uint64_t, 32> bits{};
  std::uint32_t computed = 0;
  const bool ballot =
      shape == Shape::kVote && in.as<program::Vote>().mode == program::VoteMode::kBallot;
  for_each_lane(w.mask, [&](std::uint32_t lane) {
    if (shape == Shape::kShfl && from != 0 && lanes(w, in.s[1]) == 0) {
      const std::uint32_t from_lane = shuffle_source(w, s, lane).lane;
      bits[lane] = this->bits(w, in.s[0], from_lane);
      computed |= (is_computed(w, in.s[0], from_lane) ? 1u : 0u) << lane;
    } else {
      bits[lane] = from == 0 ? 0 : ballot ? from : kAllBits;
    }
  });
  put(w, in.d[0], w.mask, bits, source, computed);
  if (shape != Shape::kShfl) put(w, in.d[1], w.mask, bits, source);
}

namespace {

std::string describe_source(const Warp& w, const UndefinedSource& from, std::uint32_t lane) {
  const std::uint64_t address = from.addresses[lane];
  if (from.space == ptx::StateSpace::kNone)
    return "takes the value of lane " + std::to_string(address) +
           " of the warp, which does not take part";
  std::string text = "read of " + base::counted(from.bytes, "byte") + " at ";
  if (from.space == ptx::StateSpace::kShared)
    return text + describe_shared(w, address) + ", which no thread of the block has written";
  if (from.space == ptx::StateSpace::kLocal)
    return text + "local-memory offset " + std::to_string(address) +
           ", which the thread has not written";
  text += hex(address);
  if (const auto held = w.launch->request->memory->find(address)) text += ", in " + describe(*held);
  return text + ", which nobody has written";
}

/// Which memory it was, so that equal ones of a line are one finding.
std::string name_of(const Warp& w, const UndefinedSource& from, std::uint32_t lane) {
  const std::uint64_t address = from.addresses[lane];
  if (from.space == ptx::StateSpace::kShared) return name_of_shared(w, address);
  if (from.space == ptx::StateSpace::kLocal) return "local memory";
  if (from.space != ptx::StateSpace::kGlobal) return "";
  const auto held = w.launch->request->memory->find(address);
  return held ? std::to_string(held->serial) : "";
}

const char* words_of(Use use) {
  switch (use) {
    case Use::kBranch:
      return "decides a branch";
    case Use::kAddress:
      return "is used as an address";
    case Use::kAtomic:
      return "is given to an atomic";
    case Use::kOutput:
      break;
  }
  return "is written to global memory";
}

const char* advice_of(ptx::StateSpace space) {
  switch (space) {
    case ptx::StateSpace::kNone:
      return "let the lane that is asked take part too: name it in the mask and let it reach the "
             "shuffle, or do not use what comes from it";
    case ptx::StateSpace::kShared:
      return "let every element be written before a __syncthreads(), then read it";
    case ptx::StateSpace::kLocal:
      return "give the variable or array a value where it is declared: int a[8] = {}";
    default:
      return "fill the array first: cudaMemcpy data to it, or clear it with cudaMemset";
  }
}

}  // namespace

const char* kind_of(const UndefinedSource& from) {
  return from.space == ptx::StateSpace::kNone ? "shuffle from a missing lane"
                                              : "uninitialised read";
}

CheckReport describe_use(const Warp& w, const UndefinedSource& from, const Step* at,
                         std::uint32_t lane, Use use) {
  const std::uint32_t origin = from.lane_of(lane);
  CheckReport found{"initcheck",
                    kind_of(from),
                    place_of(w, from.step, origin),
                    from.addresses[origin],
                    from.bytes,
                    1,
                    describe_source(w, from, origin)};
  found.array = name_of(w, from, origin);
  if (from.was_stored) {
    found.place.thread = w.launch->request->block.index(from.threads[origin]);
    found.text += "; it was stored in shared or local memory and read there";
  }
  const Place used = place_of(w, at, lane);
  if (used.line != found.place.line || used.file != found.place.file)
    found.text +=
        "; a value computed from it " + std::string(words_of(use)) + " at " + line_text(used);
  found.advice = advice_of(from.space);
  return found;
}

}  // namespace membound::vgpu::exec
