// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether a kernel finds its place where positions have more than 32 bits. A launch over more than
/// 2^32 elements is far too long to run; of it some blocks run alone, on arrays that cost what is
/// touched of them.
/// Place in the chain: stage_far -> [far_blocks] -> parts_run. Left out: times.
///
///   block    b − 2^32 / E         has the elements of block b where a position of 32 bits begins
///   again; blocks   between them         have none, or wrong ones, or fault, where its sign is set
///
/// What tells: a value that is wrong, a block that has no element although each is needed, and two
/// blocks with the same elements. E is what one block has.
#pragma once

#include <string>

#include "grader/harness/measure/bench.hpp"
#include "grader/harness/measure/timed_run.hpp"

namespace membound::harness {

/// What is wrong, with the element or the block, in words; empty: nothing was found, or this
/// launch's blocks cannot be run alone or take long. `request.sampled` is set. A fault is told by
/// the launcher, as in any other run.
[[nodiscard]] std::string find_wrong_place(const BenchParts& parts, const TimingRequest& request,
                                           const ReadyLaunch& student);

}  // namespace membound::harness
