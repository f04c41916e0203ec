// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// What has to be read before a lab is done, and before its first task: a handout up to a heading,
// without what is folded away, code, tables and comments.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string_view>

#include "grader/base/files.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

constexpr int kMostWords = 2500, kMostWordsBeforeATask = 900;
constexpr std::string_view kDone = "## After you are done", kFirstTask = "### Stage 1";

int words_to_read(const std::string& page, std::string_view heading) {
  int words = 0, folds = 0;
  bool in_code = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(heading)) break;
    const bool is_fence = line.starts_with("```"), ends_fold = line.starts_with("</details>");
    if (is_fence) in_code = !in_code;
    folds += line.starts_with("<details>") ? 1 : ends_fold ? -1 : 0;
    if (in_code || is_fence || folds > 0 || ends_fold) continue;
    if (line.starts_with('|') || line.starts_with("<!--")) continue;
    std::istringstream rest(line);
    for (std::string word; rest >> word;) words += word.front() != '#' ? 1 : 0;
  }
  return words;
}

TEST(HandoutLength, CountsWhatIsRead) {
  EXPECT_EQ(words_to_read("# One two\n\n<details>\n<summary>not</summary>\nnot\n</details>\n"
                          "```cpp\nnot();\n```\n| not |\n<!-- not -->\nthree\n"
                          "## After you are done\nnot\n",
                          kDone),
            3);
}

TEST(HandoutLength, IsAtMost2500WordsBeforeOneIsDone) {
  int handouts = 0;
  for (const auto& folder : fs::directory_iterator(fs::path(MEMBOUND_SOURCE_DIR) / "handouts")) {
    const auto page = base::read_file(folder.path() / "handout.md");
    const auto lab = base::read_file(fs::path(MEMBOUND_SOURCE_DIR) / "labs" /
                                     folder.path().filename() / "lab.json");
    if (!page || (lab && lab->find("\"draft\": true") != std::string::npos)) continue;
    ++handouts;
    EXPECT_LE(words_to_read(*page, kDone), kMostWords)
        << folder.path() << ": fold what a reader may leave out, or say it shorter";
    EXPECT_LE(words_to_read(*page, kFirstTask), kMostWordsBeforeATask)
        << folder.path() << ": move what a later stage needs to that stage";
    EXPECT_NE(page->find(std::string("\n") + std::string(kFirstTask)), std::string::npos);
  }
  EXPECT_GE(handouts, 10);
}

/// What readers of the handouts stumbled over, and sentences that leave a reader without a GPU of
/// one kind, or without an instructor, alone.
TEST(HandoutWords, AreThoseOfATextbook) {
  static const std::regex kAvoided(
      R"(in place of|\bwould do\b|to be had|\bon their way\b|\brubbish\b|are that not|)"
      R"(\binstructor|nvcc [^\n#]*-arch=sm_\d)");
  int texts = 0;
  for (const char* folder : {"handouts", "labs"})
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(MEMBOUND_SOURCE_DIR) / folder)) {
      const fs::path& file = entry.path();
      const std::string name = file.filename();
      if (name != "handout.md" && name != "README.md" && name != "lab.json" && name != "kernel.cu")
        continue;
      const auto text = base::read_file(file);
      ASSERT_TRUE(text) << file;
      ++texts;
      std::smatch found;
      EXPECT_FALSE(std::regex_search(*text, found, kAvoided)) << file << ": " << found.str();
    }
  EXPECT_GE(texts, 40);
}

}  // namespace
}  // namespace membound::authoring
