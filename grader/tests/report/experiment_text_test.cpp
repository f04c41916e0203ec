// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/experiment_text.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

namespace membound::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Three points; the first and the last with a printed figure.
course::ExperimentRun some_run() {
  course::ExperimentRun run;
  run.experiment.name = "strides";
  run.experiment.title = "A copy, lanes 1, 2, 4, … words apart";
  run.experiment.lab = "02-coalescing";
  run.experiment.section = "The granularity table";
  run.experiment.axis = "words apart";
  run.experiment.unit = "GB/s";
  run.experiment.document_unit = "GB/s";
  run.experiment.document = "a book";
  run.device = "vgpu:h200";
  run.predicted = true;
  run.size = 1024;
  run.times = {{{1, "in order", 1, 256.0}, 1000, 2000},
               {{2, "2", 1, {}}, 2000, 1000},
               {{4, "4", 1, 64.0}, 4000, 500}};
  return run;
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0, width = 0;
  for (const char letter : text) {
    if (letter == '\n')
      width = 0;
    else if ((static_cast<unsigned char>(letter) & 0xc0) != 0x80)
      ++width;
    most = std::max(most, width);
  }
  return most;
}

TEST(ExperimentText, PutsWhatWasPrintedBesideWhatWasFound) {
  EXPECT_EQ(render_experiment(some_run(), Style{}),
            "strides: A copy, lanes 1, 2, 4, … words apart\n"
            "vgpu:h200, n = 1,024, predicted\n"
            "\n"
            "words apart   GB/s     time  printed, GB/s  share of the largest\n"
            "in order     2,000  1.00 us            256  #######################o\n"
            "2            1,000  2.00 us              -  ############\n"
            "4              500  4.00 us           64.0  #####o\n"
            "\n"
            "# here, o printed, each as a share of its own largest\n"
            "printed: a book\n"
            "handout 02-coalescing, \"The granularity table\"\n");
}

TEST(ExperimentText, FitsTheTerminalAndHasNoColourUnlessAsked) {
  for (const int width : {80, 60, 40}) {
    const std::string text = render_experiment(some_run(), {.unicode = true, .width = width});
    EXPECT_LE(widest(text), static_cast<std::size_t>(width)) << text;
    EXPECT_THAT(text, AllOf(HasSubstr("█"), HasSubstr("◆"), Not(HasSubstr("\x1b"))));
  }
  EXPECT_THAT(render_experiment(some_run(), {.colour = true}), HasSubstr("\x1b["));
}

TEST(ExperimentText, OnePrintedFigureIsNoCurve) {
  course::ExperimentRun run = some_run();
  run.times[0].point.printed.reset();
  const std::string text = render_experiment(run, Style{});
  EXPECT_THAT(text, AllOf(HasSubstr("64.0"), Not(HasSubstr("o printed")), HasSubstr("######\n")));
  EXPECT_THAT(experiment_picture(run), Not(HasSubstr("dashed")));
}

TEST(ExperimentText, WithoutADocumentThereIsNoColumnOfIt) {
  course::ExperimentRun run = some_run();
  for (course::ExperimentTime& time : run.times) time.point.printed.reset();
  run.experiment.document.clear();
  EXPECT_THAT(render_experiment(run, Style{}), Not(HasSubstr("printed")));
  EXPECT_THAT(experiment_page(run), AllOf(Not(HasSubstr("printed,")), Not(HasSubstr("printed:"))));
}

TEST(ExperimentText, APointThatTookNoTimeHasNoBar) {
  course::ExperimentRun run = some_run();
  for (course::ExperimentTime& time : run.times) time.rate = 0;
  EXPECT_THAT(render_experiment(run, Style{}), Not(HasSubstr("#\n")));
}

TEST(ExperimentText, ThePictureHasBothCurves) {
  const std::string svg = experiment_picture(some_run());
  // The printed curve leaves out the point that has no printed figure.
  const auto corners = [&](const std::string& look) {
    const std::regex curve("<path d=\"([^\"]*)\" class=\"mb-" + look + "\"");
    std::smatch path;
    EXPECT_TRUE(std::regex_search(svg, path, curve)) << look;
    const std::string steps = path[1];
    return std::count_if(steps.begin(), steps.end(), [](char c) { return c == 'M' || c == 'L'; });
  };
  EXPECT_EQ(corners("ours"), 3);
  EXPECT_EQ(corners("printed"), 2);
}

TEST(ExperimentText, ThePageAndTheJsonHoldEveryPoint) {
  const std::string page = experiment_page(some_run());
  EXPECT_THAT(page, AllOf(HasSubstr("<th scope=\"row\">in order</th>"), HasSubstr(">2,000<"),
                          HasSubstr("printed: a book"), Not(HasSubstr("src="))));
  const nlohmann::json json = experiment_json(some_run());
  ASSERT_EQ(json.at("rows").size(), 3u);
  EXPECT_EQ(json.at("rows")[0].at("rate"), 2000);
  EXPECT_EQ(json.at("rows")[0].at("printed"), 256);
  EXPECT_TRUE(json.at("rows")[1].at("printed").is_null());
}

TEST(ExperimentText, TheListNamesEachOnce) {
  EXPECT_EQ(render_experiments({some_run().experiment}, Style{}),
            "experiment  what is timed                         handout\n"
            "strides     A copy, lanes 1, 2, 4, … words apart  02-coalescing\n");
}

}  // namespace
}  // namespace membound::report
