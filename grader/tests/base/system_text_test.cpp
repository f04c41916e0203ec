// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/result.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

namespace membound::base {
namespace {

TEST(SystemText, ErrorsAndSignalsHaveTheSystemsWords) {
  EXPECT_EQ(reason_text(ENOENT), "No such file or directory");
  EXPECT_EQ(signal_text(SIGSEGV), "Segmentation fault");
}

TEST(SystemText, NumbersThatMeanNothingAreNamed) {
  EXPECT_EQ(reason_text(12345), "Unknown error 12345");
  EXPECT_EQ(signal_text(12345), "signal 12345");
}

}  // namespace
}  // namespace membound::base
