// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 04: the tests of the whole program, easiest first; the calls of the last one's run are those
/// that lab.json's demands are held against. All numbers are whole and all sums of a block stay
/// below 2^24, so all comparisons are exact.
#include <algorithm>
#include <span>
#include <vector>

#include "grader/harness/program/program_test.hpp"
#include "labs/04-reduction/reference.hpp"

using namespace membound::harness;

namespace {

testing::AssertionResult sums_blocks(ProgramTest& test, std::size_t n, std::size_t threads) {
  test.give("threads", std::vector<int>{static_cast<int>(threads)});
  const auto in = test.give_integers<float>("in", n, 2000, 9999, test.seed(1));
  std::vector<float> sums;
  for (std::size_t first = 0; first < n; first += threads) {
    const auto block = std::span(in).subspan(first, std::min(threads, n - first));
    sums.push_back(static_cast<float>(membound::labs::reduction::sum_serial(block)));
  }
  return test.expect("sums", sums, {{static_cast<std::int64_t>(sums.size())}, {"block"}});
}

}  // namespace

const std::vector<HostTest> membound::harness::kTests = {
    {"HandsInOneElement", "program-one-element",
     [](ProgramTest& test) { return sums_blocks(test, 1, 32); }},
    {"HandsInABlockOfManyThreads", "program-many-threads",
     [](ProgramTest& test) { return sums_blocks(test, 1024, 1024); }},
    {"HandsInBlocksOfFewThreads", "program-few-threads",
     [](ProgramTest& test) { return sums_blocks(test, 1024, 64); }},
    {"HandsInNothing", "program-nothing",
     [](ProgramTest& test) { return sums_blocks(test, 0, 128); }},
    {"HandsInABlockThatIsCutOff", "program-last-block",
     [](ProgramTest& test) { return sums_blocks(test, 10007, 512); }}};

// What is learned are the calls; how fast a tree is, the stages before have told.
const HostTest membound::harness::kTimedTest = {"", "", nullptr};
