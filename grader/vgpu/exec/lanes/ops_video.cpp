// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Video instructions on two halfwords or four bytes at once: vadd2 … vset4, without selectors and
/// masks, as CUDA's SIMD intrinsics need them.
/// Source: PTX ISA 9.0, "SIMD Video Instructions".
#include "grader/vgpu/exec/lanes/lane_math.hpp"
#include "grader/vgpu/exec/lanes/select.hpp"
#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec::MEMBOUND_ISA {
namespace {

using program::Comparison;
using program::Instruction;
using program::Opcode;

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
