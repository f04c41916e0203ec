// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 14: the tests of the whole program, easiest first; the calls of the last one's run are those
/// that lab.json's demands are held against. Whole numbers whose sums stay below 2^24 are compared
/// exactly; one test has larger ones, whose products and sums are rounded.
#include <string>
#include <vector>

#include "grader/harness/program/program_test.hpp"
#include "labs/14-arithmetic-intensity/reference.hpp"

using namespace membound::harness;

namespace {

/// `scale` multiplies the bounds of both ranges of numbers.
testing::AssertionResult multiplies(ProgramTest& test, std::int64_t m, std::int64_t n,
                                    std::int64_t k, std::int64_t scale = 1) {
  const auto count = [](std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(rows * cols);
  };
  const auto a =
      test.give_integers<float>("a", count(m, k), 100 * scale, 199 * scale, test.seed(1));
  const auto b =
      test.give_integers<float>("b", count(k, n), 200 * scale, 299 * scale, test.seed(2));
  test.give("sizes",
            std::vector<int>{static_cast<int>(m), static_cast<int>(n), static_cast<int>(k)});
  // Each of k products and k sums is rounded to 24 bits.
  const double rounding = static_cast<double>(k * (k + 1) * 199 * 299 * scale * scale) / (1 << 24);
  return test.expect("c", membound::labs::intensity::product(a, b, {m, n, k, k, n, n}),
                     {{m, n}, {"row", "column"}}, {.absolute = scale == 1 ? 0 : rounding});
}

}  // namespace

const std::vector<HostTest> membound::harness::kTests = {
    {"HandsInOneProduct", "program-one-product",
     [](ProgramTest& test) { return multiplies(test, 1, 1, 1); }},
    {"HandsInWholeTiles", "program-tiles",
     [](ProgramTest& test) { return multiplies(test, 64, 64, 64); }},
    {"HandsInMoreColumnsThanRows", "program-two-dimensions",
     [](ProgramTest& test) { return multiplies(test, 32, 128, 64); }},
    {"HandsInNothing", "program-nothing",
     [](ProgramTest& test) { return multiplies(test, 0, 5, 3); }},
    {"HandsInSumsOfNothing", "program-nothing",
     [](ProgramTest& test) { return multiplies(test, 3, 5, 0); }},
    {"HandsInRoundedSums", "program-rounding",
     [](ProgramTest& test) { return multiplies(test, 33, 40, 50, 101); }},
    {"HandsInPrimes", "program-edges",
     [](ProgramTest& test) { return multiplies(test, 67, 131, 97); }}};

// What is learned are the calls; how fast the kernel is, the stages before have told.
const HostTest membound::harness::kTimedTest = {"", "", nullptr};
