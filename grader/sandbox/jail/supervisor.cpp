// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One jailed run from outside: starts bubblewrap as a user without rights, reads what comes out,
/// ends everything when a limit is reached, and returns only when nothing of it runs any more.
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>

#include "grader/base/switches.hpp"
#include "grader/base/system_text.hpp"
#include "grader/sandbox/jail/bubblewrap.hpp"
#include "grader/sandbox/jail/outcome.hpp"
#include "grader/sandbox/jail/process_tree.hpp"
#include "grader/sandbox/jail/stage_image.hpp"
#include "grader/sandbox/jail/staged_mount.hpp"
#include "grader/sandbox/jail/syscall_filter.hpp"

namespace membound::jail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTickMs = 20;
/// Between SIGKILL and the last process's end, on a machine with much else to do; a device driver
/// may hold one longer, and then a human has to look.
constexpr double kSecondsToDie = 60;
/// User numbers of runs, when we may choose: above every account, below what a container's map
/// usually ends with.
constexpr uid_t kFirstUser = 60000;
constexpr unsigned kUsers = 5000;
/// bubblewrap outside, its first process inside, and the stage.
constexpr int kOwnProcesses = 3;

uid_t next_user() {
  static std::atomic<unsigned> next{static_cast<unsigned>(getpid()) * 37};
  return kFirstUser + next++ % kUsers;
}

base::Error cannot(const std::string& what, const std::string& why) {
  return {base::ErrorKind::kMachine, "jail", what + ": " + why, "a jail", "membound doctor"};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

std::vector<std::string> environment_of(const JailRequest& request) {
  std::map<std::string, std::string> all = {{"PATH", "/usr/bin:/bin"},
                                            {"HOME", request.scratch},
                                            {"TMPDIR", request.scratch},
                                            {"LANG", "C.UTF-8"}};
  for (const auto& [name, value] : request.environment) all[name] = value;
  std::vector<std::string> texts;
  for (const auto& [name, value] : all) texts.push_back(name + "=" + value);
  return texts;
}

/// What the child needs between fork and exec, all made before: there it may only call functions
/// that are safe in a process forked from one with threads.
struct Launch {
  char** arguments;
  char** environment;
  int input;
  int output;
  int report;  // receives errno when bubblewrap cannot be started
  int status;  // the stage's
  const int* kept;
  std::size_t kept_count;
  const Cgroup* cgroup;
  uid_t user;  // 0: stay who we are
  const StagedMount* mounts;
  std::size_t mount_count;
  pid_t parent;
};

bool give_up_rights(uid_t user) {
  return setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 &&
         setresuid(user, user, user) == 0;
}

[[noreturn]] void fail(const Launch& launch, int reason) {
  [[maybe_unused]] const auto written = write(launch.report, &reason, sizeof reason);
  _exit(127);
}

[[noreturn]] void become_bubblewrap(const Launch& launch, pid_t parent) {
  setpgid(0, 0);
  // Opened by its path now: it may lie below a folder that the mounts cover.
  const int program = open(launch.arguments[0], O_PATH | O_CLOEXEC);
  bool ready = program >= 0 && launch.cgroup->join() &&
               stage_mounts(launch.mounts, launch.mount_count) &&
               (launch.user == 0 || give_up_rights(launch.user)) && dup2(launch.input, 0) >= 0 &&
               dup2(launch.output, 1) >= 0 && dup2(launch.output, 2) >= 0;
  // After the change of user, which forgets it: should we be killed, the jail must not live on.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ready = ready && getppid() == parent;
  for (std::size_t i = 0; i < launch.kept_count; ++i)
    ready = ready && fcntl(launch.kept[i], F_SETFD, 0) == 0;
  if (ready) fexecve(program, launch.arguments, launch.environment);
  fail(launch, errno);
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

/// Stands between us and bubblewrap, whose own first process inside outlives it by a moment and
/// would become a child of the machine's init; in a container that may be a program that collects
/// nobody. When the keeper has ended, nothing of the run is left; it ends with bubblewrap's code.
[[noreturn]] void become_keeper(const Launch& launch) {
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGQUIT, SIGCHLD}) signal(number, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (getppid() != launch.parent) fail(launch, ECHILD);
  const pid_t self = getpid();
  const pid_t bubblewrap = fork();
  if (bubblewrap < 0) fail(launch, errno);
  if (bubblewrap == 0) become_bubblewrap(launch, self);
  close_all_but(launch.output, launch.status);
  int code = 0;
  for (int state = 0;;) {
    const pid_t ended = waitpid(-1, &state, 0);
    if (ended == bubblewrap && WIFEXITED(state)) code = WEXITSTATUS(state);
    if (ended < 0 && errno != EINTR) _exit(code);
  }
}

/// Moves bubblewrap's options into a file that it reads: what stands in its command line is seen
/// inside, in /proc/1/cmdline, and the paths outside are nobody's business there.
base::Descriptor hide_options(std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  std::string text;
  for (auto at = arguments.begin() + 1; at != end; ++at) text += *at + '\0';
  base::Descriptor file = memory_file("membound-options", text);
  const std::vector<std::string> instead = {"--args", std::to_string(file.get())};
  arguments.insert(arguments.erase(arguments.begin() + 1, end), instead.begin(), instead.end());
  return file;
}

/// The process number of the jail's first process, as bubblewrap tells it; 0 when it tells none.
pid_t read_process_id(int info) {
  std::string text;
  char buffer[512];
  for (ssize_t size = 0; (size = read(info, buffer, sizeof buffer)) > 0 || errno == EINTR;) {
    if (size > 0) text.append(buffer, static_cast<std::size_t>(size));
    if (size == 0) break;
  }
  const auto at = text.find("\"child-pid\":");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 12);
}

