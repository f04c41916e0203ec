// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// A tiny lab that agrees with itself, written into a folder of the test's own; each test breaks one
// thing and expects the one drift that names it.
#include "grader/authoring/lab_check.hpp"

#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "grader/authoring/handout_check.hpp"
#include "grader/authoring/written_parts.hpp"
#include "grader/base/files.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/course/lab.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kFigure =
    "<svg><style>@media (prefers-color-scheme:dark){}</style><text "
    "font-size=\"11\">a</text></svg>\n";

constexpr const char* kStage = "### Stage 1: copy\n\n";

class DriftTest : public testing::Test {
 protected:
  void SetUp() override {
    lab_.id = "01-copy";
    lab_.stages.push_back({.number = 1, .name = "one", .kernel = "copy", .title = "Copy"});
    lab_.hints["edge"] = {"one", "two", "three"};
    write("labs/01-copy/README.md", "[handout](../../handouts/01-copy/handout.md)\n");
    for (const char* name : {"lab.json", "kernel.cuh", "reference.hpp"}) {
      write(std::string("labs/01-copy/") + name, "\n");
    }
    write("labs/01-copy/test.cpp",
          "LAB_TEST(Copy, CopiesOne) {}\nLAB_TEST_WITH_HINT(Copy, StopsAtTheEdge, \"edge\") {}\n");
    write("labs/01-copy/kernel.cu",
          "// Stage 1: Copy\nvoid copy() {\n  // TODO 1 (about 1 line): what now?\n  // more\n}\n");
    write("solutions/01-copy/kernel.cu", "// Stage 1: Copy\nvoid copy() {\n  work();\n}\n");
    write("solutions/01-copy/NOTES.md", "notes\n");
    for (const std::string name : {"1-a", "1-b", "1-c"})
      write("solutions/01-copy/wrong/" + name + ".cu",
            "// " + name + " fails StopsAtTheEdge\n// Why: it forgets.\nvoid copy();\n");
    write("handouts/01-copy/handout.md",
          "![picture](figures/a.svg)\n<!-- snippet: solutions/01-copy/kernel.cu#stage-1 -->\n"
          "```cpp\nvoid copy() {\n  work();\n}\n```\n" +
              std::string(kStage));
    write("handouts/01-copy/figures/a.svg", kFigure);
  }

  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  std::vector<std::string> drifts() const {
    std::vector<std::string> texts;
    for (const Drift& drift : check_lab(lab_, root_)) texts.push_back(to_string(drift));
    return texts;
  }

  const base::ScratchFolder scratch_{"drift-test"};
  const fs::path& root_ = scratch_.path();
  course::Lab lab_;
};

TEST_F(DriftTest, ALabThatAgreesHasNone) { EXPECT_THAT(drifts(), IsEmpty()); }

TEST_F(DriftTest, AFigureCanBeReadOnADarkPageAndWithoutAGlass) {
  write("handouts/01-copy/figures/a.svg", "<svg><text font-size=\"10.5\">lane</text></svg>\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("figures/a.svg: its colours are those of a light"),
                                    HasSubstr("a label of 10.5 pixels: \"lane\"")));
}

TEST_F(DriftTest, ADrawingInLettersHasItsPictureAndFitsTheTerminal) {
  write("handouts/01-copy/figures/b.txt", "short\n" + std::string(77, '-') + "\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("figures/b.txt: there is no picture of this name"),
                                    HasSubstr("figures/b.txt:2: 77 columns")));
}

TEST_F(DriftTest, AMissingFileIsNamed) {
  fs::remove(root_ / "solutions/01-copy/NOTES.md");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("solutions/01-copy/NOTES.md: the file is missing")));
}

TEST_F(DriftTest, AStrayFileIsNamed) {
  write("labs/01-copy/kernel.cu.orig", "");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("labs/01-copy/kernel.cu.orig: no lab has")));
}

