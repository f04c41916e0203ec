// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Comparison and selection: setp, set, selp, slct, testp. Half precision is in ops_float.cpp.
#include "grader/vgpu/exec/lanes/float_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Combine;
using program::Comparison;
using program::Instruction;
using program::Opcode;
using program::TestMode;
using ptx::ScalarType;

struct Eq {
  template <typename T>
  static bool run(T a, T b) {
    return a == b;
  }
};
struct Ne {  // false for NaN
  template <typename T>
  static bool run(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || a > b;
    else
      return a != b;
  }
};
struct Lt {
  template <typename T>
  static bool run(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <typename T>
  static bool run(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <typename T>
  static bool run(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <typename T>
  static bool run(T a, T b) {
    return a >= b;
  }
};
struct Num {
  template <typename T>
  static bool run(T a, T b) {
    return a == a && b == b;
  }
};
template <typename Op>
struct Negated {
  template <typename T>
  static bool run(T a, T b) {
    return !Op::run(a, b);
  }
};
template <typename Op>
struct Flushed {
  static bool run(float a, float b) { return Op::run(flush(a), flush(b)); }
};

/// d = compare <combine> c, and its opposite in the second destination.
template <typename Op, typename T>
const Step* set_predicates(Warp& w, const Step* s) {
  const std::uint32_t hit = compare_lanes<Op, T>(w, s);
  const Combine combine = s->compare.combine;
  if (combine == Combine::kNone) [[likely]] {
    set_predicate(w, s->d, hit);
    if (s->compare.has_second) set_predicate(w, s->extra->d[1], ~hit);
    return s + 1;
  }
  const std::uint32_t c = predicate(w, s->c);
  const auto join = [&](std::uint32_t value) {
    return combine == Combine::kAnd ? value & c : combine == Combine::kOr ? value | c : value ^ c;
  };
  set_predicate(w, s->d, join(hit));
  if (s->compare.has_second) set_predicate(w, s->extra->d[1], join(~hit));
  return s + 1;
}

/// d = all ones or 1.0 where the comparison holds.
template <typename Op, typename T>
const Step* set_number(Warp& w, const Step* s) {
  std::uint32_t hit = compare_lanes<Op, T>(w, s);
  const Combine combine = s->compare.combine;
  if (combine != Combine::kNone) {
    const std::uint32_t c = predicate(w, s->c);
    hit = combine == Combine::kAnd ? hit & c : combine == Combine::kOr ? hit | c : hit ^ c;
  }
  const std::uint32_t one =
      s->extra->in->type == ScalarType::kF32 ? std::bit_cast<std::uint32_t>(1.0f) : 0xFFFFFFFFu;
  alignas(32) std::uint32_t out[32];
  MEMBOUND_LANES out[i] = (hit >> i) & 1 ? one : 0;
  write_lanes(w, s->d, out);
  return s + 1;
}

template <typename Op, typename T>
Handler pick(const Instruction& in) {
  if constexpr (std::is_same_v<T, float>) {
    if (in.has(program::kFtz))
      return in.opcode == Opcode::kSetp ? &set_predicates<Flushed<Op>, T>
                                        : &set_number<Flushed<Op>, T>;
  }
  return in.opcode == Opcode::kSetp ? &set_predicates<Op, T> : &set_number<Op, T>;
}

template <typename T>
Handler compare(const Instruction& in) {
  const Comparison how = in.as<program::Compare>().comparison;
  switch (how) {
    case Comparison::kEq:
      return pick<Eq, T>(in);
    case Comparison::kNe:
      return pick<Ne, T>(in);
    case Comparison::kLt:
      return pick<Lt, T>(in);
    case Comparison::kLe:
      return pick<Le, T>(in);
    case Comparison::kGt:
      return pick<Gt, T>(in);
    case Comparison::kGe:
      return pick<Ge, T>(in);
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (how) {
      case Comparison::kEqu:
        return pick<Negated<Ne>, T>(in);
      case Comparison::kNeu:
        return pick<Negated<Eq>, T>(in);
      case Comparison::kLtu:
        return pick<Negated<Ge>, T>(in);
      case Comparison::kLeu:
        return pick<Negated<Gt>, T>(in);
      case Comparison::kGtu:
        return pick<Negated<Le>, T>(in);
      case Comparison::kGeu:
        return pick<Negated<Lt>, T>(in);
      case Comparison::kNum:
        return pick<Num, T>(in);
      case Comparison::kNan:
        return pick<Negated<Num>, T>(in);
      default:
        return nullptr;
    }
  } else {
    switch (how) {
      case Comparison::kLo:
        return pick<Lt, T>(in);
      case Comparison::kLs:
        return pick<Le, T>(in);
      case Comparison::kHi:
        return pick<Gt, T>(in);
      case Comparison::kHs:
        return pick<Ge, T>(in);
      default:
        return nullptr;
    }
  }
}

Handler comparison(const Instruction& in) {
  switch (in.opcode == Opcode::kSet ? in.type2 : in.type) {
    case ScalarType::kS16:
      return compare<i16>(in);
    case ScalarType::kU16:
    case ScalarType::kB16:
      return compare<u16>(in);
    case ScalarType::kS32:
      return compare<i32>(in);
    case ScalarType::kU32:
    case ScalarType::kB32:
      return compare<u32>(in);
    case ScalarType::kS64:
      return compare<i64>(in);
    case ScalarType::kU64:
    case ScalarType::kB64:
      return compare<u64>(in);
    case ScalarType::kF32:
      return compare<float>(in);
    case ScalarType::kF64:
      return compare<double>(in);
    default:
      return nullptr;
  }
}

template <typename Word>
const Step* select_by_predicate(Warp& w, const Step* s) {
  const std::uint32_t p = predicate(w, s->c);
  const auto* a = at<const Word>(w, s->a);
  const auto* b = at<const Word>(w, s->b);
  alignas(32) Word out[32];
  MEMBOUND_LANES out[i] = p & (1u << i) ? a[i] : b[i];
  write_lanes(w, s->d, out);
  return s + 1;
}

struct Slct {
  template <typename T, typename C>
  static T run(T a, T b, C c) {
    return c >= 0 ? a : b;
  }
};

struct SlctFlushed {
  template <typename T>
  static T run(T a, T b, float c) {
    return flush(c) >= 0 ? a : b;
  }
};

Handler choose_by_sign(const Instruction& in) {
  const bool wide = ptx::size_bytes(in.type) == 8;
  if (in.type2 == ScalarType::kF32 && in.has(program::kFtz))
    return wide ? &ternary<SlctFlushed, u64, u64, u64, float>
                : &ternary<SlctFlushed, u32, u32, u32, float>;
  if (in.type2 == ScalarType::kF32)
    return wide ? &ternary<Slct, u64, u64, u64, float> : &ternary<Slct, u32, u32, u32, float>;
  return wide ? &ternary<Slct, u64, u64, u64, i32> : &ternary<Slct, u32, u32, u32, i32>;
}

template <typename F>
const Step* test_property(Warp& w, const Step* s) {
  const auto* a = at<const F>(w, s->a);
  const TestMode mode = s->extra->in->as<program::Property>().mode;
  std::uint32_t hit = 0;
  for (int i = 0; i < 32; ++i) {
    const int kind = std::fpclassify(a[i]);
    bool holds = false;
    switch (mode) {
      case TestMode::kFinite:
        holds = kind != FP_INFINITE && kind != FP_NAN;
        break;
      case TestMode::kInfinite:
        holds = kind == FP_INFINITE;
        break;
      case TestMode::kNumber:
        holds = kind != FP_NAN;
        break;
      case TestMode::kNotANumber:
        holds = kind == FP_NAN;
        break;
      case TestMode::kNormal:
        holds = kind == FP_NORMAL || kind == FP_ZERO;  // so does an H200
        break;
      case TestMode::kSubnormal:
        holds = kind == FP_SUBNORMAL;
        break;
    }
    hit |= static_cast<std::uint32_t>(holds) << i;
  }
  set_predicate(w, s->d, hit);
  return s + 1;
}

const Step* select_predicate(Warp& w, const Step* s) {
  const std::uint32_t p = predicate(w, s->c);
  set_predicate(w, s->d, (predicate(w, s->a) & p) | (predicate(w, s->b) & ~p));
  return s + 1;
}

}  // namespace

Handler select_compare(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kSetp:
    case Opcode::kSet:
      return comparison(in);
    case Opcode::kSelp:
      if (in.type == ScalarType::kPred) return &select_predicate;
      return ptx::size_bytes(in.type) == 8 ? &select_by_predicate<u64> : &select_by_predicate<u32>;
    case Opcode::kSlct:
      return choose_by_sign(in);
    case Opcode::kTestp:
      if (in.type == ScalarType::kF64) return &test_property<double>;
      return in.type == ScalarType::kF32 ? &test_property<float> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
