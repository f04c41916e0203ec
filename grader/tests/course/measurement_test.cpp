// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/measurement.hpp"
#include "grader/base/files.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

namespace membound::course {
namespace {

StageMeasurement sample_measurement() {
  StageMeasurement measurement;
  measurement.lab = "03-transpose";
  measurement.kernel = "transpose_tiled";
  measurement.stage = 3;
  measurement.tests = {{"MovesOneElement", true, false, "", "", 0.25},
                       {"TilesCutOff", false, false, "out[1] is 0", "edge-guard", 0.5}};
  Timing timing;
  timing.label = "float 4096 x 4096";
  timing.student_ns = {100, 101};
  timing.reference_ns = {90, 91};
  timing.ratio = 0.9;
  timing.clocks.sm_mhz_max = 1980;
  timing.throttle_reasons = {"power"};
  measurement.timings = {timing};
  measurement.abort = Cause::kTimeout;
  measurement.kernels = {
      {.name = "transpose_tiled<float>", .registers = 24, .grid = {128, 0, 0}, .block = {0, 8, 0}}};
  measurement.device.name = "NVIDIA H200";
  measurement.seed = 18446744073709551615u;
  return measurement;
}

TEST(Measurement, ComesBackFromItsLineUnchanged) {
  const auto back = measurements_from_text(to_line(sample_measurement()) + "\n", "r.jsonl");
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 1u);
  EXPECT_EQ(nlohmann::json(back->front()), nlohmann::json(sample_measurement()));
  EXPECT_EQ(back->front().seed, 18446744073709551615u);
}

TEST(Measurement, IsOneLineWhateverAMessageHolds) {
  StageMeasurement measurement = sample_measurement();
  measurement.tests[1].message = "line one\nline two \xff";
  EXPECT_EQ(to_line(measurement).find('\n'), std::string::npos);
  const auto back = measurements_from_text(to_line(measurement) + "\n", "r.jsonl");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->front().tests[1].message, "line one\nline two \xEF\xBF\xBD");
}

TEST(Measurement, ReadsANumberThatIsNotFiniteAsZero) {
  StageMeasurement measurement = sample_measurement();
  measurement.timings[0].ratio = std::numeric_limits<double>::quiet_NaN();
  const auto back = measurements_from_text(to_line(measurement) + "\n", "r.jsonl");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->front().timings[0].ratio, 0);
}

TEST(Measurement, LeavesOutALineThatWasCutOff) {
  const std::string line = to_line(sample_measurement());
  for (const std::size_t cut : {std::size_t{1}, line.size() / 2, line.size()}) {
    const auto back = measurements_from_text(line + "\n" + line.substr(0, cut), "r.jsonl");
    ASSERT_TRUE(back);
    EXPECT_EQ(back->size(), 1u);
  }
}

TEST(Measurement, NamesTheLineThatIsBroken) {
  const auto back =
      measurements_from_text(to_line(sample_measurement()) + "\n{\"stage\": 1}\n", "r.jsonl");
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().where, "r.jsonl:2");
}

TEST(Measurement, AppendsLineAfterLine) {
  const base::ScratchFolder folder("append-test");
  const auto file = folder.path() / "r.jsonl";
  ASSERT_TRUE(append_line(file, sample_measurement()));
  ASSERT_TRUE(append_line(file, sample_measurement()));
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto back = measurements_from_text(text, file.string());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->size(), 2u);
}

TEST(Measurement, SaysWhyALineCannotBeWritten) {
  const auto status = append_line("/nonexistent-folder/r.jsonl", sample_measurement());
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().found, testing::HasSubstr("No such file"));
}

}  // namespace
}  // namespace membound::course
