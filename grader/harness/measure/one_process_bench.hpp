// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A student's check: student and reference run in this process and use the same inputs and the
/// same output buffer, so that addresses are no difference between them.
/// Place in the chain: bench -> [one_process_bench] -> timed_run.
#pragma once

#include <memory>

#include "grader/harness/measure/bench.hpp"

namespace membound::harness {

[[nodiscard]] std::unique_ptr<Bench> make_one_process_bench(const BenchParts& parts);

}  // namespace membound::harness
