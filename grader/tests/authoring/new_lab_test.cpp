// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `membound dev new` writes: six files that agree with one another, and nothing where the
/// name will not do.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "grader/authoring/lab_check.hpp"
#include "grader/base/files.hpp"
#include "grader/course/course_tree.hpp"

namespace membound::authoring {
namespace {

using testing::HasSubstr;

class NewLabTest : public testing::Test {
 protected:
  base::Result<std::vector<std::filesystem::path>> write(const std::string& id,
                                                         bool is_program = false, int stages = 3) {
    std::filesystem::create_directories(tree() / "labs");
    const auto course = course::read_course(tree());
    EXPECT_TRUE(course);
    return write_new_lab({tree(), id, is_program, stages}, course->labs);
  }
  [[nodiscard]] std::filesystem::path tree() const { return folder_.path(); }

 private:
  base::ScratchFolder folder_{"new-lab"};
};

TEST_F(NewLabTest, IsADraftThatLacksOnlyWhatMayComeLater) {
  for (const bool is_program : {false, true}) {
    const std::string id = is_program ? "16-whole" : "15-my-lab";
    const auto files = write(id, is_program);
    ASSERT_TRUE(files) << base::to_string(files.error());
    EXPECT_EQ(files->size(), 6u);
    const auto lab = course::read_lab(tree() / "labs" / id / "lab.json");
    ASSERT_TRUE(lab) << base::to_string(lab.error());
    EXPECT_TRUE(lab->draft);
    EXPECT_TRUE(lab->has_oracle());
    EXPECT_EQ(lab->stages.size(), 3u);
    EXPECT_EQ(lab->max_points(), 100);
    EXPECT_EQ(lab->has_reference(), !is_program);
    int later = 0;
    for (const Drift& drift : check_lab(*lab, tree())) {
      EXPECT_TRUE(drift.may_come_later) << to_string(drift);
      ++later;
    }
    EXPECT_GT(later, 3);  // at least the wrong answers of three stages
  }
}

TEST_F(NewLabTest, LeavesNoGapsWhereItsTemplatesHaveSections) {
  for (const bool is_program : {false, true}) {
    const auto files = write(is_program ? "16-whole" : "15-my-lab", is_program);
    ASSERT_TRUE(files);
    for (const auto& file : *files) {
      const std::string text = *base::read_file(file);
      EXPECT_THAT(text, testing::Not(HasSubstr("\n\n\n"))) << file;
      EXPECT_THAT(text, testing::Not(HasSubstr("{\n\n"))) << file;
      if (file.extension() == ".json") {
        EXPECT_THAT(text, testing::Not(HasSubstr("\n\n"))) << file;
      }
    }
  }
}

TEST_F(NewLabTest, ATypoInTheNameOfAKernelIsToldWithItsLine) {
  ASSERT_TRUE(write("15-my-lab"));
  const auto file = tree() / "labs/15-my-lab/lab.json";
  std::string text = *base::read_file(file);
  text.replace(text.find("\"my_lab_2\""), 10, "\"my_lab_x\"");
  ASSERT_TRUE(base::write_file(file, text));
  const auto lab = course::read_lab(file);
  ASSERT_TRUE(lab);
  std::string said;
  for (const Drift& drift : check_lab(*lab, tree()))
    if (!drift.may_come_later) said += to_string(drift) + "\n";
  EXPECT_THAT(said, testing::ContainsRegex("labs/15-my-lab/lab.json:[0-9]+: there is no kernel "
                                           "my_lab_x in labs/15-my-lab/kernel.cu"));
}

TEST_F(NewLabTest, ANameThatWillNotDoIsRefused) {
  for (const char* name : {"saxpy", "5-saxpy", "15-Saxpy", "15-", "15-a/b", "15-a--b"}) {
    const auto files = write(name);
    ASSERT_FALSE(files) << name;
    EXPECT_THAT(base::to_string(files.error()), HasSubstr("is no name of a lab"));
  }
  ASSERT_TRUE(write("15-my-lab"));
  EXPECT_THAT(base::to_string(write("15-other").error()), HasSubstr("there is a lab 15-my-lab"));
}

TEST_F(NewLabTest, JoinsTheListOfTheCoursesBuild) {
  std::filesystem::create_directories(tree() / "labs");
  ASSERT_TRUE(
      base::write_file(tree() / "labs/CMakeLists.txt", "# labs\nadd_lab(01-a)\n\n# more\n"));
  ASSERT_TRUE(write("15-my-lab"));
  EXPECT_EQ(*base::read_file(tree() / "labs/CMakeLists.txt"),
            "# labs\nadd_lab(01-a)\nadd_lab(15-my-lab)\n\n# more\n");
}

TEST_F(NewLabTest, EveryFieldThatIsWrongOrMissingIsToldWithFileAndLine) {
  ASSERT_TRUE(write("15-my-lab"));
  const auto folder = tree() / "labs/15-my-lab";
  const auto good = nlohmann::ordered_json::parse(*base::read_file(folder / "lab.json"));
  const auto error_of = [&](const nlohmann::ordered_json& lab) -> std::string {
    const auto read = course::lab_from_text(lab.dump(1), "lab.json", folder);
    return read ? "" : base::to_string(read.error());
  };
  EXPECT_EQ(error_of(good), "");
  for (const auto& [key, value] : good.items()) {
    auto wrong = good;
    wrong[key] = nlohmann::ordered_json{{"no", "such thing"}};
    if (key != "hints") {
      EXPECT_THAT(error_of(wrong), testing::MatchesRegex("lab.json:[0-9]+(.|\n)*")) << key;
    }
    if (key == "interface" || key == "draft" || key == "ladder") continue;  // may be left out
    wrong = good;
    wrong.erase(key);
    EXPECT_THAT(error_of(wrong), testing::MatchesRegex("lab.json:[0-9]+(.|\n)*")) << key;
  }
  for (const auto& [key, value] : good["stages"][0].items()) {
    auto wrong = good;
    wrong["stages"][0][key] = nlohmann::ordered_json{{"no", "such thing"}};
    EXPECT_THAT(error_of(wrong), testing::MatchesRegex("lab.json:[0-9]+(.|\n)*")) << key;
    wrong = good;
    wrong["stages"][0].erase(key);
    EXPECT_THAT(error_of(wrong), testing::MatchesRegex("lab.json:[0-9]+(.|\n)*")) << key;
  }
}

}  // namespace
}  // namespace membound::authoring
