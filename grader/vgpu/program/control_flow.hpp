// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Basic blocks of a function, where diverged lanes meet again, which loops can wait for another
/// thread, and what may run after what. A call is an instruction like others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Instructions [begin, end) with one way in and at most a few ways out.
struct BasicBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors;  ///< block numbers
};

/// Where a branch of either kind may go, besides on.
[[nodiscard]] std::span<const std::uint32_t> targets_of(const Function& function,
                                                        const Instruction& in);

/// Where branches go to, by instruction; one entry more than there are.
[[nodiscard]] std::vector<bool> branch_targets(const Function& function);

/// The function's blocks in code order.
[[nodiscard]] std::vector<BasicBlock> basic_blocks(const Function& function);

/// Immediate post-dominator of every block; blocks.size() stands for the function's end.
[[nodiscard]] std::vector<std::uint32_t> post_dominators(std::span<const BasicBlock> blocks);

/// First and last source line of the innermost loop around instruction `at`; nothing where there is
/// none, or no lines are known.
[[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> loop_around(
    const Function& function, std::uint32_t at);

/// Fills Instruction::meeting of branches and the loop flags of backward ones.
void annotate_branches(Function& function);

/// True of an instruction that a path does not go beyond.
using PathEnd = std::function<bool(const Instruction&)>;

/// By instruction: may it run after instruction `from`? That one itself only where a loop leads
/// back to it. A path ends at the first instruction for which `ends` holds, which it still reaches.
[[nodiscard]] std::vector<bool> reached_from(const Function& function, std::uint32_t from,
                                             const PathEnd& ends = nullptr);

}  // namespace membound::vgpu::program
