// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Integer arithmetic: add, sub, mul, mad, div, rem, min, max and the like; with a carry (one bit a
/// lane, kept in the warp) for numbers wider than a register; two 16-bit integers in one register,
/// as DPX intrinsics become; and video instructions on two halfwords or four bytes at once (vadd2 …
/// vset4, without selectors and masks, as CUDA's SIMD intrinsics need them). Source: PTX ISA 9.0,
/// "SIMD Video Instructions".
#include "grader/vgpu/exec/lanes/integer_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Instruction;
using program::Opcode;
using ptx::ScalarType;

template <typename Op, typename T>
constexpr Handler kUnary = &unary<Op, T, T>;
template <typename Op, typename T>
constexpr Handler kBinary = &binary<Op, T, T, T>;
template <typename Op, typename T>
constexpr Handler kTernary = &ternary<Op, T, T, T, T>;

/// Calls `choose` with a value of the C++ type; b-types count as unsigned.
template <typename Choose>
Handler by_type(ScalarType type, Choose choose) {
  switch (type) {
    case ScalarType::kS16:
      return choose(i16{});
    case ScalarType::kU16:
    case ScalarType::kB16:
      return choose(u16{});
    case ScalarType::kS32:
      return choose(i32{});
    case ScalarType::kU32:
    case ScalarType::kB32:
      return choose(u32{});
    case ScalarType::kS64:
      return choose(i64{});
    case ScalarType::kU64:
    case ScalarType::kB64:
      return choose(u64{});
    default:
      return nullptr;
  }
}

Handler multiply(const Instruction& in) {
  return by_type(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    if (in.has(program::kWide)) {
      if constexpr (sizeof(T) < 8) return &binary<MulWide, Wide<T>, T, T>;
      return nullptr;
    }
    return in.has(program::kHi) ? kBinary<MulHi, T> : kBinary<MulLo, T>;
  });
}

Handler multiply_add(const Instruction& in) {
  if (in.has(program::kSat)) {
    return in.has(program::kHi) && in.type == ScalarType::kS32 ? kTernary<MadHiSat, i32> : nullptr;
  }
  return by_type(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    if (in.has(program::kWide)) {
      if constexpr (sizeof(T) < 8) return &ternary<MadWide, Wide<T>, T, T, Wide<T>>;
      return nullptr;
    }
    return in.has(program::kHi) ? kTernary<MadHi, T> : kTernary<MadLo, T>;
  });
}

template <template <bool> typename Op>
Handler multiply24(const Instruction& in, bool three) {
  return by_type(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    if constexpr (sizeof(T) == 4) {
      if constexpr (requires { Op<true>::template run<T>(T{}, T{}, T{}); }) {
        if (three) return in.has(program::kHi) ? kTernary<Op<true>, T> : kTernary<Op<false>, T>;
      } else {
        if (!three) return in.has(program::kHi) ? kBinary<Op<true>, T> : kBinary<Op<false>, T>;
      }
    }
    return nullptr;
  });
}

template <typename Op>
Handler integer_extreme(const Instruction& in) {
  return by_type(in.type, [&](auto t) -> Handler {
    using T = decltype(t);
    return in.has(program::kRelu) ? kBinary<Relu<Op>, T> : kBinary<Op, T>;
  });
}

template <typename Op>
Handler two(const Instruction& in) {
  return by_type(in.type, [](auto t) -> Handler { return kBinary<Op, decltype(t)>; });
}

template <typename Op>
Handler one_signed(const Instruction& in) {
  return by_type(in.type, [](auto t) -> Handler {
    using T = decltype(t);
    if constexpr (std::is_signed_v<T>) return kUnary<Op, T>;
    return nullptr;
  });
}

}  // namespace

Handler select_integer(const Instruction& in) {
  const bool saturate = in.has(program::kSat);
  switch (in.opcode) {
    case Opcode::kAdd:
      if (saturate) return in.type == ScalarType::kS32 ? kBinary<AddSat, i32> : nullptr;
      return two<Add>(in);
    case Opcode::kSub:
      if (saturate) return in.type == ScalarType::kS32 ? kBinary<SubSat, i32> : nullptr;
      return two<Sub>(in);
    case Opcode::kMul:
      return multiply(in);
    case Opcode::kMad:
      return multiply_add(in);
    case Opcode::kMul24:
      return multiply24<Mul24>(in, false);
    case Opcode::kMad24:
      return multiply24<Mad24>(in, true);
    case Opcode::kSad:
      return by_type(in.type, [](auto t) -> Handler { return kTernary<Sad, decltype(t)>; });
    case Opcode::kDiv:
      return two<Div>(in);
    case Opcode::kRem:
      return two<Rem>(in);
    case Opcode::kAbs:
      return one_signed<Abs>(in);
    case Opcode::kNeg:
      return one_signed<Neg>(in);
    case Opcode::kMin:
      return integer_extreme<Min>(in);
    case Opcode::kMax:
      return integer_extreme<Max>(in);
    default:
      return nullptr;
  }
}

