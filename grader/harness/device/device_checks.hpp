// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Do the virtual GPU's checkers look on, and what follows from it for memory and measurements.
/// Place in the chain: guarded_memory, stage_run -> [device_checks] -> MEMBOUND_CHECK, the virtual
/// GPU's own functions. Left out: the checkers, which are the virtual GPU's.
#pragma once

#include <cstddef>

namespace membound::harness {

/// Has the judge asked for the virtual GPU's checkers?
[[nodiscard]] bool device_checks();
/// Has it asked for checkers or a trace, which look on at all blocks of a launch?
[[nodiscard]] bool all_are_watched();

/// Device memory that was filled with a pattern counts as never written, so that a checker sees who
/// reads it. Does nothing without checkers.
void forget_writes(const void* d_begin, std::size_t bytes);

}  // namespace membound::harness
