// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What LAB_TEST and LAB_PROGRAM collected before main(), and its registration with GoogleTest.
/// Place in the chain: lab_test's macros -> [test_registry] -> main, stage_recorder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/harness/lab/lab_test.hpp"
#include "grader/harness/lab/stage_run.hpp"

namespace membound::harness {

/// The tests of this program in the order of the file.
[[nodiscard]] const std::vector<detail::LabTestEntry>& lab_tests();
/// Null if there is no LAB_PROGRAM.
[[nodiscard]] const LabProgram* lab_program();

/// Registers the built-in tests and all lab tests for the stage of `run`, which must outlive them;
/// with Options::easier_half some of them. Returns the hint tag of each test.
std::map<std::string, std::string> register_stage(StageRun& run);

}  // namespace membound::harness
