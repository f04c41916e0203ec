// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The schemas of result and grade list the fields that are written, each of them and no other.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "grader/course/grade.hpp"

namespace membound::course {
namespace {

using nlohmann::json;

json schema_of(const std::string& name) {
  std::ifstream file(MEMBOUND_SOURCE_DIR "/docs/" + name + ".schema.json");
  return json::parse(file);
}

/// Two stages, one for each kind of speed, with one of everything that may be listed.
Result one_of_everything() {
  StageResult stage;
  stage.findings.emplace_back();
  stage.tests.emplace_back();
  stage.timings.emplace_back();
  stage.kernels.emplace_back();
  stage.source_lines.emplace_back();
  stage.cpu_baselines.emplace_back();
  KernelProfile& profile = stage.profiles.emplace_back();
  profile.bounds.emplace_back();
  profile.advice.emplace_back();
  profile.lines.emplace_back();
  profile.accesses.emplace_back().space = "shared";
  Result result;
  result.stages = {stage, stage};
  result.stages[1].bound = Bound::kOperations;
  return result;
}

/// `values` are what stands at one place of the schema: each element of a list.
void expect_fields(const std::vector<json>& values, const json& schema, const std::string& place) {
  if (schema.contains("items")) {
    std::vector<json> elements;
    for (const json& value : values) elements.insert(elements.end(), value.begin(), value.end());
    expect_fields(elements, schema["items"], place + "[]");
  }
  if (!schema.contains("properties")) return;
  std::set<std::string> written, listed;
  for (const json& value : values)
    for (const auto& [key, field] : value.items()) written.insert(key);
  for (const auto& [key, field] : schema["properties"].items()) {
    listed.insert(key);
    std::vector<json> fields;
    for (const json& value : values)
      if (value.contains(key) && !value[key].is_null()) fields.push_back(value[key]);
    if (!fields.empty()) expect_fields(fields, field, place + "." + key);
  }
  EXPECT_EQ(listed, written) << place;
}

TEST(SchemaFields, OfAResultAreThoseItIsWrittenWith) {
  expect_fields({json(one_of_everything())}, schema_of("result"), "result");
}

Grade marked_write_up() {
  Grade grade;
  grade.write_up = {{{"table", 4, "a row per stage"}, 3, "clear"}};
  return grade;
}

TEST(SchemaFields, OfAGradeAreThoseItIsWrittenWith) {
  expect_fields({json(marked_write_up())}, schema_of("grade"), "grade");
}

TEST(SchemaFields, AFieldMoreOrLessIsNoticed) {
  for (const char* extra : {"field", "properties"}) {
    json value = json(marked_write_up()), schema = schema_of("grade");
    (extra == std::string("field") ? value : schema["properties"])["more"] = 1;
    testing::TestPartResultArray failures;
    {
      const testing::ScopedFakeTestPartResultReporter reporter(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
      expect_fields({value}, schema, "grade");
    }
    EXPECT_EQ(failures.size(), 1) << extra;
  }
}

}  // namespace
}  // namespace membound::course
