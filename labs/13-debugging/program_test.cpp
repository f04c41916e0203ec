// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 13: the tests of the whole program, easiest first; the calls of the last one's run are those
/// that lab.json's demands are held against.
#include "grader/harness/program/program_test.hpp"
#include "labs/13-debugging/reference.hpp"

using namespace membound::harness;

namespace {

testing::AssertionResult squares(ProgramTest& test, std::int64_t n) {
  const auto a =
      test.give_integers<int>("a", static_cast<std::size_t>(n), -9999, 9999, test.seed(1));
  return test.expect("out", membound::labs::debugging::results(test.stage(), a),
                     {{n}, {"element"}});
}

}  // namespace

const std::vector<HostTest> membound::harness::kTests = {
    {"SquaresOneElement", "program-first", [](ProgramTest& test) { return squares(test, 1); }},
    {"SquaresNothing", "program-empty", [](ProgramTest& test) { return squares(test, 0); }},
    {"SquaresOneMoreThanABlock", "program-blocks",
     [](ProgramTest& test) { return squares(test, 257); }},
    {"SquaresAHundredThousand", "program-blocks",
     [](ProgramTest& test) { return squares(test, 100003); }}};

// What is learned are the calls and their errors.
const HostTest membound::harness::kTimedTest = {"", "", nullptr};
