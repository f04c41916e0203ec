// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A graded run: student and reference each have a runner, a device and buffers of their own: the
/// reference's output is never where the student's code runs. Outputs are held against each other
/// by fingerprints whose key is drawn after the launch.
/// Place in the chain: bench -> [sandbox_bench] -> timed_run.
#pragma once

#include <memory>

#include "grader/harness/measure/bench.hpp"

namespace membound::harness {

[[nodiscard]] std::unique_ptr<Bench> make_sandbox_bench(const BenchParts& parts);

}  // namespace membound::harness
