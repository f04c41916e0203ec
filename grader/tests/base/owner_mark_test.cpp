// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace membound::base {
namespace {

/// The mark of a process that has ended.
std::string mark_of_the_dead() {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string mark = owner_mark();
    [[maybe_unused]] const auto written = write(ends[1], mark.data(), mark.size());
    _exit(0);
  }
  close(ends[1]);
  std::string mark(256, '\0');
  mark.resize(static_cast<std::size_t>(read(ends[0], mark.data(), mark.size())));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return mark;
}

TEST(OwnerMark, OfALivingProcessIsInUse) {
  EXPECT_FALSE(has_lost_its_owner(owner_mark()));
  EXPECT_FALSE(has_lost_its_owner(owner_mark() + "-7"));
}

TEST(OwnerMark, OfAProcessThatEndedIsLost) {
  const std::string mark = mark_of_the_dead();
  EXPECT_TRUE(has_lost_its_owner(mark)) << mark;
  EXPECT_TRUE(has_lost_its_owner(mark + "-7"));
}

TEST(OwnerMark, ANumberThatCameRoundAgainIsAnotherProcess) {
  // As many ticks as the machine can have been up: we started at another moment.
  const std::string mine = owner_mark();
  EXPECT_TRUE(has_lost_its_owner(mine.substr(0, mine.rfind('.') + 1) + "1"));
}

TEST(OwnerMark, OfAnotherMachineOrContainerIsNotOursToJudge) {
  const std::string dead = mark_of_the_dead();
  EXPECT_FALSE(has_lost_its_owner("00000000" + dead.substr(8)));
  EXPECT_FALSE(has_lost_its_owner(dead.substr(0, 9) + "1" + dead.substr(9)));
}

TEST(OwnerMark, OtherTextIsNobodys) {
  for (const char* text : {"", "membound", "1234-0", "...", "1.2.3.4"})
    EXPECT_FALSE(has_lost_its_owner(text)) << text;
}

}  // namespace
}  // namespace membound::base
