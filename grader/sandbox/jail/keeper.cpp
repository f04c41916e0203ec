// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/keeper.hpp"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace membound::jail {
namespace {

bool give_up_rights(uid_t user) {
  return setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 &&
         setresuid(user, user, user) == 0;
}

[[noreturn]] void fail(const KeeperStart& start, int reason) {
  [[maybe_unused]] const auto written = write(start.report, &reason, sizeof reason);
  _exit(127);
}

[[noreturn]] void become_bubblewrap(const KeeperStart& start, pid_t parent) {
  setpgid(0, 0);
  // Opened by its path now: it may lie below a folder that the mounts cover.
  const int program = open(start.arguments[0], O_PATH | O_CLOEXEC);
  bool ready = program >= 0 && start.cgroup->join() &&
               stage_mounts(start.mounts, start.mount_count) &&
               (start.user == 0 || give_up_rights(start.user)) && dup2(start.input, 0) >= 0 &&
               dup2(start.output, 1) >= 0 && dup2(start.output, 2) >= 0;
  // After the change of user, which forgets it: should we be killed, the jail must not live on.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ready = ready && getppid() == parent;
  for (std::size_t i = 0; i < start.kept_count; ++i)
    ready = ready && fcntl(start.kept[i], F_SETFD, 0) == 0;
  if (ready) fexecve(program, start.arguments, start.environment);
  fail(start, errno);
}

/// The keeper never calls exec, so nothing is closed for it: what other threads had open when it
/// was forked, such as the pipe on which one of them waits for a program's start, it would hold
/// open for as long as the run takes.
void close_all_but(int one, int other) {
  const auto low = static_cast<unsigned>(one < other ? one : other);
  const auto high = static_cast<unsigned>(one < other ? other : one);
  if (low > 0) close_range(0, low - 1, 0);
  if (high > low + 1) close_range(low + 1, high - 1, 0);
  close_range(high + 1, ~0U, 0);
}

}  // namespace

void become_keeper(const KeeperStart& start) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGQUIT, SIGCHLD}) signal(number, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (getppid() != start.parent) fail(start, ECHILD);
  const pid_t self = getpid();
  const pid_t bubblewrap = fork();
  if (bubblewrap < 0) fail(start, errno);
  if (bubblewrap == 0) become_bubblewrap(start, self);
  close_all_but(start.output, start.status);
  int code = 0;
  for (int state = 0;;) {
    const pid_t ended = waitpid(-1, &state, 0);
    if (ended == bubblewrap && WIFEXITED(state)) code = WEXITSTATUS(state);
    if (ended < 0 && errno != EINTR) _exit(code);
  }
}

}  // namespace membound::jail
