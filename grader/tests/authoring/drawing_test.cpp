// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/figure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <set>

#include "grader/authoring/drawing_board.hpp"
#include "grader/authoring/figure.hpp"
#include "grader/base/files.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kHead = "title: A title\ndesc: What it shows\nsize: [200, 100]\n";

/// The body of a picture; or the message.
std::string drawn(const std::string& statements) {
  const auto svg = draw_description(kHead + "draw:\n" + statements, "a.yml", ".");
  if (!svg) return base::to_string(svg.error());
  const std::size_t page = svg->find("mb-page\"/>");
  return svg->substr(page + 11);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(Drawing, StartsWithItsTitleAndItsColoursOfTwoPages) {
  const auto svg = draw_description(kHead + "draw: [{box: {at: [0, 0], size: [9, 9], look: lane}}]",
                                    "a.yml", ".");
  ASSERT_TRUE(svg) << base::to_string(svg.error());
  EXPECT_THAT(*svg, HasSubstr("<title>A title</title>\n  <desc>What it shows</desc>"));
  EXPECT_THAT(*svg, HasSubstr(".mb-lane-box{fill:#d3e4f5;stroke:#2f6fb0}"));
  EXPECT_THAT(*svg, HasSubstr("@media screen and (prefers-color-scheme:dark){\n"
                              "    .mb-lane-box{fill:#1d3a57"));
  EXPECT_THAT(*svg, Not(HasSubstr("mb-moved")));
}

TEST(Drawing, HasText) {
  const std::string svg =
      drawn("- text: {at: [20, 30], is: [one, two], look: moved bold, step: 15}\n");
  EXPECT_THAT(svg, HasSubstr("<text x=\"20\" y=\"30\" font-size=\"12\" text-anchor=\"start\" "
                             "class=\"mb-moved-text mb-bold\">one</text>"));
  EXPECT_THAT(svg, HasSubstr("y=\"45\""));
}

TEST(Drawing, HasBoxesWithTextsInTheirMiddle) {
  const std::string svg =
      drawn("- box: {at: [10, 10], size: [80, 20], look: result full, is: done, round: 3}\n");
  EXPECT_THAT(svg, HasSubstr("<rect x=\"10\" y=\"10\" width=\"80\" height=\"20\" rx=\"3\" "
                             "class=\"mb-result-text\"/>"));
  EXPECT_THAT(svg, HasSubstr("<text x=\"50\" y=\"24.32\""));
  EXPECT_THAT(svg, HasSubstr("class=\"mb-onfull-text\">done"));
}

TEST(Drawing, HasGridsWithLooksAndTextsByRule) {
  const std::string svg = drawn(
      "- grid: {at: [0, 0], cells: [3, 2], cell: [30, 20], gap: [5, 0], look: idle,\n"
      "         looks: {lane: col == 1, fault: i == 4}, is: \"{row},{col}\", only: i != 5}\n");
  EXPECT_EQ(count(svg, "mb-idle-box"), 3U);
  EXPECT_EQ(count(svg, "mb-lane-box"), 1U);
  EXPECT_EQ(count(svg, "mb-fault-box"), 1U);
  EXPECT_THAT(svg, HasSubstr("x=\"35\" y=\"20\" width=\"30\""));
  EXPECT_THAT(svg, HasSubstr("mb-ink-text\">1,1</text>"));
  EXPECT_THAT(svg, HasSubstr("mb-faint-text\">0,2</text>"));
}

TEST(Drawing, HasLinesAndArrowsThatEndAtTheirHead) {
  const std::string svg = drawn(
      "- line: {through: [[0, 0], [10, 5], [20, 0]], look: rule dashed}\n"
      "- arrow: {from: [10, 50], to: [60, 50], look: fault}\n");
  EXPECT_THAT(svg, HasSubstr("<path d=\"M0 0L10 5L20 0\" class=\"mb-rule-line mb-dashed\"/>"));
  EXPECT_THAT(svg, HasSubstr("<path d=\"M60 50L52 53.7L52 46.3z\" class=\"mb-fault-text\"/>"));
  EXPECT_THAT(svg, HasSubstr("x2=\"52\" y2=\"50\" class=\"mb-fault-line\""));
}

TEST(Drawing, HasCirclesAndLegends) {
  const std::string svg = drawn(
      "- circle: {at: [20, 20], radius: 12, look: lane, is: \"0\"}\n"
      "- legend: {at: [10, 80], items: {lane full: sent, idle: waits}}\n");
  EXPECT_THAT(svg, HasSubstr("<circle cx=\"20\" cy=\"20\" r=\"12\" class=\"mb-lane-box\"/>"));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"10\" y=\"70\" width=\"12\" height=\"12\" "
                             "class=\"mb-lane-text\"/>"));
  EXPECT_LT(svg.find(">sent<"), svg.find(">waits<"));
}

