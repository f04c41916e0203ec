// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/failure_text.hpp"

#include <gtest/gtest.h>

namespace membound::harness {
namespace {

using nlohmann::json;

json finding(const char* kind, int line, int ptx_line = 0) {
  return {{"checker", "memcheck"}, {"kind", kind},         {"file", "/x/kernel.cu"},
          {"line", line},          {"ptx_line", ptx_line}, {"text", "what happened"}};
}

json report(std::initializer_list<json> findings) { return {{"reports", findings}}; }

TEST(DeviceChecks, AreKeptWithTheNameOfTheTest) {
  json all;
  add_checks(report({finding("out of bounds read", 7)}), "MovesOneTile", all);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["test"], "MovesOneTile");
  EXPECT_EQ(all[0]["line"], 7);
}

TEST(DeviceChecks, ToldAgainByAnotherTurnOfAnUnrolledLoopAreOne) {
  json all;
  add_checks(report({finding("out of bounds read", 7, 100), finding("out of bounds read", 7, 120)}),
             "A", all);
  add_checks(report({finding("out of bounds read", 7, 300)}), "B", all);
  EXPECT_EQ(all.size(), 1u);
}

TEST(DeviceChecks, OfAnotherKindOrLineAreAnother) {
  json all;
  add_checks(report({finding("out of bounds read", 7), finding("out of bounds write", 7),
                     finding("out of bounds read", 8)}),
             "A", all);
  EXPECT_EQ(all.size(), 3u);
}

TEST(DeviceChecks, OfOneLineThatRacesWithTwoOthersAreTwo) {
  json one = finding("data race", 7), two = finding("data race", 7);
  one["other"] = {{"line", 3}};
  two["other"] = {{"line", 4}};
  json all;
  add_checks(report({one, two, one}), "A", all);
  EXPECT_EQ(all.size(), 2u);
}

TEST(DeviceChecks, OfTwoLinesThatRaceFromBothSidesAreOne) {
  json one = finding("data race", 7), two = finding("data race", 3);
  one["other"] = {{"line", 3}};
  two["other"] = {{"line", 7}};
  json all;
  add_checks(report({one}), "A", all);
  add_checks(report({two}), "B", all);
  EXPECT_EQ(all.size(), 1u);
}

TEST(DeviceChecks, OfOneBarrierAreOneAndNoRemark) {
  json remark = finding("return before a barrier", 7);
  remark["remark"] = true;
  json all;
  add_checks(report({remark}), "A", all);
  add_checks(report({finding("divergent barrier", 7)}), "B", all);
  add_checks(report({finding("barrier after exit", 7), remark}), "C", all);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["kind"], "divergent barrier");
}

TEST(DeviceChecks, WithoutLinesAreToldApartByTheirInstructions) {
  json all;
  add_checks(report({finding("out of bounds read", 0, 100), finding("out of bounds read", 0, 120)}),
             "A", all);
  EXPECT_EQ(all.size(), 2u);
}

TEST(DeviceChecks, LeaveOutTheFaultThatTheTestTellsItself) {
  json fault = finding("illegal address", 7);
  fault["checker"] = "fault";
  json all;
  add_checks(report({fault}), "A", all);
  EXPECT_TRUE(all.empty());
}

TEST(DeviceChecks, OfAReportThatIsNoneAreNone) {
  json all;
  add_checks(json(), "A", all);
  add_checks(json::array({1}), "A", all);
  add_checks({{"reports", 3}}, "A", all);
  EXPECT_TRUE(all.is_null());
  add_checks({{"reports", {1, "x", nullptr}}}, "A", all);
  EXPECT_TRUE(all.empty());
}

}  // namespace
}  // namespace membound::harness
