// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graded run on a virtual GPU with the reference's times known: only the student's kernels run,
/// and their output is held against the lab's own answer, computed here.
/// Place in the chain: bench -> [known_times_bench] -> timed_run.
#pragma once

#include <memory>

#include "grader/harness/measure/bench.hpp"

namespace membound::harness {

[[nodiscard]] std::unique_ptr<Bench> make_known_times_bench(const BenchParts& parts,
                                                            const ReferenceTimes& known);

}  // namespace membound::harness