namespace {

/// d = x + y + carry in, or x + ~y + carry in: after a subtraction the flag says that nothing was
/// borrowed, as the compiler's 128-bit division expects of an addc. It changes only with .cc.
template <typename T, bool kSubtract>
void add_with_carry(Warp& w, const Step* s, const T* x, const T* y, bool carry_in, bool carry_out) {
  alignas(32) T out[32];
  u32 carries = 0;
  for (int i = 0; i < 32; ++i) {
    const T in = carry_in ? static_cast<T>((w.carry >> i) & 1) : T{kSubtract};
    const T other = kSubtract ? static_cast<T>(~y[i]) : y[i];
    out[i] = x[i] + other + in;
    const bool carry = out[i] < x[i] || (in != 0 && out[i] == x[i]);
    carries |= static_cast<u32>(carry) << i;
  }
  if (carry_out) w.carry = (w.carry & ~w.mask) | (carries & w.mask);
  write_lanes(w, s->d, out);
}

template <typename T, bool kSubtract>
const Step* sum(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const bool carry_in = in.opcode == Opcode::kAddc || in.opcode == Opcode::kSubc;
  add_with_carry<T, kSubtract>(w, s, at<const T>(w, s->a), at<const T>(w, s->b), carry_in,
                               in.has(program::kCarryOut));
  return s + 1;
}

template <typename T, typename Signed>
const Step* product(Warp& w, const Step* s) {
  const Instruction& in = *s->extra->in;
  const T* a = at<const T>(w, s->a);
  const T* b = at<const T>(w, s->b);
  alignas(32) T products[32];
  for (int i = 0; i < 32; ++i) {
    const auto x = static_cast<Signed>(a[i]), y = static_cast<Signed>(b[i]);
    products[i] = in.has(program::kHi) ? static_cast<T>(MulHi::run(x, y)) : a[i] * b[i];
  }
  add_with_carry<T, false>(w, s, products, at<const T>(w, s->c), in.opcode == Opcode::kMadc,
                           in.has(program::kCarryOut));
  return s + 1;
}

}  // namespace

Handler select_carry(const Instruction& in) {
  const bool wide = ptx::size_bytes(in.type) == 8;
  const bool is_signed = in.type == ptx::ScalarType::kS32 || in.type == ptx::ScalarType::kS64;
  switch (in.opcode) {
    case Opcode::kAdd:
    case Opcode::kAddc:
      return wide ? &sum<u64, false> : &sum<u32, false>;
    case Opcode::kSub:
    case Opcode::kSubc:
      return wide ? &sum<u64, true> : &sum<u32, true>;
    case Opcode::kMad:
    case Opcode::kMadc:
      if (wide) return is_signed ? &product<u64, i64> : &product<u64, u64>;
      return is_signed ? &product<u32, i32> : &product<u32, u32>;
    default:
      return nullptr;
  }
}

