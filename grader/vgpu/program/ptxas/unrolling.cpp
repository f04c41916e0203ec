// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Loop unrolling: see mark_unrolled.
#include <algorithm>
#include <span>
#include <vector>

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/opcode_table.hpp"
#include "grader/vgpu/program/ptxas/passes.hpp"

namespace membound::vgpu::program {
namespace {

/// Longer bodies stay as they are; where ptxas draws the line is not known.
constexpr std::size_t kLongestBody = 64;

/// Loads that ptxas has in flight at once where it repeats a body: of sums of 1 to 24 words a
/// iteration, those of 4 wait once in four iterations, those of 5 to 8 twice, those of 9 and more
/// each time or nearly so (nvcc 13.0, sm_90, nvdisasm).
constexpr std::ptrdiff_t kLoadsInFlight = 16;

bool is_same_register(const Value& a, const Value& b) {
  return a.kind == ValueKind::kRegister && b.kind == ValueKind::kRegister && a.index == b.index;
}

bool is_load(const Instruction& in) {
  return shape_of(in) == Shape::kLoad && !in.has(kParamMemory);
}

bool forbids_unrolling(const Instruction& in) {
  const Cost cost = info_of(in.opcode).cost;
  return in.has(kNoUnroll) || shape_of(in) == Shape::kCall || cost == Cost::kBarrier ||
         cost == Cost::kFenceDevice;
}

bool changes_memory(const Instruction& in) {
  const Shape shape = shape_of(in);
  return shape == Shape::kAtom || shape == Shape::kRed || shape == Shape::kCpAsync ||
         (shape == Shape::kStore && !in.has(kParamMemory));
}

/// A loop whose whole body is one basic block. It may leave by its last branch; then the jump back
/// stands alone after it, and ptxas makes one branch of the two.
class Body {
 public:
  Body(Function& function, const BasicBlock& block)
      : back_(jump_behind(function, block)),
        code_(std::span(function.code).subspan(block.begin, block.end - block.begin)),
        begin_(block.begin) {}

  [[nodiscard]] bool is_loop() const {
    const Instruction& last = code_.back();
    if (last.opcode != Opcode::kBra || last.guard.kind != ValueKind::kPredicate) return false;
    return (back_ != nullptr || last.as<Branch>().target == begin_) &&
           code_.size() <= kLongestBody &&
           std::none_of(code_.begin(), code_.end(), forbids_unrolling);
  }

  /// Marks counter, comparison and branch; false where the loop does not count by a constant.
  bool mark_control() {
    for (Instruction& in : code_)
      if (in.opcode == Opcode::kSetp && in.d[0].kind == ValueKind::kPredicate &&
          in.d[0].index == code_.back().guard.index)
        compares_ = &in;
    if (compares_ == nullptr) return false;
    for (Instruction& in : code_) {
      if (!counts(in) || !std::any_of(compares_->s.begin(), compares_->s.end(),
                                      [&](const Value& s) { return is_same_register(s, in.d[0]); }))
        continue;
      for (Instruction* part : {&in, compares_, &code_.back()}) part->flags |= kUnrolled;
      if (back_ != nullptr) back_->flags |= kUnrolled;
      return true;
    }
    return false;
  }

  void mark_loads(std::size_t registers) {
    if (std::any_of(code_.begin(), code_.end(), changes_memory)) return;
    const auto loads = std::count_if(code_.begin(), code_.end(), is_load);
    std::uint8_t together = kUnrollFactor;
    while (together > 1 && loads * together > kLoadsInFlight) together /= 2;
    if (loads >= kUnrollFactor && nvcc_repeated_it()) return;
    std::vector<bool> loaded(registers, false);
    const std::vector<bool> first = addresses_from_loads(loaded);
    if (addresses_from_loads(loaded) != first)
      return;  // an iteration needs what the last one loaded
    for (Instruction& in : code_)
      if (is_load(in)) in.iterations_together = together;
  }

  void join_branches() {
    if (back_ != nullptr) back_->fused = true;
  }

 private:
  static Instruction* jump_behind(Function& function, const BasicBlock& block) {
    if (block.end >= function.code.size()) return nullptr;
    const Instruction& last = function.code[block.end - 1];
    Instruction& next = function.code[block.end];
    const bool leaves = last.opcode == Opcode::kBra && last.guard;
    const bool returns =
        next.opcode == Opcode::kBra && !next.guard && next.as<Branch>().target == block.begin;
    return leaves && returns ? &next : nullptr;
  }
  /// nvcc counts the iterations of a body that it has repeated down to 0.
  [[nodiscard]] bool nvcc_repeated_it() const {
    return compares_->as<Compare>().comparison == Comparison::kNe;
  }
  static bool counts(const Instruction& in) {
    if (in.opcode != Opcode::kAdd && in.opcode != Opcode::kSub) return false;
    return is_same_register(in.d[0], in.s[0]) && in.s[1].kind == ValueKind::kConstant;
  }

  /// By instruction: is it a load from where an earlier load says? `loaded` is what holds values
  /// that come from loads, and goes on from iteration to iteration.
  [[nodiscard]] std::vector<bool> addresses_from_loads(std::vector<bool>& loaded) const {
    std::vector<bool> found;
    for (const Instruction& in : code_) {
      bool depends = false;
      for (const Value& value : in.s)
        depends = depends || (value.kind == ValueKind::kRegister && loaded[value.index]);
      found.push_back(is_load(in) && depends);
      for (const Value& value : in.d)
        if (value.kind == ValueKind::kRegister) loaded[value.index] = depends || is_load(in);
    }
    return found;
  }

  Instruction* back_;                ///< null: the last branch goes back itself
  Instruction* compares_ = nullptr;  ///< what the last branch goes by
  std::span<Instruction> code_;
  std::uint32_t begin_;
};

}  // namespace

void mark_unrolled(Function& function, RegisterSizes sizes) {
  for (const BasicBlock& block : basic_blocks(function)) {
    Body body(function, block);
    body.join_branches();
    if (body.is_loop() && body.mark_control()) body.mark_loads(sizes.size());
  }
}

}  // namespace membound::vgpu::program
