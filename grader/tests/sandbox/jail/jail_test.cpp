// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a jailed program can see and do, and how its end is told. A machine that can make no jail
/// skips these; continuous integration runs on one that can.
#include "grader/sandbox/jail/jail.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "grader/base/process.hpp"
#include "grader/sandbox/jail/bubblewrap.hpp"
#include "grader/tests/judge/temporary_folder.hpp"
#include "grader/tests/sandbox/jail/jailed_shell.hpp"

namespace membound::jail {
namespace {

using testing::HasSubstr;
using testing::Not;

class Jail : public JailedShell {};

TEST_F(Jail, TellsOutputAndExitCode) {
  const auto outcome = shell("echo one; echo two >&2; exit 7");
  EXPECT_EQ(outcome.output, "one\ntwo\n");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_EQ(outcome.limit, LimitHit::kNone);
}

TEST_F(Jail, ShowsNoPathOfTheOutside) {
  const judge::TemporaryFolder folder;
  JailRequest request;
  request.bindings = {{folder.path(), "/given"}};
  const std::string outside = folder.path().filename();
  // How bubblewrap was called, and what is mounted from where.
  EXPECT_THAT(shell("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' ' '", request).output,
              Not(HasSubstr(outside)));
  if (probe().landlock_abi == 0) GTEST_SKIP() << "needs Landlock";
  request.hides_proc = true;
  const auto hidden = shell("cat /proc/self/mountinfo /proc/1/cmdline; ls /proc", request);
  EXPECT_THAT(hidden.output, HasSubstr("mountinfo: Permission denied"));
  EXPECT_THAT(hidden.output, HasSubstr("cmdline: Permission denied"));
  EXPECT_THAT(hidden.output, Not(HasSubstr(outside)));
}

TEST_F(Jail, ShowsNothingOfTheMachineThatItRunsOn) {
  char host[256] = "";
  ASSERT_EQ(gethostname(host, sizeof host), 0);
  std::ifstream stream("/proc/cmdline");
  std::string line;
  std::getline(stream, line);
  const std::string shown =
      shell("uname -n; cat /proc/sys/kernel/hostname /etc/hostname /proc/cmdline /proc/version")
          .output;
  EXPECT_THAT(shown, testing::StartsWith("jail\n"));
  if (std::string(host) != "jail") {
    EXPECT_THAT(shown, Not(HasSubstr(host)));
  }
  if (!line.empty()) {
    EXPECT_THAT(shown, Not(HasSubstr(line)));
  }
  EXPECT_THAT(shown, Not(HasSubstr("Linux version")));
}

TEST_F(Jail, EndsWithAnOwnerThatWasKilledBetweenTwoSteps) {
  // As where the supervisor was killed before the kernel had been asked to end the jail with it.
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, 0), 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const std::string mark = "owner=" + base::owner_mark();
    const pid_t left = fork();
    int nothing[2] = {-1, -1};
    if (left == 0 && pipe(nothing) == 0 && dup2(nothing[0], 0) == 0)
      execl("/bin/sh", "sh", "-c", "read never", mark.c_str(), nullptr);
    [[maybe_unused]] const auto written = write(ends[1], &left, sizeof left);
    _exit(0);
  }
  pid_t left = 0;
  ASSERT_EQ(read(ends[0], &left, sizeof left), ssize_t{sizeof left});
  waitpid(owner, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  for (int i = 0; i < 1000 && kill(left, 0) == 0; ++i) {
    sweep_jails();
    usleep(1000);
    waitpid(left, nullptr, WNOHANG);  // where we are the machine's first process
  }
  std::ifstream stat("/proc/" + std::to_string(left) + "/stat");
  std::string line;
  std::getline(stat, line);
  EXPECT_TRUE(line.empty() || line.find(") Z ") != std::string::npos) << line;
}

/// The process that runs a sleep of so many seconds; 0: none does.
pid_t sleeper(const std::string& seconds) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    std::ifstream file(entry.path() / "cmdline");
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    if (words == std::string("sleep") + '\0' + seconds + '\0')
      return std::atoi(entry.path().filename().c_str());
  }
  return 0;
}

