// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Branches where somebody asks later by which one a lane went last.
/// Place in the chain: launch/prepare -> [noted_branch] -> ops_control; exec/observe/early_returns
/// asks.
#include <algorithm>
#include <bit>

#include "grader/vgpu/exec/lanes/select.hpp"

namespace membound::vgpu::exec {
namespace {

const Step* noted_branch(Warp& w, const Step* s) {
  if (w.mask == 0xFFFFFFFFu) {
    std::ranges::fill(w.last_branches, s);
  } else {
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1)
      w.last_branches[static_cast<std::size_t>(std::countr_zero(rest))] = s;
  }
  return s->extra->inner(w, s);
}

}  // namespace

Handler noted_branch_handler() { return &noted_branch; }

}  // namespace membound::vgpu::exec