/// Everything that is open while a jail runs.
struct Channels {
  base::Descriptor output, status,
      jail;  // what is printed, what the stage reports, the jail's process
  pid_t keeper = 0;
  pid_t inside = 0;
};

/// Follows one run until nothing of it is left.
class Watch {
 public:
  Watch(const Setup& setup, const JailRequest& request, const Cgroup& cgroup, Channels channels,
        Clock::time_point start)
      : setup_(setup),
        request_(request),
        cgroup_(cgroup),
        channels_(std::move(channels)),
        start_(start) {
    for (const int end : {channels_.output.get(), channels_.status.get()})
      fcntl(end, F_SETFL, O_NONBLOCK);
  }

  base::Result<Observed> finish() {
    while (!gone()) {
      wait_for_news();
      check_limits();
      if (killed_at_ && since(*killed_at_) > kSecondsToDie) {
        // What it did is known, and is no other run's: whoever asked looks at the device itself.
        observed_.output += "\na process of it did not end " +
                            std::to_string(static_cast<int>(kSecondsToDie)) +
                            " seconds after SIGKILL";
        break;
      }
    }
    read_output();
    read_status();
    observed_.seconds = since(start_);
    if (const auto seconds = cgroup_.cpu_seconds()) observed_.cpu_seconds = *seconds;
    observed_.memory_kills = cgroup_.memory_kills();
    observed_.refused_processes = cgroup_.refused_processes();
    observed_.peak_memory_bytes =
        std::max(cgroup_.peak_memory_bytes(), observed_.peak_memory_bytes);
    return std::move(observed_);
  }

 private:
  static double since(Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  }

  bool gone() {
    int state = 0;
    const pid_t ended = waitpid(channels_.keeper, &state, WNOHANG);
    if (ended == channels_.keeper && base::switched_off("jail.stage"))
      observed_.bubblewrap_code = WEXITSTATUS(state);
    return ended == channels_.keeper || (ended < 0 && errno == ECHILD);
  }

