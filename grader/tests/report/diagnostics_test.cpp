// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/diagnostics.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace membound::report {
namespace {

TEST(Diagnostics, NameAFileFromTheCurrentFolder) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(diagnostic_head(here + "/labs/a/kernel.cu", 7, "error"),
            "labs/a/kernel.cu:7:1: error: ");
  EXPECT_EQ(diagnostic_head("/elsewhere/kernel.cu", 7, "warning"),
            "/elsewhere/kernel.cu:7:1: warning: ");
}

TEST(Diagnostics, OnlyThePlacesOfCompilersMessagesAreWrittenAnew) {
  EXPECT_EQ(with_places("a b.cu(7): error: x\n   f(3): y\nk.cu:1:2: error: z\n"
                        "k.cu(8): warning #177-D: unused\n"),
            "a b.cu:7:1: error: x\n   f(3): y\nk.cu:1:2: error: z\n"
            "k.cu:8:1: warning #177-D: unused\n");
}

TEST(Diagnostics, AWarningIsKeptWithTheSourceBelowItWhereItIsWanted) {
  const std::string output =
      "k.cu(8): warning #177-D: unused\n    int a;\n        ^\n\nRemark: suppress it\n\n"
      "k.cu(9): warning #177-D: unused\n    int b;\n";
  const auto in_line = [&](int wanted) {
    return warnings_in(output, [=](const std::string& file, int line) {
      return file == "k.cu" && line == wanted;
    });
  };
  EXPECT_EQ(in_line(8), "k.cu(8): warning #177-D: unused\n    int a;\n        ^\n");
  EXPECT_EQ(in_line(9), "k.cu(9): warning #177-D: unused\n    int b;\n");
  EXPECT_EQ(in_line(7), "");
  EXPECT_EQ(warnings_in("k.cu:3:5: warning: x\n  y\n1 warning generated.\n",
                        [](const std::string&, int line) { return line == 3; }),
            "k.cu:3:5: warning: x\n  y\n");
}

}  // namespace
}  // namespace membound::report
