// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 03: the tests of the whole program, easiest first; the calls of the last one's run are those
/// that lab.json's demands are held against. Nothing is computed, so all comparisons are exact.
#include <vector>

#include "grader/harness/program/program_test.hpp"
#include "labs/03-transpose/reference.hpp"

using namespace membound::harness;

namespace {

testing::AssertionResult transposes(ProgramTest& test, std::int64_t rows, std::int64_t cols) {
  test.give("extents", std::vector<int>{static_cast<int>(rows), static_cast<int>(cols)});
  const auto in = test.give_integers<float>("in", static_cast<std::size_t>(rows * cols), 10000,
                                            99999, test.seed(1));
  return test.expect("out", membound::labs::transpose::transposed(in, rows, cols),
                     {{cols, rows}, {"row", "column"}});
}

}  // namespace

const std::vector<HostTest> membound::harness::kTests = {
    {"HandsInOneElement", "program-one-element",
     [](ProgramTest& test) { return transposes(test, 1, 1); }},
    {"HandsInWholeTiles", "program-tiles",
     [](ProgramTest& test) { return transposes(test, 64, 64); }},
    {"HandsInMoreColumnsThanRows", "program-rows-and-columns",
     [](ProgramTest& test) { return transposes(test, 32, 160); }},
    {"HandsInNothing", "program-nothing", [](ProgramTest& test) { return transposes(test, 0, 5); }},
    {"HandsInPrimes", "program-edges",
     [](ProgramTest& test) { return transposes(test, 131, 67); }}};

// What is learned are the calls; how fast the kernel is, the stages before have told.
const HostTest membound::harness::kTimedTest = {"", "", nullptr};
