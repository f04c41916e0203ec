// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/failure_text.hpp"

#include <gtest/gtest.h>

namespace membound::harness {
namespace {

nlohmann::json report_of(const nlohmann::json& entry) {
  return {{"kernels", nlohmann::json::array()}, {"reports", {entry}}};
}

TEST(FaultText, TellsLineBlockAndThread) {
  EXPECT_EQ(fault_text(report_of({{"checker", "fault"},
                                  {"file", "labs/01-reverse-array/kernel.cu"},
                                  {"line", 17},
                                  {"block", {0, 0, 0}},
                                  {"thread", {3, 0, 0}},
                                  {"text", "write of 4 bytes outside"}})),
            "kernel.cu:17, block (0, 0, 0), thread (3, 0, 0): write of 4 bytes outside");
}

TEST(FaultText, PartsThatAreMissingAreLeftOut) {
  EXPECT_EQ(fault_text(report_of({{"checker", "fault"}, {"text", "trap"}})), "trap");
  EXPECT_EQ(fault_text(report_of({{"checker", "fault"}, {"file", "k.cu"}, {"line", 3}})), "k.cu:3");
}

TEST(FaultText, OtherFindingsAreNoFaults) {
  EXPECT_EQ(fault_text(report_of({{"checker", "racecheck"}, {"text", "hazard"}})), "");
  EXPECT_EQ(fault_text(nullptr), "");
  EXPECT_EQ(fault_text({{"reports", "none"}}), "");
  EXPECT_EQ(fault_text({{"reports", {1, nullptr}}}), "");
}

}  // namespace
}  // namespace membound::harness
