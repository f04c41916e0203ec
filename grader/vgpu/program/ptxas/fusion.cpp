// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Instructions that become part of others: see mark_fused.
#include <algorithm>
#include <vector>

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/ptxas/passes.hpp"

namespace membound::vgpu::program {
namespace {

constexpr std::uint32_t kNowhere = 0xFFFFFFFFu;

bool is_register(const Value& value) { return value.kind == ValueKind::kRegister; }

bool is_sum(const Instruction& in) {
  return (in.opcode == Opcode::kAdd || in.opcode == Opcode::kSub) && !in.has(kCarryOut | kSat) &&
         in.as<Arithmetic>().halves == Halves::kNone;
}

bool is_logic(const Instruction& in) {
  return in.opcode == Opcode::kAnd || in.opcode == Opcode::kOr || in.opcode == Opcode::kXor ||
         in.opcode == Opcode::kNot;
}

bool is_word(const Instruction& in) {
  return !ptx::is_float(in.type) && ptx::size_bytes(in.type) == 4;
}

/// float and double arithmetic that takes its operands with either sign.
bool takes_signs(const Instruction& in) {
  if (!ptx::is_float(in.type)) return false;
  switch (in.opcode) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kFma:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kSetp:
      return true;
    default:
      return false;
  }
}

/// Can `user` be a product and a sum in one, with `product`?
bool contracts(const Instruction& product, const Instruction& user) {
  return product.opcode == Opcode::kMul && is_sum(user) && ptx::is_float(user.type) &&
         product.type == user.type && !product.has(kSat) && product.has(kFtz) == user.has(kFtz) &&
         product.rounding == Rounding::kNone && user.rounding == Rounding::kNone;
}

/// One instruction of three words instead of two of two.
bool joins_words(const Instruction& first, const Instruction& user) {
  if (!is_word(first) || !is_word(user)) return false;
  if (is_sum(user)) {
    const bool shifts = first.opcode == Opcode::kShl && first.s[1].kind == ValueKind::kConstant;
    return shifts || is_sum(first);
  }
  return is_logic(user) && is_logic(first);
}

bool is_wide_product(const Instruction& in) {
  return in.opcode == Opcode::kMul && in.has(kWide) && ptx::size_bytes(in.type) == 4;
}

class Fusion {
 public:
  Fusion(Function& function, std::size_t registers)
      : function_(function), uses_(registers, 0), sums_(registers, 0), made_at_(registers) {
    for (const Instruction& in : function.code) {
      const bool wide_sum = is_sum(in) && !ptx::is_float(in.type) && ptx::size_bytes(in.type) == 8;
      for (const Value& value : in.s) {
        if (!is_register(value)) continue;
        ++uses_[value.index];
        sums_[value.index] += wide_sum;
      }
    }
  }

  void mark(const BasicBlock& block) {
    std::fill(made_at_.begin(), made_at_.end(), kNowhere);
    std::vector<bool> full(block.end - block.begin, false);  // has taken up another one
    for (std::uint32_t i = block.begin; i < block.end; ++i) {
      Instruction& user = function_.code[i];
      for (const Value& value : user.s) {
        if (!is_register(value) || made_at_[value.index] == kNowhere) continue;
        const std::uint32_t at = made_at_[value.index];
        Instruction& first = function_.code[at];
        if (first.guard || user.guard || first.fused || uses_[value.index] != 1) continue;
        if ((first.opcode == Opcode::kNeg || first.opcode == Opcode::kAbs) && takes_signs(user) &&
            first.type == user.type) {
          first.fused = true;
        } else if (!full[i - block.begin] && !full[at - block.begin] &&
                   (contracts(first, user) || joins_words(first, user))) {
          first.fused = true;
          full[i - block.begin] = true;
        }
      }
      // A sum of 64 bits takes as long as the product and sum that it becomes.
      for (const Value& value : user.d) {
        if (!is_register(value)) continue;
        made_at_[value.index] = i;
        if (is_wide_product(user) && uses_[value.index] != 0 &&
            uses_[value.index] == sums_[value.index])
          user.fused = true;
      }
    }
  }

 private:
  Function& function_;
  std::vector<std::uint32_t> uses_, sums_;  ///< by register; sums: of these, by sums of 64 bits
  std::vector<std::uint32_t> made_at_;      ///< by register: where in this block
};

}  // namespace

void mark_fused(Function& function, RegisterSizes sizes) {
  Fusion fusion(function, sizes.size());
  for (const BasicBlock& block : basic_blocks(function)) fusion.mark(block);
}

}  // namespace membound::vgpu::program
