// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What needs a terminal or a signal: watch and its keys, Ctrl-C, colours.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <chrono>

#include "grader/tests/cli/fake_course.hpp"

namespace membound::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::seconds kTimeout{30};

/// The program on a terminal of its own.
class OnTerminal {
 public:
  OnTerminal(const FakeCourse& course, std::vector<std::string> words,
             const std::map<std::string, std::string>& more_environment = {}) {
    int slave = -1;
    const bool has_terminal = openpty(&terminal_, &slave, nullptr, nullptr, nullptr) == 0;
    EXPECT_TRUE(has_terminal);
    if (!has_terminal) return;
    tcgetattr(terminal_, &before_);
    words.insert(words.begin(), course.program().string());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    auto environment = course.environment();
    for (const auto& [name, value] : more_environment) environment[name] = value;
    environment["TERM"] = "xterm";
    child_ = fork();
    if (child_ == 0) {
      login_tty(slave);
      for (const auto& [name, value] : environment)
        value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    close(slave);
  }
  ~OnTerminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(terminal_);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  /// Waits until `text` has been printed since the last call; what was printed.
  std::string until(const std::string& text) {
    std::string seen;
    const auto start = std::chrono::steady_clock::now();
    while (seen.find(text) == std::string::npos) {
      if (std::chrono::steady_clock::now() - start > kTimeout || !read_some(seen)) {
        ADD_FAILURE() << "\"" << text << "\" did not appear in:\n" << seen;
        break;
      }
    }
    return seen;
  }
  void resize(unsigned short rows, unsigned short columns) const {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(ioctl(terminal_, TIOCSWINSZ, &size), 0);
  }
  void press(const char* keys) const {
    EXPECT_EQ(write(terminal_, keys, strlen(keys)), static_cast<ssize_t>(strlen(keys)));
  }
  /// Waits for the end; the exit code.
  int end() {
    std::string rest;
    while (read_some(rest)) {
    }
    int status = -1;
    if (child_ > 0) waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[nodiscard]] bool settings_are_as_before() const {
    termios now{};
    tcgetattr(terminal_, &now);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag;
  }

 private:
  bool read_some(std::string& to) const {
    if (child_ <= 0) return false;
    pollfd entry{terminal_, POLLIN, 0};
    if (poll(&entry, 1, 200) == 0) return true;
    char buffer[4096];
    const ssize_t size = read(terminal_, buffer, sizeof buffer);
    if (size <= 0) return false;  // the other side is closed
    to.append(buffer, static_cast<std::size_t>(size));
    return true;
  }
  int terminal_ = -1;
  pid_t child_ = -1;
  termios before_{};
};

TEST(Watch, ChecksOnEverySaveAndListensToKeys) {
  const FakeCourse course;
  OnTerminal watch(course, {"watch", "1", "--device", "vgpu"});
  EXPECT_THAT(watch.until("q quit"), HasSubstr("not started"));
  course.answer("wrong", "slow");
  EXPECT_THAT(watch.until("q quit"), HasSubstr("wrong result"));
  watch.press("l");
  EXPECT_THAT(watch.until("q quit"), HasSubstr("The second step"));
  watch.press("h");
  EXPECT_THAT(watch.until("q quit"), HasSubstr("Who is too many?"));
  watch.press("n");
  EXPECT_THAT(watch.until("q quit"), HasSubstr("too slow"));
  watch.press("c");
  EXPECT_THAT(watch.until("q quit"), HasSubstr("1 first"));
  watch.press("n");
  EXPECT_THAT(watch.until("q quit"), AllOf(HasSubstr("the last stage of 01-fake"),
                                           HasSubstr("01/2  n next  p previous  h hint")));
  EXPECT_FALSE(watch.settings_are_as_before());
  watch.press("q");
  EXPECT_EQ(watch.end(), 0);
  EXPECT_TRUE(watch.settings_are_as_before());
}

TEST(Watch, GoesOnFromAStageThatPassesForTheFirstTimeAndStaysAtOneThatHad) {
  const FakeCourse course;
  ASSERT_EQ(course.run({"predict", "1/1", "4"}).exit_code, 0);
  OnTerminal watch(course, {"watch", "1", "--device", "vgpu"});
  watch.until("q quit");
  course.answer("passed", "slow");
  watch.until("checking 01-fake/2");
  EXPECT_THAT(watch.until("q quit"),
              AllOf(HasSubstr("01-fake/1 passed"), HasSubstr("you said 4 sectors; it was 32"),
                    HasSubstr("too slow")));
  watch.press("p");
  EXPECT_THAT(watch.until("q quit"), AllOf(HasSubstr("passed"), HasSubstr("01/1  n next")));
  watch.press("q");
  EXPECT_EQ(watch.end(), 0);
}

TEST(Watch, ShowsThePageInANewSizeAndErasesNothingBeforeItWritesAnew) {
  const FakeCourse course;
  OnTerminal watch(course, {"watch", "1", "--device", "vgpu"});
  watch.until("q quit");
  watch.resize(10, 40);
  EXPECT_THAT(watch.until("01/1 n p h l c r q"),
              AllOf(HasSubstr("not started"), Not(HasSubstr("\033[2J"))));
  watch.press("q");
  EXPECT_EQ(watch.end(), 0);
}

TEST(Watch, NoticesAFileThatIsRenamedIntoPlace) {
  const FakeCourse course;
  OnTerminal watch(course, {"watch", "1/2", "--device", "vgpu"});
  watch.until("q quit");
  const auto beside = course.write("labs/01-fake/kernel.cu~", "// stage 2: passed\n");
  std::filesystem::rename(beside, course.kernel());
  EXPECT_THAT(watch.until("q quit"), HasSubstr("passed"));
  watch.press("q");
  EXPECT_EQ(watch.end(), 0);
}

TEST(Watch, RestoresTheTerminalOnCtrlC) {
  const FakeCourse course;
  OnTerminal watch(course, {"watch", "1", "--device", "vgpu"});
  watch.until("q quit");
  watch.press("\x03");
  EXPECT_EQ(watch.end(), 130);
  EXPECT_TRUE(watch.settings_are_as_before());
}

TEST(CtrlC, EndsACheckAndLeavesNothingRunning) {
  const FakeCourse course;
  course.answer("hang", "passed");
  OnTerminal check(course, {"check", "1", "--device", "vgpu"});
  check.until("stage 1");  // of the progress line
  check.press("\x03");
  EXPECT_EQ(check.end(), 130);
  const auto left = base::run_process({.arguments = {"pgrep", "-f", course.build().string()}});
  ASSERT_TRUE(left);
  EXPECT_EQ(left->output, "");
}

TEST(Colour, IsThereOnATerminalUnlessNoColorIsSet) {
  const FakeCourse course;
  course.answer("passed", "passed");
  OnTerminal coloured(course, {"check", "1", "--device", "vgpu"}, {{"NO_COLOR", ""}});
  EXPECT_THAT(coloured.until("30"), HasSubstr("\033[3"));
  coloured.end();
  OnTerminal plain(course, {"check", "1", "--device", "vgpu"}, {{"NO_COLOR", "1"}});
  EXPECT_THAT(plain.until("30"), Not(HasSubstr("\033[3")));
  plain.end();
}

TEST(Start, OpensTheTerminalsEditorAndChecksWhatItLeaves) {
  const FakeCourse course;
  const auto editor =
      course.write("editor",
                   "#!/bin/sh\nfor file; do :; done\n"
                   "printf '// stage 1: passed\\n// stage 2: slow\\n' >> \"$file\"\n");
  std::filesystem::permissions(editor, std::filesystem::perms::owner_all);
  OnTerminal start(course, {"start", "--device", "vgpu"},
                   {{"VISUAL", editor.string()}, {"EDITOR", ""}});
  EXPECT_THAT(start.until("that line, q and Enter stops: "), HasSubstr("Lab 01, stage 1 of 2"));
  start.press("\n");
  EXPECT_THAT(start.until("again, q and Enter stops: "),
              AllOf(HasSubstr("passed"), HasSubstr("Lab 01, stage 2 of 2")));
  start.press("q\n");
  EXPECT_EQ(start.end(), 0);
}

TEST(Start, ChecksNothingThatWasNotChanged) {
  const FakeCourse course;
  OnTerminal start(course, {"start", "--device", "vgpu"}, {{"VISUAL", "true"}, {"EDITOR", ""}});
  start.until("that line, q and Enter stops: ");
  start.press("\n");
  EXPECT_THAT(start.until("again, q and Enter stops: "),
              AllOf(HasSubstr("Nothing was changed"), Not(HasSubstr("wrong"))));
  start.press("q\n");
  EXPECT_EQ(start.end(), 0);
}

TEST(Start, StopsAtItsFirstQuestion) {
  const FakeCourse course;
  OnTerminal start(course, {"start"}, {{"VISUAL", ""}, {"EDITOR", ""}, {"PATH", "/usr/bin:/bin"}});
  start.until("Enter starts the watch, q and Enter stops: ");
  start.press("q\n");
  EXPECT_EQ(start.end(), 0);
}

TEST(Start, WatchesWhereNoEditorIsNamed) {
  const FakeCourse course;
  OnTerminal start(course, {"start", "--device", "vgpu"},
                   {{"VISUAL", ""}, {"EDITOR", ""}, {"PATH", "/usr/bin:/bin"}});
  start.until("Enter starts the watch");
  start.press("\n");
  start.until("q quit");
  course.answer("passed", "slow");
  EXPECT_THAT(start.until("too slow"), HasSubstr("01-fake/1 passed"));
  start.press("q");
  EXPECT_EQ(start.end(), 0);
  EXPECT_TRUE(start.settings_are_as_before());
}

}  // namespace
}  // namespace membound::cli
