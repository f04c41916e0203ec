// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tests of commands have in common: the built program on a fake course.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grader/tests/cli/fake_course.hpp"

namespace membound::cli {

class Commands : public testing::Test {
 protected:
  base::ProcessOutcome check(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"check", "--device", "vgpu"};
    all.insert(all.end(), words.begin(), words.end());
    return course_.run(all);
  }
  FakeCourse course_;
};

}  // namespace membound::cli