namespace {

/// Op on the low and on the high halves, as type T.
template <typename Op, typename T>
struct Halves {
  static u32 run(u32 a, u32 b) {
    const u32 low = static_cast<u16>(Op::run(static_cast<T>(a), static_cast<T>(b)));
    const u32 high = static_cast<u16>(Op::run(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return low | high << 16;
  }
};

template <typename Op>
Handler halves(const Instruction& in) {
  const bool relu = in.has(program::kRelu);
  if (in.as<program::Arithmetic>().halves == program::Halves::kUnsigned)
    return &binary<Halves<Op, u16>, u32, u32, u32>;
  return relu ? &binary<Halves<Relu<Op>, i16>, u32, u32, u32>
              : &binary<Halves<Op, i16>, u32, u32, u32>;
}

}  // namespace

Handler select_packed(const Instruction& in) {
  if (in.as<program::Arithmetic>().halves == program::Halves::kNone) return nullptr;
  switch (in.opcode) {
    case Opcode::kAdd:
      return halves<Add>(in);
    case Opcode::kSub:
      return halves<Sub>(in);
    case Opcode::kMin:
      return halves<Min>(in);
    case Opcode::kMax:
      return halves<Max>(in);
    default:
      return nullptr;
  }
}

namespace {

using program::Comparison;

// Parts are extended to 32 bits by their own type; results never leave 18 bits.
struct VideoAdd {
  static i32 run(i32 a, i32 b) { return a + b; }
};
struct VideoSub {
  static i32 run(i32 a, i32 b) { return a - b; }
};
struct VideoAverage {  // halves away from zero
  static i32 run(i32 a, i32 b) { return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1; }
};
struct VideoDifference {
  static i32 run(i32 a, i32 b) { return a < b ? b - a : a - b; }
};
struct VideoMin {
  static i32 run(i32 a, i32 b) { return a < b ? a : b; }
};
struct VideoMax {
  static i32 run(i32 a, i32 b) { return a < b ? b : a; }
};

bool holds(Comparison comparison, i32 a, i32 b) {
  switch (comparison) {
    case Comparison::kEq:
      return a == b;
    case Comparison::kNe:
      return a != b;
    case Comparison::kLt:
      return a < b;
    case Comparison::kLe:
      return a <= b;
    case Comparison::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

template <int kBits>
i32 part_of(u32 word, int index, bool is_signed) {
  const u32 up = word << (32 - kBits * (index + 1));
  return is_signed ? static_cast<i32>(up) >> (32 - kBits) : static_cast<i32>(up >> (32 - kBits));
}

/// Joins the parts' results: side by side, or (.add) summed onto the third operand.
template <int kBits, typename Run>
const Step* each_part(Warp& w, const Step* s, bool saturate, Run run) {
  const program::Video& video = s->extra->in->as<program::Video>();
  const auto* a = at<const u32>(w, s->a);
  const auto* b = at<const u32>(w, s->b);
  const auto* c = at<const u32>(w, s->c);
  const i32 low = video.signed_d ? -(1 << (kBits - 1)) : 0;
  const i32 high = (1 << (video.signed_d ? kBits - 1 : kBits)) - 1;
  alignas(32) u32 out[32];
  for (int i = 0; i < 32; ++i) {
    u32 joined = video.sums ? c[i] : 0;
    for (int part = 0; part < 32 / kBits; ++part) {
      i32 t = run(part_of<kBits>(a[i], part, video.signed_a),
                  part_of<kBits>(b[i], part, video.signed_b));
      if (saturate) t = t < low ? low : t > high ? high : t;
      if (video.sums)
        joined += static_cast<u32>(t);
      else
        joined |= (static_cast<u32>(t) & ((1u << kBits) - 1)) << (kBits * part);
    }
    out[i] = joined;
  }
  write_lanes(w, s->d, out);
  return s + 1;
}

template <typename Op, int kBits>
const Step* arithmetic(Warp& w, const Step* s) {
  return each_part<kBits>(w, s, s->extra->in->has(program::kSat),
                          [](i32 a, i32 b) { return Op::run(a, b); });
}

template <int kBits>
const Step* comparison(Warp& w, const Step* s) {
  const Comparison how = s->extra->in->as<program::Video>().comparison;
  return each_part<kBits>(w, s, false, [how](i32 a, i32 b) { return holds(how, a, b) ? 1 : 0; });
}

}  // namespace

Handler select_video(const Instruction& in) {
  if (in.type != ptx::ScalarType::kB32) return nullptr;
  switch (in.opcode) {
    case Opcode::kVadd2:
      return &arithmetic<VideoAdd, 16>;
    case Opcode::kVsub2:
      return &arithmetic<VideoSub, 16>;
    case Opcode::kVavrg2:
      return &arithmetic<VideoAverage, 16>;
    case Opcode::kVabsdiff2:
      return &arithmetic<VideoDifference, 16>;
    case Opcode::kVmin2:
      return &arithmetic<VideoMin, 16>;
    case Opcode::kVmax2:
      return &arithmetic<VideoMax, 16>;
    case Opcode::kVset2:
      return &comparison<16>;
    case Opcode::kVadd4:
      return &arithmetic<VideoAdd, 8>;
    case Opcode::kVsub4:
      return &arithmetic<VideoSub, 8>;
    case Opcode::kVavrg4:
      return &arithmetic<VideoAverage, 8>;
    case Opcode::kVabsdiff4:
      return &arithmetic<VideoDifference, 8>;
    case Opcode::kVmin4:
      return &arithmetic<VideoMin, 8>;
    case Opcode::kVmax4:
      return &arithmetic<VideoMax, 8>;
    case Opcode::kVset4:
      return &comparison<8>;
    default:
      return nullptr;
  }
}

}  // namespace membound::vgpu::exec::MEMBOUND_ISA
