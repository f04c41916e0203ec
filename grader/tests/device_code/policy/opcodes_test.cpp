// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/policy/policy.hpp"

#include <gmock/gmock.h>

namespace membound::policy {
namespace {

TEST(GradedOpcodes, RefusedAreThoseThatEndWatchWaitOrReachBeyondTheLaunch) {
  std::vector<std::string_view> graded, refused;
#define MEMBOUND_OPCODE(id, name, ...) (is_graded_opcode(name) ? graded : refused).push_back(name);
#include "grader/device_code/ptx/opcodes.def"
#undef MEMBOUND_OPCODE
  EXPECT_EQ(graded.size(), 127u);
  EXPECT_THAT(refused, testing::UnorderedElementsAre(
                           "applypriority", "brkpt", "createpolicy", "discard", "griddepcontrol",
                           "nanosleep", "pmevent", "tcgen05", "trap", "<special register>",
                           "<local address>", "<nop>"));
}

TEST(GradedOpcodes, WhatNoRowNamesIsNone) {
  EXPECT_TRUE(is_graded_opcode("ld"));
  EXPECT_FALSE(is_graded_opcode("ld.global"));
  EXPECT_FALSE(is_graded_opcode("frobnicate"));
}

}  // namespace
}  // namespace membound::policy
