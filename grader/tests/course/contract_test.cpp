// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/contract.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace membound::course {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream stream(MEMBOUND_SOURCE_DIR "/" + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <typename Enum>
void expect_names_lead_back(int count) {
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    const nlohmann::json json = value;
    EXPECT_EQ(json.get<Enum>(), value) << json;
    EXPECT_TRUE(names.insert(json.get<std::string>()).second) << json;
  }
}

TEST(Contract, EveryNameLeadsBackToItsValue) {
  expect_names_lead_back<Verdict>(static_cast<int>(verdict_rows().size()));
  expect_names_lead_back<GradeVerdict>(static_cast<int>(grade_rows().size()));
  expect_names_lead_back<Cause>(static_cast<int>(Cause::kCrash) + 1);
}

TEST(Contract, AWordFromElsewhereIsOurOwnError) {
  const nlohmann::json word = "great";
  EXPECT_EQ(word.get<Verdict>(), Verdict::kInfraError);
  EXPECT_EQ(word.get<GradeVerdict>(), GradeVerdict::kInfraError);
  EXPECT_EQ(word.get<Cause>(), Cause::kCrash);
  EXPECT_THROW(static_cast<void>(nlohmann::json(1).get<Verdict>()), nlohmann::json::exception);
  EXPECT_EQ(grade_verdict_from_string("pass"), std::nullopt);
}

TEST(Contract, OnlyABuiltInTestsTagIsACause) {
  EXPECT_EQ(cause_of("RunsWithoutFault", "memory"), Cause::kMemory);
  EXPECT_EQ(cause_of("RunsWithoutFault", "edge-guard"), Cause::kFault);
  EXPECT_EQ(cause_of("ReachesItsBar", "guard-zone"), Cause::kGuardZone);
  EXPECT_EQ(cause_of("TilesCutOff", "fault"), Cause::kNone);
  EXPECT_EQ(cause_of("TilesCutOff", "illegal-launch"), Cause::kIllegalLaunch);
}

TEST(Contract, NoPointsWithoutAScore) {
  for (const VerdictRow& row : verdict_rows()) {
    if (row.verdict == Verdict::kSkipped) continue;
    EXPECT_TRUE(!row.earns_points || row_of(row.grade).has_score) << row.name;
  }
}

TEST(Contract, TheSchemasListEveryVerdict) {
  const auto result = nlohmann::json::parse(text_of("docs/result.schema.json"));
  const auto grade = nlohmann::json::parse(text_of("docs/grade.schema.json"));
  nlohmann::json verdicts, grades, withheld;
  for (const VerdictRow& row : verdict_rows()) verdicts.push_back(row.name);
  for (const GradeRow& row : grade_rows()) {
    grades.push_back(row.name);
    if (!row.has_score) withheld.push_back(row.name);
  }
  grades.push_back(nullptr);
  EXPECT_EQ(result["/properties/stages/items/properties/verdict/enum"_json_pointer], verdicts);
  EXPECT_EQ(grade["/properties/verdict/enum"_json_pointer], grades);
  EXPECT_EQ(grade["/allOf/0/else/if/properties/verdict/enum"_json_pointer], withheld);
}

}  // namespace
}  // namespace membound::course
