// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bulk copies of a block that have been read and not yet written: each lands where its mbarrier is
/// waited on.
/// Place in the chain: ops_bulk, ops_mbarrier -> [bulk_copies] ->
/// mbarrier.
#pragma once

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Lands those that `barrier` is waited on for.
void land_bulk_copies(Warp& w, std::uint64_t barrier);

/// As for the copies of a warp: what nobody waits for is kept in memory of ours.
void limit_bulk_copies(Warp& w);

}  // namespace membound::vgpu::exec