TEST_F(Jail, TellsHowARunEndedOfWhichAProcessDoesNot) {
  // A process that is traced is gone only when its tracer has asked how it ended: until then it is
  // as one that the kernel holds.
  JailRequest request;
  request.limits.wall_seconds = 1;
  request.seconds_to_die = 1;
  pid_t held = 0;
  request.keep_going = [&] {
    if (held == 0 && (held = sleeper("31.7")) != 0 &&
        ptrace(PTRACE_SEIZE, held, nullptr, nullptr) != 0)
      held = -1;
    return true;
  };
  const auto outcome = shell("exec sleep 31.7", request);
  if (held > 0) waitpid(held, nullptr, __WALL);
  if (held < 0) GTEST_SKIP() << "may not trace";
  EXPECT_EQ(outcome.limit, LimitHit::kWall);
  EXPECT_THAT(outcome.output, HasSubstr("did not end 1 seconds after SIGKILL"));
}

TEST_F(Jail, HoldsNoneOfOurDescriptorsWhileItRuns) {
  // Another thread may wait for the end of a pipe, as base::run_process() does when it starts a
  // program.
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  JailRequest request;
  request.arguments = {"/bin/sh", "-c", "echo started; exec sleep 30"};
  std::atomic<bool> stop = false;
  std::atomic<int> ticks = 0;
  request.stop = &stop;
  request.keep_going = [&] { return ++ticks > 0; };
  std::thread runs([&] { EXPECT_TRUE(run(request)); });
  while (ticks == 0) std::this_thread::yield();
  close(ends[1]);
  pollfd watched{ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&watched, 1, 10'000), 1) << "the pipe's other end is still open";
  EXPECT_NE(watched.revents & POLLHUP, 0);
  stop = true;
  runs.join();
  close(ends[0]);
}

TEST_F(Jail, LetsAGpusDriverReadSysAndNameItsThreads) {
  JailRequest request;
  request.devices = {"/dev/null"};
  const std::string asks = "ls /sys/devices >/dev/null && echo named >/proc/self/task/$$/comm";
  EXPECT_EQ(shell(asks, request).exit_code, 0) << shell(asks, request).output;
  // The rest of /proc stays the kernel's.
  EXPECT_NE(shell("echo 1 >/proc/sys/kernel/panic", request).exit_code, 0);
  EXPECT_NE(shell("echo 0 >/sys/kernel/mm/transparent_hugepage/enabled", request).exit_code, 0);
}

TEST_F(Jail, ShowsNoSysToWhoHasNoDevice) { EXPECT_NE(shell("ls /sys/devices").exit_code, 0); }

TEST_F(Jail, TellsASignalFromAnExitCodeThatLooksLikeOne) {
  const auto killed = shell("kill -SEGV $$");
  EXPECT_EQ(killed.exit_code, -1);
  EXPECT_EQ(killed.signal, SIGSEGV);
  const auto left = shell("exit 139");
  EXPECT_EQ(left.exit_code, 139);
  EXPECT_EQ(left.signal, 0);
}

TEST_F(Jail, SaysWhenTheProgramIsNotThere) {
  JailRequest request;
  request.arguments = {"/no/such/program"};
  const auto outcome = run(request);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, base::ErrorKind::kMachine);
  EXPECT_THAT(outcome.error().found, HasSubstr("No such file"));
}

TEST_F(Jail, PassesOnOnlyTheEnvironmentItWasGiven) {
  setenv("MEMBOUND_TEST_SECRET", "1", 1);
  JailRequest request;
  request.environment = {{"GIVEN", "yes"}};
  const auto outcome = shell("env", request);
  EXPECT_THAT(outcome.output, HasSubstr("GIVEN=yes"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("MEMBOUND_TEST_SECRET")));
}

TEST_F(Jail, ShowsOnlyWhatItWasGiven) {
  const judge::TemporaryFolder folder;
  folder.write("given/file", "text");
  folder.write("other", "secret");
  JailRequest request;
  request.bindings = {{folder.path() / "given", "/given"}};
  const auto outcome =
      shell("cat /given/file; ls " + folder.path().string() + " /etc/passwd /root /home /var /work",
            request);
  EXPECT_THAT(outcome.output, testing::StartsWith("text"));
  EXPECT_EQ(outcome.output.find("other"), std::string::npos);
  EXPECT_EQ(shell("for f in /root /home /var /work /tmp /mnt /etc/passwd /usr/local /sys; do"
                  " [ -e $f ] && echo $f; done; true")
                .output,
            "");
}

