// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs every conformance program on the virtual GPU and compares what it prints with the truth
/// recorded on an H200. One test per program; every case that differs is one failure.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "grader/tests/vgpu/conformance/compare_lines.hpp"

namespace membound::conformance {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  while (const std::size_t bytes = std::fread(buffer, 1, sizeof buffer, pipe)) {
    text.append(buffer, bytes);
  }
  ::pclose(pipe);
  return text;
}

/// Runs a program to its end. One that a case stopped is started again behind that case.
Lines run(const std::string& program) {
  Lines lines;
  for (std::size_t first = 0;;) {
    const std::string output =
        output_of("LD_LIBRARY_PATH=" MEMBOUND_VGPU_DIR " MEMBOUND_DEVICE=vgpu:h200 timeout 120 " +
                  std::string(MEMBOUND_CONFORMANCE_DIR "/") + program + " --from " +
                  std::to_string(first) + " 2>/dev/null");
    const Lines more = parse_lines(output);
    bool stopped = false;
    for (const auto& [name, line] : more) {
      lines.insert({name, line});
      stopped |= !line.error.empty();
    }
    if (!stopped || more.empty()) return lines;
    first += more.size();
  }
}

/// The names in the first column of unsupported.txt.
std::set<std::string> unsupported_cases() {
  std::set<std::string> names;
  std::istringstream rows(content_of(MEMBOUND_CONFORMANCE_UNSUPPORTED));
  for (std::string row; std::getline(rows, row);) {
    if (!row.empty() && row[0] != '#') names.insert(row.substr(0, row.find(' ')));
  }
  return names;
}

class OnTheVirtualGpu : public ::testing::TestWithParam<const char*> {};

TEST_P(OnTheVirtualGpu, EveryCaseComputesWhatTheH200Does) {
  const Lines truth = truth_of(content_of(MEMBOUND_CONFORMANCE_TRUTH), GetParam());
  ASSERT_FALSE(truth.empty()) << "no truth for this program";
  const Lines found = run(GetParam());
  const std::set<std::string> unsupported = unsupported_cases();
  for (const auto& [name, line] : truth) {
    const auto at = found.find(name);
    const std::string outcome = at == found.end() ? "did not run" : difference(line, at->second);
    EXPECT_EQ(outcome, unsupported.contains(name) ? "ended with cudaErrorIllegalInstruction" : "")
        << name;
  }
  EXPECT_EQ(found.size(), truth.size()) << "a case without a truth: run make_truth.sh on a GPU";
}

INSTANTIATE_TEST_SUITE_P(Conformance, OnTheVirtualGpu,
                         ::testing::Values(MEMBOUND_CONFORMANCE_PROGRAMS),
                         [](const auto& each) { return std::string(each.param); });

TEST(CompareLines, WordsAreComparedBitForBitWithoutATolerance) {
  const Lines lines = parse_lines("a: 00000001 ffffffff\nb: 00000001 fffffffe\n# c: 1\n");
  EXPECT_EQ(lines.size(), 2u);
  EXPECT_EQ(difference(lines.at("a"), lines.at("a")), "");
  EXPECT_EQ(difference(lines.at("a"), lines.at("b")),
            "1 of 2 values; the first is value 1, fffffffe instead of ffffffff");
}

TEST(CompareLines, BoundsHoldForTheirType) {
  const Lines lines = parse_lines(
      "one ulp_f32=2: 3f800000 7fc00000\n"
      "near ulp_f32=2: 3f800002 7fffffff\n"
      "far ulp_f32=2: 3f800003 7fc00000\n"
      "double rel_f64=1e-6: 00000000 3ff00000\n"
      "close rel_f64=1e-6: 00000001 3ff00000\n");
  EXPECT_EQ(difference(lines.at("one"), lines.at("near")), "");
  EXPECT_NE(difference(lines.at("one"), lines.at("far")), "");
  EXPECT_EQ(difference(lines.at("double"), lines.at("close")), "");
}

TEST(CompareLines, ACaseThatEndedInAnErrorIsADifference) {
  const Lines lines = parse_lines("a: 00000001\nb: error cudaErrorLaunchFailure\n");
  EXPECT_EQ(difference(lines.at("a"), lines.at("b")), "ended with cudaErrorLaunchFailure");
}

}  // namespace
}  // namespace membound::conformance