TEST_F(DriftTest, ATodoSaysHowLongItIs) {
  write("labs/01-copy/kernel.cu", "// Stage 1: Copy\nvoid copy() {\n  // TODO: what now?\n}\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("labs/01-copy/kernel.cu:3: this TODO")));
}

TEST_F(DriftTest, EveryStageHasATodo) {
  lab_.stages.push_back({.number = 2, .name = "two", .kernel = "copy_two", .title = "Again"});
  EXPECT_THAT(drifts(), Contains(HasSubstr("stage 2 has no TODO")));
}

TEST_F(DriftTest, SolvingOnlyAddsLines) {
  write("labs/01-copy/kernel.cu",
        "// Stage 1: Copy\nvoid copy() {\n  // TODO 1 (about 1 line): what now?\n  given();\n}\n");
  EXPECT_THAT(drifts(),
              ElementsAre(HasSubstr("kernel.cu:4: the solution lacks this line: given()")));
}

TEST_F(DriftTest, AnAnswerHasNoTodo) {
  write("solutions/01-copy/kernel.cu",
        "// Stage 1: Copy\nvoid copy() {\n  // TODO 1 (about 1 line): what now?\n  work();\n}\n");
  EXPECT_THAT(drifts(), Contains(HasSubstr("solutions/01-copy/kernel.cu:3: this TODO is done")));
}

TEST_F(DriftTest, TheOrderOfLinesCounts) {
  write("solutions/01-copy/kernel.cu", "void copy() {\n// Stage 1: Copy\n  work();\n}\n");
  EXPECT_THAT(drifts(), Contains(HasSubstr("kernel.cu:2: the solution lacks")));
}

TEST_F(DriftTest, AHintOfATestIsInLabJson) {
  lab_.hints.clear();
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("the hint \"edge\" is not in lab.json")));
}

TEST_F(DriftTest, AHintHasThreeTiers) {
  lab_.hints["edge"].pop_back();
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("the hint \"edge\" has 2 tiers")));
}

TEST_F(DriftTest, ABarNamesACounterThatIsNoModel) {
  lab_.stages[0].counters = {{"local_load_requests", 0, "", "edge"},
                             {"shared_wavefronts", 1, "ideal_shared_wavefronts", "edge"},
                             {"threads", 512, "multiprocessors", "edge"}};
  EXPECT_THAT(drifts(), IsEmpty());
  lab_.stages[0].counters = {{"locel_loads", 0, "", "edge"},
                             {"threads", 1, "dram_read_bytes", "edge"},
                             {"threads", 1, "", "edges"}};
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("nothing that is counted is called \"locel_loads\""),
                                    HasSubstr("the counter \"dram_read_bytes\" is modelled"),
                                    HasSubstr("there is no hint \"edges\"")));
}

TEST_F(DriftTest, AWrongAnswerNamesAnExistingTest) {
  write("solutions/01-copy/wrong/1-a.cu", "// 1-a fails Nothing\n// Why: so.\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("1-a.cu:1: no test is called \"Nothing\"")));
}

TEST_F(DriftTest, AWrongAnswerIsNamedAfterItsStage) {
  write("solutions/01-copy/wrong/2-a.cu", "// 2-a fails StopsAtTheEdge\n// Why: so.\nint a;\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("2-a.cu:1: 2-a is named after no stage of the lab")));
  fs::remove(root_ / "solutions/01-copy/wrong/2-a.cu");
  write("solutions/01-copy/wrong/stage-1.patch", "a line\n");
  EXPECT_THAT(drifts(),
              ElementsAre(HasSubstr("solutions/01-copy/wrong/stage-1.patch:1: \"a line\"")));
}

TEST_F(DriftTest, AWrongAnswerSaysWhy) {
  write("solutions/01-copy/wrong/1-a.cu", "// 1-a fails StopsAtTheEdge\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("1-a.cu:1: 1-a does not say why")));
}

TEST_F(DriftTest, AWrongAnswerSaysHowItEndsOnAGpuWhichDoesNotRunItsTest) {
  write("labs/01-copy/test.cpp",
        "LAB_TEST_WITH_HINT(Copy, StopsAtTheEdge, \"edge\") {}\n"
        "LAB_TEST_AFTER_TIMING(Copy, FarOut, \"edge\") { EXPECT_TRUE(far_blocks({1}, \"\")); }\n");
  const std::string head = "// 1-a fails FarOut\n// Why: so.\n";
  write("solutions/01-copy/wrong/1-a.cu", head);
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("1-a.cu:1: a GPU does not run the test FarOut")));
  write("solutions/01-copy/wrong/1-a.cu", head + "// On a GPU: passes\n");
  EXPECT_THAT(drifts(), IsEmpty());
}

