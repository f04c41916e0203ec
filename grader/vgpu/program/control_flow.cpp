// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/control_flow.hpp"

#include <algorithm>

#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::program {
namespace {

bool ends_block(const Instruction& in) {
  const Shape shape = shape_of(in);
  return shape == Shape::kBra || shape == Shape::kBrx || shape == Shape::kEnd;
}

bool falls_through(const Instruction& in) {
  return !ends_block(in) || (shape_of(in) == Shape::kBra && in.guard);
}

/// Reads something another thread may have written?
bool can_observe(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kLd:
      return in.space != ptx::StateSpace::kLocal && in.space != ptx::StateSpace::kConst &&
             !in.has(kNonCoherent);
    case Opcode::kCall:
      return true;
    default:
      return false;
  }
}

/// Surely written in order to wait?
bool polls(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::kLd:
      return in.order != Order::kWeak;
    case Opcode::kAtom:
      return !in.has(kResultUnused);
    case Opcode::kMbarrier:
    case Opcode::kNanosleep:
      return true;
    default:
      return false;
  }
}

bool falls_on(const Instruction& in) {
  const Shape shape = shape_of(in);
  const bool leaves = shape == Shape::kBra || shape == Shape::kBrx || shape == Shape::kEnd;
  return !leaves || static_cast<bool>(in.guard);
}

}  // namespace

std::span<const std::uint32_t> targets_of(const Function& function, const Instruction& in) {
  if (const auto* branch = std::get_if<Branch>(&in.detail)) return {&branch->target, 1};
  if (const auto* list = std::get_if<BranchList>(&in.detail))
    return function.branch_lists[list->list];
  return {};
}

std::vector<bool> branch_targets(const Function& function) {
  std::vector<bool> targets(function.code.size() + 1, false);
  for (const Instruction& in : function.code)
    for (const std::uint32_t target : targets_of(function, in))
      if (target < targets.size()) targets[target] = true;
  return targets;
}

std::vector<BasicBlock> basic_blocks(const Function& function) {
  const auto& code = function.code;
  const auto size = static_cast<std::uint32_t>(code.size());
  std::vector<bool> leader(size + 1, false);
  leader[0] = true;
  for (std::uint32_t i = 0; i < size; ++i) {
    if (!ends_block(code[i])) continue;
    leader[i + 1] = true;
    for (const std::uint32_t target : targets_of(function, code[i])) leader[target] = true;
  }
  std::vector<BasicBlock> blocks;
  std::vector<std::uint32_t> block_of(size + 1, 0);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (leader[i]) blocks.push_back({i, i, {}});
    blocks.back().end = i + 1;
    block_of[i] = static_cast<std::uint32_t>(blocks.size() - 1);
  }
  for (BasicBlock& block : blocks) {
    const Instruction& last = code[block.end - 1];
    for (const std::uint32_t target : targets_of(function, last))
      block.successors.push_back(block_of[target]);
    if (falls_through(last) && block.end < size) block.successors.push_back(block_of[block.end]);
  }
  return blocks;
}

std::vector<std::uint32_t> post_dominators(std::span<const BasicBlock> blocks) {
  // The iterative scheme of Cooper, Harvey and Kennedy on the reversed graph.
  const auto end = static_cast<std::uint32_t>(blocks.size());
  std::vector<std::uint32_t> order, number(end + 1, 0);  // reverse graph, post-order from the end
  std::vector<std::vector<std::uint32_t>> predecessors(end + 1);
  for (std::uint32_t b = 0; b < end; ++b) {
    for (const std::uint32_t successor : blocks[b].successors) predecessors[successor].push_back(b);
    if (blocks[b].successors.empty()) predecessors[end].push_back(b);
  }
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end, 0}};
  std::vector<bool> seen(end + 1, false);
  seen[end] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < predecessors[block].size()) {
      const std::uint32_t predecessor = predecessors[block][next++];
      if (!seen[predecessor]) {
        seen[predecessor] = true;
        stack.push_back({predecessor, 0});
      }
    } else {
      number[block] = static_cast<std::uint32_t>(order.size());
      order.push_back(block);
      stack.pop_back();
    }
  }
  constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;
  std::vector<std::uint32_t> dominator(end + 1, kUnknown);
  dominator[end] = end;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = dominator[a];
      while (number[b] < number[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == end) continue;
      std::uint32_t best = kUnknown;
      const auto consider = [&](std::uint32_t successor) {
        if (dominator[successor] == kUnknown) return;
        best = best == kUnknown ? successor : meet(successor, best);
      };
      for (const std::uint32_t successor : blocks[*it].successors) consider(successor);
      if (blocks[*it].successors.empty()) consider(end);
      if (best != kUnknown && dominator[*it] != best) {
        dominator[*it] = best;
        changed = true;
      }
    }
  }
  for (std::uint32_t& d : dominator) {
    if (d == kUnknown) d = end;  // an endless loop: no way to the end
  }
  dominator.pop_back();
  return dominator;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> loop_around(const Function& function,
                                                                   std::uint32_t at) {
  std::uint32_t begin = 0, end = kNoTarget;  // the shortest way back over `at`
  for (auto i = at; i < function.code.size(); ++i) {
    if (!function.code[i].has(kBackward)) continue;
    for (const std::uint32_t target : targets_of(function, function.code[i])) {
      if (target <= at && (end == kNoTarget || i - target < end - begin)) begin = target, end = i;
    }
  }
  if (end == kNoTarget) return std::nullopt;
  const SourceLine own = function.lines[end];
  std::pair lines(own.line, own.line);
  for (std::uint32_t i = begin; i <= end; ++i) {
    const SourceLine& line = function.lines[i];
    if (line.line == 0 || line.file != own.file) continue;
    lines = {std::min(lines.first, line.line), std::max(lines.second, line.line)};
  }
  if (own.line == 0) return std::nullopt;
  return lines;
}

void annotate_branches(Function& function) {
  const std::vector<BasicBlock> blocks = basic_blocks(function);
  const std::vector<std::uint32_t> meeting = post_dominators(blocks);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::uint32_t at = blocks[b].end - 1;
    Instruction& last = function.code[at];
    const auto targets = targets_of(function, last);
    if (targets.empty()) continue;
    if (auto* branch = std::get_if<Branch>(&last.detail); branch && meeting[b] < blocks.size())
      branch->meeting = blocks[meeting[b]].begin;
    const std::uint32_t target = *std::min_element(targets.begin(), targets.end());
    if (target > at) continue;
    last.flags |= kBackward;
    for (std::uint32_t i = target; i <= at; ++i) {
      if (polls(function.code[i])) last.flags |= kPollLoop;
      if (can_observe(function.code[i])) last.flags |= kSpinLoop;
    }
  }
}

std::vector<bool> reached_from(const Function& function, std::uint32_t from, const PathEnd& ends) {
  const auto& code = function.code;
  std::vector<bool> reached(code.size(), false);
  std::vector<std::uint32_t> open;
  const auto follow = [&](std::uint32_t at) {
    const auto reach = [&](std::uint32_t next) {
      if (next >= code.size() || reached[next]) return;
      reached[next] = true;
      if (!ends || !ends(code[next])) open.push_back(next);
    };
    for (const std::uint32_t target : targets_of(function, code[at])) reach(target);
    if (falls_on(code[at])) reach(at + 1);
  };
  follow(from);
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    follow(at);
  }
  return reached;
}

}  // namespace membound::vgpu::program