TEST(Drawing, HasAxesAndSpans) {
  const auto svg = draw_description(
      kHead +
          "scales: {X: {pixels: [20, 180], values: [1, 16], log: yes}}\n"
          "draw:\n- axis: {scale: X, at: 60, ticks: [1, 4, 16], labels: [one, four]}\n"
          "- span: {from: [X(1), 20], to: [X(4), 20], is: a while}\n",
      "a.yml", ".");
  ASSERT_TRUE(svg) << base::to_string(svg.error());
  EXPECT_THAT(*svg, HasSubstr("<line x1=\"100\" y1=\"60\" x2=\"100\" y2=\"64\""));
  EXPECT_THAT(*svg, HasSubstr(">four</text>"));
  EXPECT_THAT(*svg, HasSubstr(">16</text>"));
  EXPECT_THAT(*svg, HasSubstr("<line x1=\"20\" y1=\"20\" x2=\"100\" y2=\"20\""));
}

TEST(Drawing, RepeatsMovesAndLeavesOut) {
  const std::string svg = drawn(
      "- each: [{y: 10, look: lane}, {y: 50, look: moved}]\n"
      "  repeat: {a: 2, b: 2}\n"
      "  set: {x: 20 * a + 50 * b}\n"
      "  when: a + b < 2\n"
      "  move: [0, y]\n"
      "  draw:\n    - box: {at: [x, 0], size: [9, 9], look: \"{look}\"}\n");
  EXPECT_EQ(count(svg, "mb-lane-box"), 3U);
  EXPECT_THAT(svg, HasSubstr("<rect x=\"50\" y=\"50\" width=\"9\" height=\"9\" class=\"mb-moved"));
}

TEST(Drawing, HasPicturesThatAPagePlaysInTurn) {
  const std::string svg = drawn(
      "- repeat: {t: 3}\n  step: t == 1\n  draw: [{text: {at: [20, 30], is: \"time {t}\"}}]\n");
  EXPECT_EQ(count(svg, "<g class=\"mb-step\" display=\"none\">"), 2U);
  EXPECT_EQ(count(svg, "<g class=\"mb-step\">\n  <g class=\"mb-turn\">"), 1U);
  EXPECT_EQ(count(svg, "<g "), count(svg, "</g>"));
  EXPECT_THAT(drawn("- {step: 1, draw: [{step: 1, draw: []}]}\n"), HasSubstr("a step in a step"));
  EXPECT_THAT(drawn("- text: {at: [20, 30], is: one}\n"
                    "- {step: 1, draw: [{text: {at: [30, 33], is: two}}]}\n"),
              HasSubstr("runs into"));
}

TEST(Drawing, TakesFactsFromTables) {
  const auto with = [](const std::string& row) {
    const auto svg = draw_description(
        kHead + "facts: {ns: {table: handouts/memory_latency.csv, row: " + row +
            ", column: idle_cycles}}\ndraw: [{text: {at: [9, 20], is: \"{ns} and {2 * ns}\"}}]\n",
        "a.yml", MEMBOUND_SOURCE_DIR);
    return svg ? *svg : base::to_string(svg.error());
  };
  const auto table = base::read_file(MEMBOUND_SOURCE_DIR "/handouts/memory_latency.csv");
  ASSERT_TRUE(table);
  std::smatch cycles;
  ASSERT_TRUE(std::regex_search(*table, cycles, std::regex("\nL1,[^,]*,([0-9]+),")));
  const int twice = 2 * std::stoi(cycles[1]);
  EXPECT_THAT(with("L1"), HasSubstr(cycles[1].str() + " and " + std::to_string(twice) + "<"));
  EXPECT_THAT(with("L7"), HasSubstr("a.yml:4: handouts/memory_latency.csv has no \"L7\""));
}