TEST_F(DriftTest, AWrongAnswersPatchApplies) {
  const std::string head = "# 1-a fails StopsAtTheEdge\nWhy: it forgets.\n";
  fs::remove(root_ / "solutions/01-copy/wrong/1-a.cu");
  write("solutions/01-copy/wrong/stage-1.patch", head + "@@ -3 +3 @@\n-  work();\n+  forget();\n");
  EXPECT_THAT(drifts(), IsEmpty());
  write("solutions/01-copy/wrong/stage-1.patch", head + "@@ -3 +3 @@\n-  wrok();\n+  forget();\n");
  EXPECT_THAT(drifts(),
              Contains(HasSubstr("solutions/01-copy/wrong/stage-1.patch:4: line 3 of the old "
                                 "text is \"  work();\"")));
}

TEST_F(DriftTest, AConstantOfTheContractStandsOnce) {
  const std::string tests = *base::read_file(root_ / "labs/01-copy/test.cpp");
  write("labs/01-copy/kernel.cuh",
        "inline constexpr int kThreads = 256;  // kOwn = 1;\nconstexpr unsigned kAll = 0xffu;\n");
  for (const char* name : {"test.cpp", "program_test.cpp", "reference.hpp", "oracle.cpp"}) {
    const std::string file = std::string("labs/01-copy/") + name;
    const std::string first = name == std::string("test.cpp") ? tests : "\n\n";
    write(file, first + "constexpr std::int64_t kOwn = 7;\nif (n == kThreads) ++n;\n");
    EXPECT_THAT(drifts(), Not(Contains(HasSubstr("in kernel.cuh")))) << name;
    write(file, first + "  constexpr std::size_t kOwn = 7, kThreads = 256;\n");
    EXPECT_THAT(drifts(), Contains(AllOf(HasSubstr(file + ":3: kThreads stands here and in "),
                                         HasSubstr("labs/01-copy/kernel_constants.hpp"))));
    write(file, first);
  }
}

TEST_F(DriftTest, AMistakeIsShort) {
  std::string text = "// 1-a fails StopsAtTheEdge\n// Why: it forgets.\n";
  for (int line = 0; line < 40; ++line) text += "int a;\n";
  write("solutions/01-copy/wrong/1-a.cu", text);
  EXPECT_THAT(drifts(), IsEmpty());
  write("solutions/01-copy/wrong/1-a.cu", text + "int a;\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("1-a.cu:1: the mistake of 1-a takes 41 lines")));
}

TEST_F(DriftTest, AFileThatIsNoWrongAnswerIsNamed) {
  write("solutions/01-copy/wrong/1-a.patch.orig", "");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("1-a.patch.orig: no wrong answer is such a file")));
}

TEST_F(DriftTest, AStageHasThreeWrongAnswers) {
  fs::remove(root_ / "solutions/01-copy/wrong/1-a.cu");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("stage 1 has 2 wrong answers")));
}

