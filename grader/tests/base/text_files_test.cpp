// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/files.hpp"

#include <gmock/gmock.h>

namespace membound::base {
namespace {

namespace fs = std::filesystem;

TEST(Files, ReadBackWhatWasWrittenAndLeaveNothingBeside) {
  const ScratchFolder scratch("files-test");
  const fs::path deep = scratch.path() / "deep";
  ASSERT_TRUE(write_file(deep / "a.txt", "one"));
  ASSERT_TRUE(write_file(deep / "a.txt", std::string("tw\0o", 4)));
  EXPECT_EQ(*read_file(deep / "a.txt"), std::string("tw\0o", 4));
  EXPECT_EQ(std::distance(fs::directory_iterator(deep), fs::directory_iterator()), 1);
}

TEST(Files, SayWhatIsWrong) {
  EXPECT_EQ(read_file("/nowhere/a.txt").error().found, "there is no such file");
  EXPECT_EQ(read_file(testing::TempDir()).error().found, "cannot be read");
  EXPECT_THAT(write_file("/proc/membound/a.txt", "x").error().found,
              testing::HasSubstr("cannot be made"));
}

}  // namespace
}  // namespace membound::base
