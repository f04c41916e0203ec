// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The tests every stage of every lab has.
/// Place in the chain: test_registry -> [built_in_tests] -> stage_run.
#pragma once

#include <vector>

#include "grader/harness/lab/lab_test.hpp"

namespace membound::harness {

/// HasTheRightSignature and LaunchesWithinLimits: without them nothing else can run.
[[nodiscard]] std::vector<detail::LabTestEntry> tests_before_the_labs();

/// ReachesItsBar: is not reached when a result was wrong, for then its speed means nothing.
[[nodiscard]] detail::LabTestEntry test_after_the_labs();

}  // namespace membound::harness
