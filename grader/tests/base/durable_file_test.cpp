// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "grader/base/failpoint.hpp"

namespace membound::base {
namespace {

namespace fs = std::filesystem;

class DurableFile : public testing::Test {
 protected:
  DurableFile() {
    std::string pattern = (fs::temp_directory_path() / "membound-durable-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~DurableFile() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  /// Writes "new" over "old" in a child that has the failpoint; returns how the child ended.
  int write_with(const char* point) {
    EXPECT_TRUE(write_durably(folder_ / "r", "old", "result"));
    const pid_t child = fork();
    if (child == 0) {
      setenv("MEMBOUND_FAILPOINT", point, 1);
      _exit(write_durably(folder_ / "r", "new", "result") ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  fs::path folder_;
};

TEST_F(DurableFile, HoldsTheTextAndNothingElseIsLeft) {
  ASSERT_TRUE(write_durably(folder_ / "r", "text", "result"));
  EXPECT_EQ(content(folder_ / "r"), "text");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(DurableFile, HasTheRightsAskedFor) {
  ASSERT_TRUE(write_durably(folder_ / "key", "secret", "key", 0600));
  struct stat facts {};
  ASSERT_EQ(stat((folder_ / "key").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(DurableFile, AFolderThatCannotBeMadeIsAnError) {
  ASSERT_TRUE(write_durably(folder_ / "file", "", "result"));
  EXPECT_FALSE(write_durably(folder_ / "file" / "r", "text", "result"));
}

TEST_F(DurableFile, KilledBeforeTheRenameLeavesTheOldText) {
  if (!has_failpoints()) GTEST_SKIP() << "built without failpoints";
  EXPECT_EQ(WTERMSIG(write_with("result.written")), SIGKILL);
  EXPECT_EQ(content(folder_ / "r"), "old");
}

TEST_F(DurableFile, KilledAfterTheRenameLeavesTheNewText) {
  if (!has_failpoints()) GTEST_SKIP() << "built without failpoints";
  EXPECT_EQ(WTERMSIG(write_with("result.renamed")), SIGKILL);
  EXPECT_EQ(content(folder_ / "r"), "new");
}

TEST_F(DurableFile, AFullDiskIsAnErrorThatLeavesNothingBehind) {
  if (!has_failpoints()) GTEST_SKIP() << "built without failpoints";
  EXPECT_EQ(WEXITSTATUS(write_with("result.written=full")), 1);
  EXPECT_EQ(content(folder_ / "r"), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(DurableFile, SweepRemovesWhatAKillLeftBehind) {
  if (!has_failpoints()) GTEST_SKIP() << "built without failpoints";
  write_with("result.written");
  ASSERT_EQ(entries(), 2u);
  EXPECT_EQ(sweep(folder_), 1);
  EXPECT_EQ(content(folder_ / "r"), "old");
}

}  // namespace
}  // namespace membound::base
