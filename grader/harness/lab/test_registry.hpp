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
#include "grader/harness/lab/test_options.hpp"

namespace membound::harness {

/// The tests of this program in the order of the file.
[[nodiscard]] const std::vector<detail::LabTestEntry>& lab_tests();
/// Null if there is no LAB_PROGRAM.
[[nodiscard]] const LabProgram* lab_program();

/// What a stage is tested with, in the order in which it runs: the built-in tests and all lab
/// tests, those of LAB_TEST_AFTER_TIMING after the timed one; with Options::easier_half and
/// Options::quick some of them. All are in one file, on rising lines: GoogleTest 1.12 runs a suite
/// as it was registered, 1.16 sorts it by file and line, and both must give this order. A lab's
/// test keeps its own line where it can.
[[nodiscard]] std::vector<detail::LabTestEntry> tests_in_turn(const Options& options);

/// Registers tests_in_turn() for the stage of `run`, which must outlive them. Returns the hint tag
/// of each test.
std::map<std::string, std::string> register_stage(StageRun& run);

}  // namespace membound::harness
