// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a page's pictures need beyond a verdict: the memory accesses of one warp of each timed
/// kernel. They come from a start of the test program of their own, after everything that decides
/// has been measured, so that whoever asks for a page gets the verdict of whoever does not.
/// Place in the chain: judge -> [access_traces] -> test_program; counters_profile reads them.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/course/measurement.hpp"
#include "grader/judge/test_program.hpp"

namespace membound::judge {

/// Copies the traces of the kernels in `traced` to the same kernels in `counters`; both are
/// counters of a stage (course::StageMeasurement::counters). Sizes may differ, and the labels of
/// cases with them: the same is the kernel of that name which comes as often before it in the case
/// of that number.
void put_traces(const nlohmann::json& traced, nlohmann::json& counters);

/// Runs what was timed of the stages once more as `run` says, with a trace, on all blocks of the
/// smallest timed size, and adds what it shows to the stages' counters. Nothing else changes; a run
/// that fails adds nothing.
void add_traces(const RunRequest& run, std::vector<course::StageMeasurement>& measurements);

}  // namespace membound::judge