  void wait_for_news() {
    pollfd entries[] = {{channels_.output.get(), POLLIN, 0},
                        {channels_.status.get(), POLLIN, 0},
                        {channels_.jail.get(), POLLIN, 0}};
    if (jail_ended_) entries[2].fd = -1;
    if (output_ended_) entries[0].fd = -1;
    if (status_ended_) entries[1].fd = -1;
    const double left = request_.limits.wall_seconds - since(start_);
    int wait_ms = std::clamp(static_cast<int>(left * 1000) + 1, 1, kTickMs);
    if (jail_ended_) wait_ms = 1;
    if (poll(entries, 3, wait_ms) <= 0) return;
    if ((entries[0].revents & (POLLIN | POLLHUP)) != 0) output_ended_ = !read_output();
    if ((entries[1].revents & (POLLIN | POLLHUP)) != 0) status_ended_ = !read_status();
    jail_ended_ = jail_ended_ || (entries[2].revents & POLLIN) != 0;
  }

  /// Both read what is there; false when the other end is closed.
  bool read_output() {
    char buffer[65536];
    for (;;) {
      const ssize_t size = read(channels_.output.get(), buffer, sizeof buffer);
      if (size < 0) return errno == EAGAIN || errno == EINTR;
      if (size == 0) return false;
      const std::size_t space = request_.limits.output_bytes - observed_.output.size();
      const std::size_t kept = std::min(space, static_cast<std::size_t>(size));
      observed_.output.append(buffer, kept);
      if (kept < static_cast<std::size_t>(size) && !base::switched_off("jail.output")) {
        hit(LimitHit::kOutput);
        return true;
      }
    }
  }

  bool read_status() {
    char buffer[65536];
    const std::size_t most =
        sizeof(Report) + 1 +
        request_.collected.size() * (sizeof(FileHead) + request_.limits.file_bytes);
    for (;;) {
      const ssize_t size = read(channels_.status.get(), buffer, sizeof buffer);
      if (size < 0) return errno == EAGAIN || errno == EINTR;
      if (size == 0) return false;
      observed_.status.append(buffer, static_cast<std::size_t>(size));
      if (observed_.status.size() > most) {
        hit(LimitHit::kFileSize);
        return true;
      }
    }
  }

  void check_limits() {
    if (killed_at_) return end_all();
    const Limits& limits = request_.limits;
    if (request_.stop != nullptr && request_.stop->load()) {
      observed_.stopped = true;
      return end_all();
    }
    if (since(start_) > limits.wall_seconds && !base::switched_off("jail.wall"))
      return hit(LimitHit::kWall);
    if (since(last_tick_) * 1000 < kTickMs) return;
    last_tick_ = Clock::now();
    if (request_.keep_going && !request_.keep_going()) return hit(LimitHit::kWall);
    const auto counted = cgroup_.cpu_seconds();
    TreeUsage usage;
    if (channels_.inside > 0 && (!counted || setup_.cgroups.memory.empty()))
      usage = tree_usage(channels_.inside);
    observed_.cpu_seconds = std::max(observed_.cpu_seconds, counted.value_or(usage.cpu_seconds));
    observed_.peak_memory_bytes = std::max(observed_.peak_memory_bytes, usage.memory_bytes);
    if (observed_.cpu_seconds > limits.cpu_seconds && !base::switched_off("jail.cpu"))
      return hit(LimitHit::kCpu);
    // The kernel ends one process; the others might wait for it until their time is up.
    if (cgroup_.memory_kills() > 0) return hit(LimitHit::kMemory);
    if (usage.memory_bytes > limits.memory_bytes && !base::switched_off("jail.memory"))
      return hit(LimitHit::kMemory);
  }

  void hit(LimitHit limit) {
    if (observed_.limit == LimitHit::kNone) observed_.limit = limit;
    end_all();
  }