TEST_F(DriftTest, ALinkLeadsSomewhere) {
  write("labs/01-copy/README.md", "line\n[x](gone.md)\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("README.md:2: the link to gone.md leads nowhere")));
}

TEST_F(DriftTest, AnExperimentHasItsKernelItsSectionAndItsCommand) {
  const auto table = [](const std::string& section) {
    return R"([{"name": "strides", "title": "t", "section": ")" + section +
           R"(", "file": "strides.cu", "kernel": "k", "axis": "x", "unit": "GB/s",
             "sizes": {"gpu": 4, "vgpu": 4}, "amount": {"each": 8, "power": 1},
             "points": [{"x": 1}, {"x": 2}]}])";
  };
  write("handouts/01-copy/experiments.json", table("Strides"));
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("strides.cu: the file is missing"),
                                    HasSubstr("stands in no section \"Strides\""),
                                    HasSubstr("does not say how strides is run")));
  write("handouts/01-copy/strides.cu", "\n");
  write("handouts/01-copy/handout.md",
        "![picture](figures/a.svg)\n### Strides\n\n./membound experiment strides-wrapped\n" +
            std::string(kStage));
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("does not say how strides is run")));
  write("handouts/01-copy/handout.md",
        "![picture](figures/a.svg)\n### Strides\n\n`./membound experiment strides`\n" +
            std::string(kStage));
  EXPECT_THAT(drifts(), IsEmpty());
  write("handouts/01-copy/experiments.json", "[{]");
  EXPECT_THAT(drifts(), testing::Contains(HasSubstr("handouts/01-copy/experiments.json")));
}

TEST_F(DriftTest, AHintSaysSomethingToEveryStage) {
  lab_.hints["edge"][2] = "Stage 2: the line.";
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("\"edge\" says nothing to stage 1")));
  lab_.hints["edge"][2] = "The line. Stage 2: another one.";
  EXPECT_THAT(drifts(), IsEmpty());
}

TEST_F(DriftTest, ATaskPageTellsTheBars) {
  lab_.stages[0].counters = {{"shared_wavefronts", 1.1, "ideal_shared_wavefronts", "edge"},
                             {"shared_bytes_of_a_block", 4096, "", "edge"}};
  const auto parts = bar_parts(lab_);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].page, "labs/01-copy/README.md");
  EXPECT_THAT(parts[0].text,
              HasSubstr("| 1 | 0.75 | 0.9 | 1.1 shared wavefronts for each of its ideal "
                        "shared wavefronts; 4096 shared bytes of a block |\n"));
  lab_.stages[0].kind = &course::kProgramStage;
  EXPECT_THAT(bar_parts(lab_), IsEmpty());
}

TEST_F(DriftTest, AFigureIsWellFormed) {
  write("handouts/01-copy/figures/a.svg", "<svg><g></svg>");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("a.svg: ")));
}

TEST_F(DriftTest, AFigureIsShown) {
  write("handouts/01-copy/figures/b.svg", kFigure);
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("b.svg: no page shows this figure")));
}

TEST_F(DriftTest, AHandoutShowsItsPictureBeforeItsIdea) {
  const auto with = [&](const std::string& headings) {
    write("handouts/01-copy/handout.md",
          "![picture](figures/a.svg)\n" + std::string(kStage) + headings);
    return drifts();
  };
  EXPECT_THAT(with("## The picture\n## The idea\n## The lab\n## After you are done\n"), IsEmpty());
  EXPECT_THAT(with("## The idea\n## The lab\n"), IsEmpty());
  EXPECT_THAT(with("## The idea\n\n## The picture\n"),
              ElementsAre(testing::AllOf(HasSubstr("handout.md:6: \"## The picture\" stands below"),
                                         HasSubstr("The idea"))));
}

TEST_F(DriftTest, ANotebookCanBeMade) {
  write("handouts/01-copy/handout.md", "![picture](figures/a.svg)\n### Copying\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("handout.md: no section \"### Stage 1: …\"")));
}