TEST_F(Jail, StartsWhereBubblewrapLiesInAFolderThatIsCovered) {
  const judge::TemporaryFolder folder;  // below /tmp, and found first by a process of its own
  std::filesystem::copy_file(machine_setup().bubblewrap, folder.path() / "bwrap");
  const std::string child =
      "PATH='" + folder.path().string() + "':\"$PATH\" '" +
      std::filesystem::read_symlink("/proc/self/exe").string() +
      "' --gtest_filter=Jail.ShowsOnlyWhatItWasGiven | grep 'PASSED.* 1 test'";
  EXPECT_EQ(std::system(child.c_str()), 0);
}

TEST_F(Jail, LetsNothingBeWrittenButScratch) {
  const judge::TemporaryFolder folder;
  const auto file = folder.write("file", "text");
  JailRequest request;
  request.bindings = {{folder.path(), "/given"}};
  const auto outcome = shell(
      "for f in /given/file /given/new /new /dev/new /usr/bin/new /proc/sys/kernel/hostname; do"
      " (echo x > $f) 2>/dev/null && echo wrote $f; done; echo y > /scratch/file; cat "
      "/scratch/file",
      request);
  EXPECT_EQ(outcome.output, "y\n");
}

TEST_F(Jail, HandsBackFilesOfScratch) {
  JailRequest request;
  request.collected = {"a", "b", "link", "fifo", "folder/c"};
  const auto outcome = shell(
      "printf 'x\\0y' > a; ln -s /etc/ld.so.cache link; mkfifo fifo; mkdir folder; echo c > "
      "folder/c",
      request);
  EXPECT_THAT(outcome.files,
              testing::UnorderedElementsAre(testing::Pair("a", std::string("x\0y", 3)),
                                            testing::Pair("folder/c", "c\n")));
}

TEST_F(Jail, HasNoNetwork) {
  EXPECT_EQ(shell("cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '").output, "lo\n");
}

TEST_F(Jail, SeesNoProcessOfTheOutside) {
  EXPECT_EQ(shell("ls /proc | grep -c '^[0-9]'; kill -9 " + std::to_string(getpid())).exit_code, 1);
}

TEST_F(Jail, RunsAsAUserWithoutRights) {
  const auto outcome =
      shell("id -u; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status");
  EXPECT_THAT(outcome.output, testing::MatchesRegex("6[0-9][0-9][0-9][0-9]\n"
                                                    "CapEff:\t0+\nCapBnd:\t0+\n"
                                                    "NoNewPrivs:\t1\nSeccomp:\t2\n"));
}

TEST_F(Jail, KeepsTheDescriptorsItWasAskedTo) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  JailRequest request;
  request.descriptors = {ends[1]};
  const auto outcome =
      shell("echo word >&" + std::to_string(ends[1]) + "; ls /proc/$$/fd; true", request);
  char text[16] = {};
  EXPECT_EQ(read(ends[0], text, sizeof text), 5);
  EXPECT_STREQ(text, "word\n");
  EXPECT_EQ(outcome.output, "0\n1\n2\n" + std::to_string(ends[1]) + "\n");
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Jail, CannotBeLeftByMakingNamespaces) {
  EXPECT_NE(shell("unshare -U true").exit_code, 0);
  EXPECT_NE(shell("unshare -m true").exit_code, 0);
}

TEST_F(Jail, EndsAProgramThatMakesAForbiddenCall) {
  // Number 101 is ptrace.
  const auto outcome = shell("perl -e 'syscall(101, 0, 0, 0, 0); print \"still here\"'");
  EXPECT_EQ(outcome.output.find("still here"), std::string::npos);
}

TEST_F(Jail, LeavesNothingBehind) {
  const std::set<std::string> before = leftovers();
  shell("(setsid sleep 1000 &) ; (sleep 1000 &); exit 0");
  EXPECT_EQ(left_since(before), std::set<std::string>{});
}

TEST_F(Jail, EndsWhenToldToStop) {
  const std::atomic<bool> stop = true;
  JailRequest request;
  request.stop = &stop;
  const auto outcome = shell("sleep 1000", request);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(outcome.limit, LimitHit::kNone);
}

TEST_F(Jail, AsksWhetherToGoOn) {
  int calls = 0;
  JailRequest request;
  request.keep_going = [&] { return ++calls < 3; };
  EXPECT_EQ(shell("sleep 1000", request).limit, LimitHit::kWall);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace membound::jail
