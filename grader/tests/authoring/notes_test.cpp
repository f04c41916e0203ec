// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every lab's notes for instructors tell.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "grader/base/files.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

TEST(Notes, OfEveryLabHaveCountersMistakesMinutesAndAQuestion) {
  // Lab 12's counters are its timelines.
  constexpr std::array kHeadings = {"## Why it is built like this", "## Expected ", "## Minutes",
                                    "## Common mistakes and the sentence to say", "## To discuss"};
  int notes = 0;
  for (const auto& folder : fs::directory_iterator(fs::path(MEMBOUND_SOURCE_DIR) / "solutions")) {
    const auto text = base::read_file(folder.path() / "NOTES.md");
    if (!text) continue;
    ++notes;
    for (const std::string heading : kHeadings)
      EXPECT_NE(text->find("\n" + heading), std::string::npos) << folder.path() << ": " << heading;
  }
  EXPECT_GE(notes, 10);
}

}  // namespace
}  // namespace membound::authoring