TEST_F(DriftTest, ASnippetThatDriftedIsFoundAndMended) {
  write("solutions/01-copy/kernel.cu", "// Stage 1: Copy\nvoid copy() {\n  better();\n}\n");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("handout.md:2: the code differs")));
  const fs::path handout = root_ / "handouts/01-copy/handout.md";
  EXPECT_EQ(*fix_snippets(root_, handout), 1);
  EXPECT_THAT(drifts(), IsEmpty());
  EXPECT_EQ(*fix_snippets(root_, handout), 0);
}

/// The same lab about a program.
class HostLabDriftTest : public DriftTest {
 protected:
  void SetUp() override {
    DriftTest::SetUp();
    lab_.stages[0].kind = &course::kProgramStage;
    fs::remove(root_ / "labs/01-copy/test.cpp");
    lab_.stages[0].calls = {{course::find_call_rule("frees-memory"), 0}};
    write("labs/01-copy/program_test.cpp",
          "const Pair kOther = {\"Elsewhere\", \"x\", 1};\n"
          "const std::vector<HostTest> kTests = {\n    {\"CopiesOne\", \"\", [](ProgramTest& test) "
          "{}},\n"
          "    {\"StopsAtTheEdge\", \"edge\", [](ProgramTest& test) {}}};\n");
  }
  void write_failing(const std::string& test) {
    write("solutions/01-copy/wrong/1-a.cu",
          "// 1-a fails " + test + "\n// Why: it forgets.\nint main();\n");
  }
};

TEST_F(HostLabDriftTest, ALabThatAgreesHasNone) { EXPECT_THAT(drifts(), IsEmpty()); }

TEST_F(HostLabDriftTest, MayDoWithoutWhatTwoTestProgramsShare) {
  fs::remove(root_ / "labs/01-copy/reference.hpp");
  EXPECT_THAT(drifts(), IsEmpty());
}

TEST_F(HostLabDriftTest, ADemandIsATestThatAWrongAnswerMayFail) {
  write_failing("FreesItsMemory");
  EXPECT_THAT(drifts(), IsEmpty());
  write_failing("UsesItsStreams");  // which no stage demands
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("no test is called \"UsesItsStreams\"")));
}

TEST_F(HostLabDriftTest, HasNoTestOfAKernelAlone) {
  write_failing("ReachesItsBar");
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("no test is called \"ReachesItsBar\"")));
}

TEST_F(HostLabDriftTest, AHintThatARowNamesIsThere) {
  lab_.hints.clear();
  EXPECT_THAT(drifts(), ElementsAre(HasSubstr("the hint \"edge\" is not in lab.json")));
}

TEST(CourseAtAGlance, AddsUpTheMinutesOfTheNotes) {
  EXPECT_EQ(minutes_in("# Notes\n\n## Minutes\n\n20 for the handout, 15 each for stages 1 and 2,\n"
                       "10 for 3.\n\n## To discuss\n\n99 for nothing.\n"),
            60);
  EXPECT_EQ(minutes_in("# Notes\n"), 0);
}

TEST(CourseAtAGlance, SyllabiGiveOutAHundredMarks) {
  for (const int weeks : {6, 12}) {
    EXPECT_EQ(syllabus(weeks).size(), static_cast<std::size_t>(weeks));
    int marks = 0;
    for (const SyllabusWeek& week : syllabus(weeks)) marks += week.marks;
    EXPECT_EQ(marks, 100) << weeks;
  }
}

TEST(CourseAtAGlance, TwelveWeeksHaveEveryLab) {
  const auto course = course::read_course(MEMBOUND_SOURCE_DIR, {});
  ASSERT_TRUE(course);
  for (const course::Lab& lab : course->labs)
    EXPECT_TRUE(std::ranges::any_of(syllabus(12), [&](const SyllabusWeek& week) {
      return std::ranges::find(week.labs, std::string_view(lab.id).substr(0, 2)) != week.labs.end();
    })) << lab.id;
}

}  // namespace
}  // namespace membound::authoring
