// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/lab_result.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "grader/tests/course/schema_check.hpp"

namespace membound::course {
namespace {

StageResult stage_sample() {
  StageResult stage;
  stage.lab = "03-transpose";
  stage.stage = 3;
  stage.name = "tiled";
  stage.kernel = "transpose_tiled";
  stage.title = "A tile in shared memory";
  stage.device = "NVIDIA H200";
  stage.verdict = Verdict::kSlow;
  stage.correct = true;
  stage.speed = 1.5e12;
  stage.reference_speed = 2e12;
  stage.ceiling = 4e12;
  stage.ratio = 0.75;
  stage.ratio_low = 0.74;
  stage.ratio_high = 0.76;
  stage.max_points = 20;
  stage.samples = 40;
  stage.findings = {{"bank-conflicts", "32 passes", "bank-conflicts", "", "kernel.cu", 24}};
  stage.tests = {{"MovesOneElement", true, false, "", "", 0.1}};
  stage.source_lines = {{"kernel.cu", 24, "float", "shared load", "wavefronts", 1024, 32, 1}};
  KernelProfile profile;
  profile.name = "void transpose_tiled<float>(float*, float const*, int, int)";
  profile.bounds = {{"DRAM bandwidth", 1000}};
  profile.lines = {{"kernel.cu", 24, 1024, 32, 1}};
  profile.accesses = {MemoryAccess{}};
  profile.accesses[0].space = "shared";
  profile.accesses[0].wavefronts[1] = {1};
  stage.profiles = {profile};
  stage.timings = {Timing{}};
  stage.kernels = {KernelFacts{}};
  stage.cpu_baselines = {{"CPU, one core", 1e6, 8, 0}};
  return stage;
}

Result sample_result() {
  Result result;
  result.lab = "03-transpose";
  result.title = "Transpose a matrix";
  result.membound_version = "0.1.0";
  result.created_at = "2026-01-02T03:04:05Z";
  result.submission = "labs/03-transpose/kernel.cu";
  result.submission_sha256 = std::string(64, 'a');
  result.compiler = "nvcc 13.0.88";
  result.device.name = "NVIDIA H200";
  result.seed = 7;
  result.stages = {stage_sample()};
  return result;
}

TEST(Result, ComesBackFromJsonUnchanged) {
  const nlohmann::json json = sample_result();
  EXPECT_EQ(nlohmann::json(json.get<Result>()), json);
}

TEST(Result, CountsBandwidthInGigabytesAndOperationsInOperations) {
  nlohmann::json json = stage_sample();
  EXPECT_EQ(json["bandwidth_gbs"], 1500);
  EXPECT_EQ(json["reference_gbs"], 2000);
  EXPECT_EQ(json["ceiling_gbs"], 4000);
  EXPECT_FALSE(json.contains("ops_per_second"));
  StageResult stage = stage_sample();
  stage.bound = Bound::kOperations;
  json = stage;
  EXPECT_EQ(json["ops_per_second"], 1.5e12);
  EXPECT_EQ(json.get<StageResult>().speed, 1.5e12);
}

TEST(Result, WritesNullWhereNothingWasMeasured) {
  StageResult stage = stage_sample();
  stage.speed = std::nullopt;
  stage.ratio = std::numeric_limits<double>::infinity();
  const nlohmann::json json = stage;
  EXPECT_TRUE(json["bandwidth_gbs"].is_null());
  EXPECT_TRUE(json["ratio"].is_null());
  EXPECT_EQ(json.get<StageResult>().ratio, std::nullopt);
}

TEST(Result, IsPassedWhenEveryStageIs) {
  Result result = sample_result();
  EXPECT_FALSE(result.passed());
  result.stages[0].verdict = Verdict::kPassed;
  EXPECT_TRUE(result.passed());
  result.stages.clear();
  EXPECT_FALSE(result.passed());
}

TEST(Result, FitsItsSchema) {
  EXPECT_EQ(schema_problems("docs/result.schema.json", sample_result()), "");
  Result result = sample_result();
  result.stages[0].bound = Bound::kOperations;
  result.stages[0].ratio = std::nullopt;
  result.stages.push_back(StageResult{});
  result.stages[1].lab = "03-transpose";
  result.stages[1].stage = 1;
  EXPECT_EQ(schema_problems("docs/result.schema.json", result), "");
}

TEST(Result, DoesNotFitItsSchemaWithAFieldMissingOrWrong) {
  for (const char* pointer : {"/lab", "/stages/0/verdict", "/stages/0/ratio", "/stages/0/points",
                              "/stages/0/bandwidth_gbs", "/stages/0/findings/0/text", "/device"}) {
    nlohmann::json json = sample_result();
    const nlohmann::json::json_pointer place(pointer);
    json[place.parent_pointer()].erase(place.back());
    EXPECT_NE(schema_problems("docs/result.schema.json", json), "") << pointer;
  }
  nlohmann::json json = sample_result();
  json["stages"][0]["verdict"] = "great";
  EXPECT_NE(schema_problems("docs/result.schema.json", json), "");
}

TEST(Result, NamesAStateFileThatIsBroken) {
  EXPECT_TRUE(stage_result_from_text(nlohmann::json(stage_sample()).dump(), "f"));
  for (const char* text : {"", "{}", "[]", "{\"lab\": 3}"})
    EXPECT_EQ(stage_result_from_text(text, "state/x.json").error().where, "state/x.json") << text;
}

// Found by the fuzzer: the library turned it into an integer, which no integer can hold.
TEST(Result, RefusesANumberThatIsNotWholeWhereOneIsCounted) {
  for (const char* field : {"stage", "samples", "similar_stage"}) {
    nlohmann::json json(stage_sample());
    json[field] = 1e300;
    EXPECT_FALSE(stage_result_from_text(json.dump(), "f")) << field;
  }
}

}  // namespace
}  // namespace membound::course
