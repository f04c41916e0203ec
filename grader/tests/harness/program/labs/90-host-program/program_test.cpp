// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The tests of the lab of programs that proves their harness.
#include "grader/harness/program/program_test.hpp"
#include "labs/90-host-program/kernel_constants.hpp"

using namespace membound::harness;
using namespace membound::kernel_constants;

namespace {

constexpr std::int64_t kMany = 20 * 64 + 20;  // no multiple of a block; five fifths, four quarters

std::vector<int> numbers(ProgramTest& test, const char* name, std::int64_t n, int seed) {
  // Far from the small numbers that programs also copy to the device.
  return test.give_integers<int>(name, static_cast<std::size_t>(n), -1000000, 1000000,
                                 test.seed(seed));
}

/// What each stage makes of its inputs.
testing::AssertionResult check(ProgramTest& test, std::int64_t n) {
  std::vector<int> c = numbers(test, "a", n, 1);
  if (test.stage() == 1) {
    const std::vector<int> b = numbers(test, "b", n, 2);
    for (std::size_t i = 0; i < c.size(); ++i) c[i] += b[i];
  }
  for (int& value : c) {
    if (test.stage() == 2) value += static_cast<int>(kRounds);
    if (test.stage() == 3) value *= 2;
  }
  return test.expect("c", c, {{n}, {"element"}});
}

}  // namespace

const std::vector<HostTest> membound::harness::kTests = {
    {"TakesALittle", "", [](ProgramTest& test) { return check(test, 20); }},
    {"TakesMuch", "sums", [](ProgramTest& test) { return check(test, kMany); }}};

const HostTest membound::harness::kTimedTest = {
    "", "", [](ProgramTest& test) { return check(test, kMany); }};
