// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/undefined_bits.hpp"

#include <algorithm>

#include "grader/vgpu/exec/state/lanes.hpp"

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

}  // namespace membound::vgpu::exec