  void end_all() {
    if (!killed_at_) killed_at_ = Clock::now();
    if (channels_.jail.open())
      syscall(SYS_pidfd_send_signal, channels_.jail.get(), SIGKILL, nullptr, 0);
    cgroup_.kill_all();
  }

  const Setup& setup_;
  const JailRequest& request_;
  const Cgroup& cgroup_;
  Channels channels_;
  Clock::time_point start_, last_tick_ = start_;
  std::optional<Clock::time_point> killed_at_;
  bool jail_ended_ = false, output_ended_ = false, status_ended_ = false;
  Observed observed_;
};

}  // namespace

base::Result<JailOutcome> run_with(const Setup& setup, const JailRequest& request) {
  const auto start = Clock::now();
  const bool limits_memory = !base::switched_off("jail.memory");
  const bool limits_processes = !base::switched_off("jail.processes");
  auto cgroup = Cgroup::make(setup.cgroups,
                             limits_memory ? request.limits.memory_bytes : std::size_t{1} << 60,
                             limits_processes ? request.limits.processes + kOwnProcesses : 30000);
  if (!cgroup) return cgroup.error();
  const auto filter = filter_bytes(request.syscalls);
  if (!filter) return filter.error();

  Channels channels;
  base::Descriptor output_write, status_write, info_read, info_write, report_read, report_write;
  const base::Descriptor input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const base::Descriptor filter_file = memory_file("membound-seccomp", *filter);
  if (!input.open() || !filter_file.open() || !stage_program().open() ||
      !base::make_pipe(channels.output, output_write) ||
      !base::make_pipe(channels.status, status_write) || !base::make_pipe(info_read, info_write) ||
      !base::make_pipe(report_read, report_write))
    return cannot("cannot be prepared", base::reason_text(errno));
  auto command =
      bubblewrap_command(setup, request,
                         {.filter = base::switched_off("jail.seccomp") ? -1 : filter_file.get(),
                          .info = info_write.get(),
                          .stage = stage_program().get(),
                          .status = status_write.get()});
  if (!command) return command.error();
  const base::Descriptor options = hide_options(command->arguments);
  if (!options.open()) return cannot("cannot be prepared", base::reason_text(errno));
  std::vector<int> kept = {filter_file.get(), info_write.get(), stage_program().get(),
                           status_write.get(), options.get()};
  kept.insert(kept.end(), request.descriptors.begin(), request.descriptors.end());
  auto environment = environment_of(request);
  auto argument_pointers = pointers(command->arguments);
  auto environment_pointers = pointers(environment);
  const Launch launch{.arguments = argument_pointers.data(),
                      .environment = environment_pointers.data(),
                      .input = input.get(),
                      .output = output_write.get(),
                      .report = report_write.get(),
                      .status = status_write.get(),
                      .kept = kept.data(),
                      .kept_count = kept.size(),
                      .cgroup = &*cgroup,
                      .user = own_user(setup) ? next_user() : 0,
                      .mounts = command->mounts.data(),
                      .mount_count = command->mounts.size(),
                      .parent = getpid()};
  channels.keeper = fork();
  if (channels.keeper < 0) return cannot("cannot be started", base::reason_text(errno));
  if (channels.keeper == 0) become_keeper(launch);
  setpgid(channels.keeper, channels.keeper);
  for (base::Descriptor* end : {&output_write, &status_write, &info_write, &report_write})
    end->reset();
  int reason = 0;
  if (read(report_read.get(), &reason, sizeof reason) == sizeof reason) {
    waitpid(channels.keeper, nullptr, 0);
    return cannot("cannot be started", base::reason_text(reason));
  }
  channels.inside = read_process_id(info_read.get());
  if (channels.inside > 0)
    channels.jail.reset(static_cast<int>(syscall(SYS_pidfd_open, channels.inside, 0)));
  const auto observed = Watch(setup, request, *cgroup, std::move(channels), start).finish();
  if (!observed) return observed.error();
  return outcome_of(request, *observed);
}

}  // namespace membound::jail
