// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One jailed run from outside: starts bubblewrap as a user without rights, and returns only when
/// nothing of it runs any more.
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include "grader/base/failpoint.hpp"
#include "grader/base/result.hpp"
#include "grader/sandbox/jail/bubblewrap.hpp"
#include "grader/sandbox/jail/keeper.hpp"
#include "grader/sandbox/jail/outcome.hpp"
#include "grader/sandbox/jail/stage_image.hpp"
#include "grader/sandbox/jail/staged_mount.hpp"
#include "grader/sandbox/jail/syscall_filter.hpp"
#include "grader/sandbox/jail/watch.hpp"

namespace membound::jail {
namespace {

using Clock = std::chrono::steady_clock;

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
  const KeeperStart how{.arguments = argument_pointers.data(),
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
  if (channels.keeper == 0) become_keeper(how);
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
  return outcome_of(request, watch(setup, request, *cgroup, std::move(channels), start));
}

}  // namespace membound::jail
