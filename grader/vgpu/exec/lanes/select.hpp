// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which function executes an instruction. The opcode's row names its family (program::Family);
/// select() and prepare.cpp ask that family's choosers, in two variants (any processor, and AVX2).
/// Null: none knows this form.
#pragma once

#include "grader/base/processor.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

#define MEMBOUND_SELECTORS                                                  \
  [[nodiscard]] Handler select(const program::Instruction& in);             \
  [[nodiscard]] Handler select_integer(const program::Instruction& in);     \
  [[nodiscard]] Handler select_bits(const program::Instruction& in);        \
  [[nodiscard]] Handler select_carry(const program::Instruction& in);       \
  [[nodiscard]] Handler select_float(const program::Instruction& in);       \
  [[nodiscard]] Handler select_rounded(const program::Instruction& in);     \
  [[nodiscard]] Handler select_half(const program::Instruction& in);        \
  [[nodiscard]] Handler select_packed(const program::Instruction& in);      \
  [[nodiscard]] Handler select_small_float(const program::Instruction& in); \
  [[nodiscard]] Handler select_video(const program::Instruction& in);       \
  [[nodiscard]] Handler select_compare(const program::Instruction& in);     \
  [[nodiscard]] Handler select_convert(const program::Instruction& in);     \
  [[nodiscard]] Handler select_move(const program::Instruction& in);        \
  [[nodiscard]] Handler select_global(const program::Instruction& in);      \
  [[nodiscard]] Handler select_shared(const program::Instruction& in);      \
  [[nodiscard]] Handler select_local(const program::Instruction& in);       \
  [[nodiscard]] Handler select_control(const program::Instruction& in);     \
  [[nodiscard]] Handler guarded_handler();

namespace generic {
MEMBOUND_SELECTORS
}
namespace MEMBOUND_NEWER_LANES {
MEMBOUND_SELECTORS
}

/// The families where vector instructions gain nothing exist once.
/// `drawn`: lanes are served in drawn orders (draw_lane_order), where the outcome can depend on it.
[[nodiscard]] Handler select_atomic(const program::Instruction& in, bool drawn);
[[nodiscard]] Handler select_collective(const program::Instruction& in);
[[nodiscard]] Handler select_sync(const program::Instruction& in);
[[nodiscard]] Handler select_async(const program::Instruction& in);
[[nodiscard]] Handler select_bulk(const program::Instruction& in);
[[nodiscard]] Handler select_mbarrier(const program::Instruction& in);
[[nodiscard]] Handler select_call(const program::Instruction& in);
[[nodiscard]] Handler select_stack(const program::Instruction& in);
[[nodiscard]] Handler select_texture(const program::Instruction& in);

/// Notes by which branch the lanes go (Warp::last_branches), then runs the step's inner handler.
[[nodiscard]] Handler noted_branch_handler();
/// Runs the whole step, then lets other warps go first where the block's drawn order says so.
[[nodiscard]] Handler pausing_handler();
/// Lets other warps go first where that says so, then runs the whole step.
[[nodiscard]] Handler waiting_handler();
/// Runs the whole step, then lets other blocks go first where it has changed what they may wait
/// for.
[[nodiscard]] Handler handing_over_handler();
/// The same for work that blocks share out: from the second time on others go first.
[[nodiscard]] Handler ticket_handler();

/// Runs Extra::as_written and counts what the machine code saves, or takes, of it.
[[nodiscard]] Handler issued_access_handler();

}  // namespace membound::vgpu::exec
