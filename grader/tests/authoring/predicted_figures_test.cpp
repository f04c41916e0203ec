// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// A page of two figures and a row about them, written into a folder of the test's own.
#include "grader/authoring/predicted_figures.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"

namespace membound::authoring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PredictedFigures : public testing::Test {
 protected:
  void SetUp() override {
    write("# A page\n\nIt reaches 1,045 GB/s,\n0.24 of the last, in 992 turns.\n");
  }
  void write(const std::string& text) {
    ASSERT_TRUE(base::write_file(folder_.path() / "page.md", text));
  }
  std::string page() { return *base::read_file(folder_.path() / "page.md"); }
  std::vector<std::string> drifts(const SaidFigures& said, bool all = true, bool fix = false) {
    std::vector<std::string> texts;
    for (const Drift& drift :
         check_predicted({{7, "00-lab", "vgpu:h200", "", "page.md", text_}}, said, all,
                         "membound dev check --run --fix", folder_.path(), fix))
      texts.push_back(to_string(drift));
    return texts;
  }

  base::ScratchFolder folder_{"predicted"};
  std::string text_ = "reaches {2.gbs} GB/s, {2.gbs / 3.gbs} of the last, in {2.answer} turns";
  SaidFigures said_ = {
      {"2.gbs", {1045, false}}, {"3.gbs", {4280, false}}, {"2.answer", {992, true}}};
};

TEST_F(PredictedFigures, AgreeWithWhatWasSaid) { EXPECT_THAT(drifts(said_), IsEmpty()); }

TEST_F(PredictedFigures, MayLieThreePercentApart) {
  said_["2.gbs"].value = 1045 * 1.029;
  said_["3.gbs"].value = 4280 * 1.029;
  EXPECT_THAT(drifts(said_), IsEmpty());
}

TEST_F(PredictedFigures, FurtherApartAreToldWithLineFigureAndCommand) {
  said_["2.gbs"].value = 1100;
  said_["3.gbs"].value = 1100 / 0.24;
  EXPECT_THAT(drifts(said_), ElementsAre("page.md:3: 1,045 where vgpu:h200 says 1,100 (2.gbs)\n"
                                         "  expected: a prediction within 3 %\n"
                                         "  try: membound dev check --run --fix"));
}

TEST_F(PredictedFigures, ACountIsWhatItsDigitsShow) {
  said_["2.answer"].value = 993;
  EXPECT_THAT(drifts(said_), ElementsAre(HasSubstr("page.md:4: 992 where vgpu:h200 says 993")));
}

TEST_F(PredictedFigures, AreWrittenWithTheDigitsThatThePageHas) {
  said_["2.gbs"].value = 12345.6;
  EXPECT_THAT(drifts(said_, true, true), IsEmpty());
  EXPECT_EQ(page(), "# A page\n\nIt reaches 12,346 GB/s,\n2.88 of the last, in 992 turns.\n");
}

TEST_F(PredictedFigures, AQuotientMayBeInPercentAndHaveANumber) {
  write("24 % of it in 2 ms\n");
  text_ = "{2.gbs / 3.gbs %} % of it in {2.answer / 496} ms";
  EXPECT_THAT(drifts(said_), IsEmpty());
}

TEST_F(PredictedFigures, ATextThatDoesNotStandOnThePageIsTold) {
  text_ = "arrives at {2.gbs} GB/s";
  EXPECT_THAT(
      drifts({}, false),
      ElementsAre(HasSubstr("handouts/predicted.csv:7: \"arrives at {2.gbs} GB/s\" does not "
                            "stand in page.md")));
}

TEST_F(PredictedFigures, ANumberOfAnotherRowMayBeAny) {
  text_ = "reaches {} GB/s, {2.gbs / 3.gbs} of the last";
  EXPECT_THAT(drifts({{"2.gbs", {24, false}}, {"3.gbs", {100, false}}}), IsEmpty());
}

TEST_F(PredictedFigures, ATextWithoutAFigureIsTold) {
  text_ = "It reaches";
  EXPECT_THAT(drifts({}, false), ElementsAre(HasSubstr("does not stand in page.md")));
}

TEST_F(PredictedFigures, ANameThatNothingSaidIsToldWhereAllWasRun) {
  said_.erase("2.answer");
  EXPECT_THAT(drifts(said_, false), IsEmpty());
  EXPECT_THAT(drifts(said_), ElementsAre(HasSubstr("\"2.answer\" was not said by any run")));
}

TEST(PredictedFiguresOfOutput, AreTheNumbersBehindTheWordsOfALine) {
  const SaidFigures said =
      lines_of_output("two events   0.0079   1,592\n  24  7.58\nno number\n42\n");
  EXPECT_EQ(said.size(), 3U);
  EXPECT_EQ(said.at("two events:1").value, 0.0079);
  EXPECT_EQ(said.at("two events:2").value, 1592);
  EXPECT_EQ(said.at("24:1").value, 7.58);
}

TEST(PredictedFiguresOfACheck, AreItsSpeedItsCasesItsBoundsAndItsRequests) {
  course::StageResult stage;
  stage.speed = 2e9;
  stage.answer = 4;
  stage.notes = {"its work takes 0.346 ms"};
  course::Timing timing;
  timing.label = "n = 8";
  timing.useful_bytes = 6e3;
  timing.student_median_ns = 2e3;
  stage.timings = {timing};
  course::KernelProfile profile;
  profile.bounds = {{"latency", 1500}};
  stage.profiles = {profile};
  stage.source_lines = {{"k.cu", 1, "", "store", "sectors", 30, 4, 4},
                        {"k.cu", 2, "", "store", "sectors", 10, 8, 4}};
  const SaidFigures said = figures_of("2", stage);
  EXPECT_EQ(said.at("2.gbs").value, 2);
  EXPECT_EQ(said.at("2.gbs of n = 8").value, 3);
  EXPECT_EQ(said.at("2.us").value, 2);
  EXPECT_EQ(said.at("2.us of latency").value, 1.5);
  EXPECT_EQ(said.at("2.sectors a store").value, 5);
  EXPECT_TRUE(said.at("2.answer").counted);
  EXPECT_FALSE(said.at("2.gbs").counted);
  EXPECT_EQ(said.at("2 its work takes:1").value, 0.346);
}

}  // namespace
}  // namespace membound::authoring
