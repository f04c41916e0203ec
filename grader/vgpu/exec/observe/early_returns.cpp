// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/observe/early_returns.hpp"

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/paths.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::exec {

using program::Instruction;
using program::Shape;

/// Its place in the kernel; nothing in another function.
std::optional<std::uint32_t> EarlyReturns::index_of(const Step* step) const {
  const FunctionCode& kernel = launch_.code.front();
  const std::ptrdiff_t index = step - kernel.begin;
  if (index < 0 || index >= static_cast<std::ptrdiff_t>(kernel.function->code.size()))
    return std::nullopt;
  return static_cast<std::uint32_t>(index);
}

const std::vector<bool>& EarlyReturns::after(std::uint32_t at) {
  const auto known = after_.find(at);
  if (known != after_.end()) return known->second;
  return after_[at] = program::reached_from(*launch_.code.front().function, at);
}

/// The way from `begin` to `end` without a branch of two ways: does none of its instructions come
/// behind the barrier, too? Nothing: there is no such way round the barrier.
std::optional<bool> EarlyReturns::is_clean(std::uint32_t begin, std::uint32_t end,
                                           std::uint32_t barrier) {
  const program::Function& kernel = *launch_.code.front().function;
  const std::vector<bool>& behind = after(barrier);
  bool clean = true;
  std::uint32_t at = begin;
  for (std::size_t steps = 0; steps < kernel.code.size() && at < kernel.code.size(); ++steps) {
    if (at == end) return clean;
    if (at == barrier) return std::nullopt;
    const Instruction& in = kernel.code[at];
    const Shape shape = program::shape_of(in);
    if (shape == Shape::kBra || shape == Shape::kBrx) {
      if (in.guard || shape == Shape::kBrx) return std::nullopt;
      at = program::targets_of(kernel, in).front();
      continue;
    }
    if (shape == Shape::kEnd && !in.guard) return std::nullopt;
    clean = clean && (!behind[at] || in.has(program::kHidden));
    ++at;
  }
  return std::nullopt;
}

bool EarlyReturns::returned_before(const Step* barrier, const EndedLanes& ended) {
  const auto wait = index_of(barrier), end = index_of(ended.at);
  if (!wait || !end) return false;
  const program::Function& kernel = *launch_.code.front().function;
  // An exit under a condition of its own: others go on from there.
  if (kernel.code[*end].guard) return after(*end)[*wait];
  if (ended.last_branch == nullptr) return is_clean(0, *end, *wait).value_or(false);
  const auto branch = index_of(ended.last_branch);
  if (!branch || (!after(*branch)[*wait] && after(*wait)[*branch])) return false;
  // A loop that ends sooner for some is no return, though nothing stands behind it.
  if (kernel.code[*branch].has(program::kBackward)) return false;
  std::optional<bool> clean;
  const auto look = [&](std::uint32_t begin) {
    if (const auto side = is_clean(begin, *end, *wait)) clean = clean.value_or(true) && *side;
  };
  for (const std::uint32_t target : program::targets_of(kernel, kernel.code[*branch])) look(target);
  look(*branch + 1);
  return clean.value_or(false);
}

}  // namespace membound::vgpu::exec