TEST(Drawing, SaysWhereItsDescriptionIsWrong) {
  EXPECT_THAT(drawn("- box: {at: [0, 0], size: [9, 9], colour: red}\n"),
              HasSubstr("a.yml:5: the field \"colour\" of box\n  expected: at, is, look, round, "));
  EXPECT_THAT(drawn("- box: {at: [0, 0], size: [9, 9], look: red}\n"),
              HasSubstr("a.yml:5: the colour \"red\"\n  expected: first a role: lane, moved"));
  EXPECT_THAT(drawn("- box: {at: [0, 0], size: [9, 9], look: lane bold}\n"),
              HasSubstr("\"bold\" in the look of a box"));
  EXPECT_THAT(drawn("- box: {size: [9, 9]}\n"), HasSubstr("a.yml:5: box without \"at\""));
  EXPECT_THAT(drawn("- box: {at: [0], size: [9, 9]}\n"), HasSubstr("expected: [x, y]"));
  EXPECT_THAT(drawn("- cube: {at: [0, 0]}\n"), HasSubstr("the field \"cube\" of statement"));
  EXPECT_THAT(drawn("- repeat: {i: 3}\n"), HasSubstr("a statement of 0 shapes"));
  EXPECT_THAT(drawn("- line: {from: [x, 0], to: [1, 1]}\n"), HasSubstr("the unknown name x"));
  EXPECT_THAT(drawn("- grid: {at: [0, 0], cells: [2, 1], cell: [9, 9], of: [a]}\n"),
              HasSubstr("1 text\n  expected: one for each cell: 2"));
  EXPECT_THAT(drawn("- grid: {at: [0, 0], cells: [99, 99], cell: [1, 1]}\n"),
              HasSubstr("a grid of 9,801 cells"));
  EXPECT_THAT(drawn("- axis: {scale: X, at: 0, ticks: [1]}\n"), HasSubstr("axis of the scale"));
  EXPECT_THAT(drawn("- arrow: {from: [0, 0], to: [3, 3]}\n"), HasSubstr("shorter than its head"));
  EXPECT_THAT(drawn("- repeat: {a: 999, b: 999}\n  line: {from: [0, 0], to: [1, 1]}\n"),
              HasSubstr("too much to draw"));
  EXPECT_THAT(drawn("- [}\n"), HasSubstr("a.yml:5: "));
  EXPECT_THAT(drawn("- {each: 3, box: {at: [0, 0], size: [9, 9]}}\n"),
              HasSubstr("a.yml:5: \"each\" is no list"));
  EXPECT_THAT(drawn("- {repeat: 3, box: {at: [0, 0], size: [9, 9]}}\n"),
              HasSubstr("a.yml:5: \"repeat\" is no map"));
  EXPECT_THAT(drawn("- grid: {at: [0, 0], cells: [2, 1], cell: [9, 9], of: 3}\n"),
              HasSubstr("a.yml:5: \"of\" is no list"));
  EXPECT_THAT(drawn("- {each: [3], box: {at: [0, 0], size: [9, 9]}}\n"),
              HasSubstr("a.yml:5: a row that is no map"));
  EXPECT_THAT(base::to_string(draw_description("size: [1, 1]\ndraw: []\n", "a.yml", ".").error()),
              HasSubstr("figure without \"title\""));
}

TEST(Drawing, HasNoTextThatCannotBeRead) {
  EXPECT_THAT(drawn("- text: {at: [20, 30], is: lane, size: 10.5}\n"),
              HasSubstr("a label of 10.5 pixels: \"lane\"\n  expected: 11 pixels or more"));
  EXPECT_THAT(drawn("- text: {at: [150, 30], is: much too long for this}\n"),
              HasSubstr("leaves the picture"));
  EXPECT_THAT(drawn("- text: {at: [20, 30], is: one}\n- text: {at: [30, 33], is: two}\n"),
              HasSubstr("a.yml:6: the text \"two\" runs into \"one\""));
  EXPECT_THAT(drawn("- box: {at: [0, 0], size: [30, 30], is: wide words}\n"),
              HasSubstr("is wider than its box"));
}

