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

}  // namespace
}  // namespace membound::report
