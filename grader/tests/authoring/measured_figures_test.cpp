// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// A course of one handout, and the figures of one GPU beside it.
#include "grader/authoring/measured_figures.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"

namespace membound::authoring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MeasuredPages : public testing::Test {
 protected:
  MeasuredPages() {
    lab_.id = "04-fake";
    lab_.handout = "handouts/04-fake/handout.md";
    lab_.stages.resize(1);
    lab_.stages[0].number = 1;
    lab_.stages[0].kernel = "sum";
    write("handouts/04-fake/handout.md",
          "<!-- speeds of reduce: written by `membound dev check --fix` -->\n"
          "<!-- end of speeds of reduce -->\nIt reaches 92 GB/s.\n");
    write("handouts/predicted.csv",
          "lab,device,run,page,text\n04-fake,h200,bench reduce 2^28 "
          "floats,handouts/04-fake/handout.md,reaches {1 sum.gbs} GB/s\n");
    EXPECT_TRUE(write_measured(folder_.path() / "handouts/measured_h200.csv", figures_));
  }
  void write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(base::write_file(folder_.path() / name, text));
  }
  std::string page() { return *base::read_file(folder_.path() / "handouts/04-fake/handout.md"); }

  const std::string run_ = "bench reduce 2^28 floats";
  MeasuredFigures figures_ = {
      {"04-fake", run_, "1 sum.gbs", "stage", 92, "GB/s", "2^28 floats", "2026-11-21", "580"},
      {"04-fake", run_, "1 sum.us", "stage", 11680, "µs", "2^28 floats", "2026-11-21", "580"},
      {"04-fake", run_, "cub.gbs", "library", 4600, "GB/s", "2^28 floats", "2026-11-21", "580"}};
  base::ScratchFolder folder_{"measured"};
  course::Lab lab_;
};

TEST_F(MeasuredPages, HaveTheStagesBesideTheirPeer) {
  const auto parts = speed_parts(lab_, folder_.path());
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 1u);
  EXPECT_EQ(parts->front().name, "speeds of reduce");
  EXPECT_EQ(
      parts->front().text,
      "| kernel | H200: ms | GB/s | of the peer |\n"
      "| --- | ---: | ---: | ---: |\n"
      "| 1 sum | 11.7 | 92.0 | 0.02 |\n"
      "| cub | – | 4,600 | 1.00 |\n\n"
      "H200: driver 580, 2026-11-21. In Membound's repository `membound dev figures` makes these "
      "figures for any GPU.\n");
}

TEST_F(MeasuredPages, SayWhereNoGpuHasBeenMeasured) {
  std::filesystem::remove(folder_.path() / "handouts/measured_h200.csv");
  const auto parts = speed_parts(lab_, folder_.path());
  ASSERT_TRUE(parts);
  EXPECT_THAT(parts->front().text, HasSubstr("membound dev ladder 04"));
}

TEST_F(MeasuredPages, QuoteWhatTheFileHasToTheLastDigit) {
  EXPECT_THAT(check_measured_texts("04-fake", folder_.path(), false), IsEmpty());
  figures_[0].value = 93;
  EXPECT_TRUE(write_measured(folder_.path() / "handouts/measured_h200.csv", figures_));
  const auto drifts = check_measured_texts("04-fake", folder_.path(), false);
  ASSERT_EQ(drifts.size(), 1u);
  EXPECT_THAT(to_string(drifts[0]), HasSubstr("92 where h200 says 93"));
  EXPECT_THAT(check_measured_texts("04-fake", folder_.path(), true), IsEmpty());
  EXPECT_THAT(page(), HasSubstr("reaches 93 GB/s"));
}

TEST_F(MeasuredPages, ComeFromAFileThatIsReadAsItWasWritten) {
  const auto again = read_measured(folder_.path() / "handouts/measured_h200.csv");
  ASSERT_TRUE(again) << base::to_string(again.error());
  ASSERT_EQ(again->size(), figures_.size());
  EXPECT_EQ(again->at(1).value, 11680);
  EXPECT_EQ(again->at(2).role, "library");
  EXPECT_TRUE(is_done({"04-fake", run_}, *again));
  EXPECT_TRUE(is_done({"", run_}, *again)) << "a bench's lab is known when it has run";
  EXPECT_FALSE(is_done({"04-fake", ""}, *again));
}

TEST_F(MeasuredPages, RefuseAFileWithoutANumber) {
  write("handouts/measured_h200.csv",
        "lab,run,figure,role,value,unit,size,date,driver\n04-fake,,1.gbs,,many,GB/s,,,\n");
  const auto read = read_measured(folder_.path() / "handouts/measured_h200.csv");
  ASSERT_FALSE(read);
  EXPECT_THAT(base::to_string(read.error()), HasSubstr("measured_h200.csv:2: \"many\""));
}

TEST(MeasuredFigures, AreKeptByTheNameOfTheGpu) {
  EXPECT_EQ(gpu_name_in_files("NVIDIA H200"), "h200");
  EXPECT_EQ(gpu_name_in_files("NVIDIA H100 80GB HBM3"), "h100");
  EXPECT_EQ(gpu_name_in_files("NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(gpu_name_in_files("NVIDIA GeForce RTX 4090"), "geforce-rtx-4090");
  EXPECT_EQ(gpu_name_in_files("vgpu:h200"), "vgpu-h200");
}

}  // namespace
}  // namespace membound::authoring