/// All descriptions of the handouts.
std::set<fs::path> descriptions() {
  std::set<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(MEMBOUND_SOURCE_DIR "/handouts"))
    if (entry.path().extension() == ".yml") found.insert(entry.path());
  return found;
}

TEST(DrawingsOfHandouts, HaveColoursOfRolesAlone) {
  const std::regex look(R"re(class="mb-([a-z]+)-(box|line|text)[ a-z-]*")re");
  const std::regex element("<(rect|line|path|circle|text)[ >][^>]*>");
  for (const fs::path& file : descriptions()) {
    const auto svg = base::read_file(fs::path(file).replace_extension(".svg"));
    ASSERT_TRUE(svg);
    const std::string body = svg->substr(svg->find("mb-page\"/>") + 10);
    for (std::sregex_iterator it(body.begin(), body.end(), element), end; it != end; ++it) {
      std::smatch found;
      const std::string shape = it->str();
      ASSERT_TRUE(std::regex_search(shape, found, look)) << file << ": " << shape;
      EXPECT_TRUE(is_role(found[1])) << file << ": " << shape;
      EXPECT_THAT(shape, Not(HasSubstr("#"))) << file;
    }
  }
}

TEST(DrawingsOfHandouts, AreAllThatNoRunMade) {
  std::set<std::string> labs;
  judge::Workplace place;
  place.root = MEMBOUND_SOURCE_DIR;
  for (const auto& entry : fs::directory_iterator(place.root / "handouts")) {
    if (!fs::exists(entry.path() / "figures")) continue;
    course::Lab lab;
    lab.id = entry.path().filename().string();
    labs.insert(lab.id);
    for (const Drift& drift : check_drawings(place, lab, false).drifts)
      ADD_FAILURE() << to_string(drift);
  }
  EXPECT_GE(labs.size(), 10U);
}

/// A course with one described figure, in a folder of its own.
class DriftOfADrawing : public ::testing::Test {
 protected:
  DriftOfADrawing() {
    place_.root = fs::temp_directory_path() / ("membound_drawing_" + std::to_string(::getpid()));
    fs::create_directories(place_.root / "handouts/01-copy/figures");
    lab_.id = "01-copy";
    write("a.yml", kHead + "draw: [{box: {at: [0, 0], size: [9, 9]}}]\n");
  }
  ~DriftOfADrawing() override { fs::remove_all(place_.root); }

  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(base::write_file(place_.root / "handouts/01-copy/figures" / name, text));
  }
  std::vector<std::string> drifts(bool fix = false) {
    std::vector<std::string> all;
    for (const Drift& drift : check_drawings(place_, lab_, fix).drifts)
      all.push_back(to_string(drift));
    return all;
  }

  judge::Workplace place_;
  course::Lab lab_;
};

TEST_F(DriftOfADrawing, IsFoundAndMended) {
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("figures/a.svg: its description says something")));
  EXPECT_THAT(drifts(true), IsEmpty());
  EXPECT_THAT(drifts(), IsEmpty());
  write("a.yml", kHead + "draw: [{box: {at: [0, 0], size: [9, 8]}}]\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("membound dev check --fix")));
}

TEST_F(DriftOfADrawing, IsAFigureDrawnByHand) {
  ASSERT_THAT(drifts(true), IsEmpty());
  write("b.svg", "<svg/>");
  write("c.png", "pixels");
  write("d.svg", "<?membound-figure 01-copy --line 3?>\n<svg/>");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("figures/b.svg: it was drawn by hand"),
                                    HasSubstr("figures/c.png: it was drawn by hand")));
}

TEST_F(DriftOfADrawing, NamesTheLineOfAMistake) {
  write("a.yml", kHead + "draw: [{box: {at: [0, 0]}}]\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("handouts/01-copy/figures/a.yml:4: box without")));
}

}  // namespace
}  // namespace membound::authoring
