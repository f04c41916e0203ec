// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/reports.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/device_code/checkers/checkers.hpp"
#include "grader/tests/course/schema_check.hpp"

namespace membound::vgpu::runtime {
namespace {

nlohmann::json parse(const std::string& text) { return nlohmann::json::parse(text); }

TEST(ReportLog, AnEmptyFileIsStillAFile) {
  ReportLog log;
  log.set_device("NVIDIA H200 (virtual)", "h200");
  const auto json = parse(log.file_text());
  EXPECT_EQ(json["device"], "NVIDIA H200 (virtual)");
  EXPECT_TRUE(json["kernels"].empty());
  EXPECT_TRUE(json["reports"].empty());
}

TEST(ReportLog, KernelsAndReportsKeepTheirOrder) {
  ReportLog log;
  log.add_kernel(R"({"name":"a"})");
  log.add_report(R"({"kind":"r"})");
  log.add_kernel(R"({"name":"b"})");
  const auto json = parse(log.file_text());
  ASSERT_EQ(json["kernels"].size(), 2u);
  EXPECT_EQ(json["kernels"][1]["name"], "b");
  EXPECT_EQ(json["reports"].size(), 1u);
}

TEST(ReportLog, WhatWasTakenIsNotTakenAgainButStaysInTheFile) {
  ReportLog log;
  log.add_kernel(R"({"name":"a"})");
  EXPECT_EQ(parse(log.text_since_taken())["kernels"].size(), 1u);
  log.mark_taken();
  EXPECT_TRUE(parse(log.text_since_taken())["kernels"].empty());
  EXPECT_EQ(parse(log.file_text())["kernels"].size(), 1u);
}

TEST(ReportLog, TheWrittenFileIsTheText) {
  ReportLog log;
  log.add_kernel(R"({"name":"a"})");
  log.add_report(R"({"kind":"r"})");
  const base::ScratchFolder folder("report-log-test");
  const std::string path = folder.path() / "counters.json";
  ASSERT_TRUE(log.write_file(path.c_str()));
  std::ifstream file(path);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written, log.file_text());
}

TEST(ReportLog, AFileThatCannotBeWrittenIsAnAnswer) {
  EXPECT_FALSE(ReportLog().write_file("/nonexistent-folder/counters.json"));
}

TEST(ReportLog, ALaunchBecomesTheFormTheFileDocuments) {
  counters::LaunchCounters counters;
  counters.totals.global_load_sectors = 4;
  counters.lines = {{"scale.cu", 3, counters.totals}};
  timing::Prediction prediction;
  prediction.ns = 1234;
  LaunchRecord record{"_Z5scalePfi", {2, 1, 1}, {32, 1, 1}, 16, 0,   &counters,
                      &prediction,   {0, 1234}, 1,          99, 0.5, "completed"};
  const auto json = parse(to_json(record));
  EXPECT_EQ(json["name"], "_Z5scalePfi");
  EXPECT_EQ(json["display_name"], "scale(float*, int)");
  EXPECT_EQ(json["grid"], (nlohmann::json{2, 1, 1}));
  EXPECT_EQ(json["counters"]["global_load_sectors"], 4);
  EXPECT_EQ(json["lines"][0]["line"], 3);
  EXPECT_EQ(json["lines"][0]["counters"]["global_load_sectors"], 4);
  EXPECT_EQ(json["predicted_ns"], 1234);
  EXPECT_EQ(json["warp_instructions"], 99);
}

TEST(ReportLog, TellsWhatBlocksDidWhereItWasAsked) {
  counters::LaunchCounters counters;
  counters.work = {{counters::BlockWork{}, counters::BlockWork{}}, {{1, 7}, {0, 1}}, {4, 5}};
  for (std::uint64_t i = 0; i < std::size(counters::kBlockWorkFields); ++i)
    counters.work.kinds[1].*counters::kBlockWorkFields[i] = i + 1;
  timing::Prediction prediction;
  LaunchRecord record{"k", {8, 1, 1}, {32, 1, 1}, 16, 0, &counters, &prediction};
  EXPECT_FALSE(parse(to_json(record)).contains("work"));
  record.constant_bytes = 64;
  const auto work = parse(to_json(record))["work"];
  EXPECT_EQ(work["constant_bytes"], 64);
  EXPECT_EQ(work["kinds"][1], (nlohmann::json{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(work["runs"], (nlohmann::json{{1, 7}, {0, 1}}));
  EXPECT_EQ(work["instructions"], (nlohmann::json{4, 5}));
}

TEST(ReportLog, TheFileFitsItsSchema) {
  counters::LaunchCounters counters;
  counters.lines = {{"scale.cu", 3, counters.totals}};
  timing::Prediction prediction;
  prediction.bounds = {{timing::BoundKind::kLaunch, 12}};
  LaunchRecord record{"_Z5scalePfi", {2, 1, 1}, {32, 1, 1}, 16, 0,   &counters,
                      &prediction,   {0, 1234}, 1,          99, 0.5, "completed"};
  exec::Fault fault;
  fault.place.kernel = "_Z5scalePfi";
  ReportLog log;
  log.set_device("NVIDIA H200 (virtual)", "h200");
  log.add_kernel(to_json(record));
  record.sample = exec::SampleFacts{10, 1000, 0.01, 40'000};
  log.add_kernel(to_json(record));
  counters.work = {{counters::BlockWork{1, 2, 3}}, {{0, 7}}, {4, 5}};
  record.constant_bytes = 64;
  log.add_kernel(to_json(record));
  record.shared_accesses = program::AccessesFrom::kPtx;
  log.add_kernel(to_json(record));
  record.shared_accesses = program::AccessesFrom::kMachineCode;
  record.not_sampled = "its blocks may learn from each other";
  log.add_kernel(to_json(record));
  log.add_report(to_json(fault));
  for (const checkers::CheckerInfo& checker : checkers::kCheckers)
    log.add_report(to_json(exec::CheckReport{.checker = std::string(checker.name)}));
  auto file = parse(log.file_text());
  EXPECT_EQ(course::schema_problems("docs/counters_file.schema.json", file), "");
  for (const char* field : {"/kernels/0/unknown", "/unknown", "/reports/0/unknown"}) {
    auto changed = file;
    changed[nlohmann::json::json_pointer(field)] = 1;
    EXPECT_NE(course::schema_problems("docs/counters_file.schema.json", changed), "") << field;
  }
}

TEST(ReportLog, NamesThatAreNoUtf8AreStillJson) {
  exec::Fault fault;
  fault.place.kernel = "\xff\xfe";
  EXPECT_NO_THROW(parse(to_json(fault)));
}

}  // namespace
}  // namespace membound::vgpu::runtime
