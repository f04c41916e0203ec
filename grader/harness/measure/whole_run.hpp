// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What samples leave open. All blocks of a timed case, run for their results, and every place of
/// the output compared with the lab's own answer:
///
///   blocks   0 … k−1 | k … 2k−1 | …     of the launch, range by range
///   arrays   drawn   | drawn    | …     anew for each, dropped afterwards
///   places   a bit each, for all        in the end exactly those that the case declares
///
/// Where all of them would take too many instructions, ranges of a few blocks run instead, drawn by
/// the seed, as many as may: each has to write its part, and nothing wrong. Where they do not, all
/// run.
///
/// What a kernel has left in variables of its module the next launch finds: so it runs a second
/// time, on other inputs.
///
/// So memory is bounded, whatever the size. Kernels whose blocks may learn from each other, outputs
/// to which all blocks add, and plans run in one range; large plans launch by launch, as if each
/// were alone: where all places are right then, they are, and else nothing is known.
///
/// And whether a kernel finds its place where positions have more than 32 bits. A launch over more
/// than 2^32 elements is far too long to run; of it some blocks run alone:
///
///   block    b − 2^32 / E         has the elements of block b where a position of 32 bits begins
///   again; blocks   between them         have none, or wrong ones, or fault, where its sign is set
///
/// What tells: a value that is wrong, a block that has no element although each is needed, and two
/// blocks with the same elements. E is what one block has.
#pragma once

#include <cstdint>
#include <string>

#include "grader/course/measurement.hpp"
#include "grader/harness/measure/bench.hpp"
#include "grader/harness/measure/timed_run.hpp"

namespace membound::harness {

/// What a whole run may take.
struct WholeLimits {
  /// Warp instructions: about ten seconds for each thousand million. No clock: what comes of a run
  /// is not to depend on the host.
  std::uint64_t instructions = 8'000'000'000;
  /// Of arrays at once; ranges are cut so that they need a quarter of it.
  std::uint64_t bytes = std::uint64_t{1} << 30;
  /// Of blocks that are drawn, where all would take more than `instructions`; 0: none are drawn.
  std::uint64_t drawn_instructions = 0;
};

struct WholeOutcome {
  course::WholeRun run;  ///< of `size` and `is_first_size` the caller knows
  std::string drawn;     ///< which blocks stood for all, in words; empty: all ran
};

/// `request.sampled` is set: arrays are drawn where they are touched.
[[nodiscard]] WholeOutcome run_whole(const BenchParts& parts, const TimingRequest& request,
                                     const ReadyLaunch& student, const WholeLimits& limits);

/// Seconds that a case takes at least, by the operations that any solution does; 0 where it is not
/// bound by them.
[[nodiscard]] double least_seconds(const TimedCase& timed_case);

/// What is wrong, with the element or the block, in words; empty: nothing was found, or this
/// launch's blocks cannot be run alone or take long. `request.sampled` is set. A fault is told by
/// the launcher, as in any other run.
[[nodiscard]] std::string find_wrong_place(const BenchParts& parts, const TimingRequest& request,
                                           const ReadyLaunch& student);

}  // namespace membound::harness
