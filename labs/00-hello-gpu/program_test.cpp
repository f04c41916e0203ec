// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 00: the tests of the whole program, easiest first; the calls of the last one's run are those
/// that lab.json's demands are held against.
#include "grader/harness/program/program_test.hpp"
#include "labs/00-hello-gpu/reference.hpp"

using namespace membound::harness;

namespace {

testing::AssertionResult adds(ProgramTest& test, std::int64_t n) {
  const auto count = static_cast<std::size_t>(n);
  const auto a = test.give_integers<float>("a", count, 0, 9999, test.seed(1));
  const auto b = test.give_integers<float>("b", count, 10000, 99999, test.seed(2));
  return test.expect("out", membound::labs::hello_gpu::sums(a, b), {{n}, {"sum"}});
}

}  // namespace

const std::vector<HostTest> membound::harness::kTests = {
    {"HandsInOneSum", "program-one-sum", [](ProgramTest& test) { return adds(test, 1); }},
    {"HandsInNoSums", "program-no-sums", [](ProgramTest& test) { return adds(test, 0); }},
    {"HandsInOneMoreThanABlock", "program-bytes",
     [](ProgramTest& test) { return adds(test, 257); }},
    {"HandsInAMillion", "program-bytes", [](ProgramTest& test) { return adds(test, 1000003); }}};

// What is learned are the calls; how fast the kernel is, the stages before have told.
const HostTest membound::harness::kTimedTest = {"", "", nullptr};
