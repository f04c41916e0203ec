// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/course_tree.hpp"
#include "grader/base/files.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace membound::course {
namespace {

using testing::HasSubstr;

Lab lab(std::string id, const std::vector<std::string>& stage_names) {
  Lab lab;
  lab.id = std::move(id);
  for (const std::string& name : stage_names) {
    Stage stage;
    stage.number = static_cast<int>(lab.stages.size()) + 1;
    stage.name = name;
    stage.kernel = "k_" + name;
    lab.stages.push_back(stage);
  }
  return lab;
}

Course sample() {
  return {"",
          {lab("01-reverse-array", {"direct", "shared"}),
           lab("03-transpose", {"row", "tiled", "padded", "fast"}), lab("04-reduction", {"tree"}),
           lab("10-readers", {"one"})}};
}

std::string found(std::string_view word) {
  const Course course = sample();
  const auto result = course.find(word);
  return result ? (*result)->id : base::to_string(result.error());
}

std::vector<int> stages(std::string_view word) {
  const Course course = sample();
  const auto result = select(course, word);
  return result ? result->stages : std::vector<int>{};
}

TEST(CourseTree, FindsALabByNumberNameOrUniquePrefix) {
  EXPECT_EQ(found("3"), "03-transpose");
  EXPECT_EQ(found("03"), "03-transpose");
  EXPECT_EQ(found("03-transpose"), "03-transpose");
  EXPECT_EQ(found("transpose"), "03-transpose");
  EXPECT_EQ(found("t"), "03-transpose");
  EXPECT_EQ(found("rev"), "01-reverse-array");
  EXPECT_EQ(found("10"), "10-readers");
}

TEST(CourseTree, NamesTheLabsAnAmbiguousPrefixFits) {
  EXPECT_THAT(found("re"), HasSubstr("fits several labs"));
  EXPECT_THAT(found("re"), HasSubstr("01-reverse-array, 04-reduction, 10-readers"));
}

TEST(CourseTree, SuggestsTheNearestLab) {
  EXPECT_THAT(found("transpsoe"), HasSubstr("there is no lab \"transpsoe\""));
  EXPECT_THAT(found("transpsoe"), HasSubstr("did you mean \"transpose\"?"));
  EXPECT_THAT(found("1234"), HasSubstr("there is no lab"));
  EXPECT_THAT(found(""), HasSubstr("there is no lab"));
}

TEST(CourseTree, SelectsStagesByNumberRangeListAndName) {
  EXPECT_EQ(stages("transpose"), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(stages("transpose/2"), (std::vector<int>{2}));
  EXPECT_EQ(stages("3/2-4"), (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(stages("3/4,1"), (std::vector<int>{1, 4}));
  EXPECT_EQ(stages("3/tiled"), (std::vector<int>{2}));
  EXPECT_EQ(stages("3/pad"), (std::vector<int>{3}));
  EXPECT_EQ(stages("3/k_fast"), (std::vector<int>{4}));
  EXPECT_EQ(stages("labs/03-transpose/"), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(stages("labs/03-transpose/kernel.cu"), (std::vector<int>{1, 2, 3, 4}));
}

TEST(CourseTree, SaysWhichStagesThereAre) {
  const Course course = sample();
  for (const char* wrong : {"3/9", "3/0", "3/4-2", "3/,", "3/2-9", "3/2,,3"}) {
    const auto result = select(course, wrong);
    ASSERT_FALSE(result) << wrong;
    EXPECT_THAT(result.error().expected, HasSubstr("1 row, 2 tiled, 3 padded, 4 fast"));
  }
  EXPECT_THAT(select(course, "3/tilde").error().advice, HasSubstr("\"tiled\""));
}

TEST(CourseTree, JoinsSelectionsOfOneLab) {
  const Course course = sample();
  const auto all = select_all(course, {"3/4", "1", "3/2"});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(all->at(0).stages, (std::vector<int>{2, 4}));
  EXPECT_EQ(all->at(1).lab->id, "01-reverse-array");
}

/// Writes DIR/labs/ID/lab.json with one stage.
void write_lab(const std::filesystem::path& tree, const std::string& id) {
  ASSERT_TRUE(base::write_file(
      tree / "labs" / id / "lab.json",
      "{\n\"id\": \"" + id +
          "\", \"title\": \"T\", \"summary\": \"S\", \"handout\": \"h.md\", \"bound\": "
          "\"bandwidth\",\n"
          "\"sizes\": [\"n\"], \"stages\": [{\"number\": 1, \"name\": \"a\", \"kernel\": \"a\", "
          "\"title\": \"A\", \"points\": 1, \"timed_sizes\": [[4]]}], \"hints\": {}}\n"));
}

TEST(CourseTree, ABrokenLabIsToldAndTheOthersGoOn) {
  const base::ScratchFolder folder("broken-lab");
  write_lab(folder.path(), "01-good");
  ASSERT_TRUE(base::write_file(folder.path() / "labs/02-bad/lab.json", "{\n\"id\": 3}"));
  const auto course = read_course(folder.path());
  ASSERT_TRUE(course);
  ASSERT_EQ(course->labs.size(), 1u);
  ASSERT_EQ(course->broken.size(), 1u);
  for (const char* word : {"2", "bad", "02-bad"})
    EXPECT_THAT(course->find(word).error().where, HasSubstr("02-bad/lab.json:2")) << word;
  EXPECT_TRUE(course->find("good"));
}

TEST(CourseTree, ReadsLabsOfOtherTreesAndKeepsTheirPlace) {
  const base::ScratchFolder folder("other-trees");
  write_lab(folder.path() / "course", "01-ours");
  write_lab(folder.path() / "more", "15-theirs");
  const auto course = read_course(folder.path() / "course", {folder.path() / "more"});
  ASSERT_TRUE(course);
  ASSERT_EQ(course->labs.size(), 2u);
  EXPECT_EQ(course->labs[0].tree, "");
  EXPECT_EQ(course->labs[1].tree, folder.path() / "more");
  const auto none = read_course(folder.path() / "course", {folder.path() / "nowhere"});
  EXPECT_THAT(none.error().where, HasSubstr("nowhere/labs"));
}

TEST(CourseTree, OfTwoLabsOfOneNumberTheSecondIsBroken) {
  const base::ScratchFolder folder("one-number");
  write_lab(folder.path() / "course", "15-ours");
  write_lab(folder.path() / "more", "15-theirs");
  const auto course = read_course(folder.path() / "course", {folder.path() / "more"});
  ASSERT_TRUE(course);
  EXPECT_EQ((*course->find("15"))->id, "15-ours");
  const auto theirs = course->find("15-theirs");
  ASSERT_FALSE(theirs);
  EXPECT_THAT(theirs.error().where, HasSubstr("more/labs/15-theirs/lab.json:2"));
  EXPECT_THAT(theirs.error().found, HasSubstr("is also that of"));
}

TEST(CourseTree, FindsTheRootFromAnyFolderBelow) {
  const base::ScratchFolder folder("root-test");
  const auto& root = folder.path();
  std::filesystem::create_directories(root / "labs" / "03-transpose");
  std::ofstream(root / "CMakePresets.json") << "{}";
  EXPECT_EQ(find_root(root / "labs" / "03-transpose"), std::filesystem::weakly_canonical(root));
  EXPECT_EQ(find_root("/"), std::nullopt);
}

}  // namespace
}  // namespace membound::course
