// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/jail_probe.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/sandbox/jail/bubblewrap.hpp"
#include "grader/sandbox/jail/init/landlock.hpp"

namespace membound::jail {
namespace {

namespace fs = std::filesystem;

/// Whether one of the process's arguments says that its owner is gone.
bool is_left(const fs::path& process) {
  // A process may end while it is read, which fails then; a stream's own operator keeps that to
  // itself.
  std::ostringstream text;
  text << std::ifstream(process / "cmdline", std::ios::binary).rdbuf();
  const std::string line = std::move(text).str();
  const std::string word = '\0' + std::string(kOwnerOrder) + "=";
  const auto at = line.find(word);
  return at != std::string::npos &&
         base::has_lost_its_owner(std::string_view(line).substr(at + word.size()));
}

}  // namespace

void sweep_jails() {
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t process = 0;
    std::from_chars(name.data(), name.data() + name.size(), process);
    if (process <= 0 || !is_left(entry->path())) continue;
    // Held before it is looked at again: the number may be another process's by now.
    const base::Descriptor held(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
    if (held.open() && is_left(entry->path()))
      syscall(SYS_pidfd_send_signal, held.get(), SIGKILL, nullptr, 0);
  }
}

namespace {

constexpr double kTrialSeconds = 20;

/// Starts the smallest program there is in the jail that was put together.
base::Status try_out(const Setup& setup) {
  JailRequest request;
  request.arguments = {"/usr/bin/true"};
  request.limits.wall_seconds = kTrialSeconds;
  const auto outcome = run_with(setup, request);
  if (!outcome) return outcome.error();
  if (outcome->exit_code == 0) return base::Done{};
  return base::Error{base::ErrorKind::kMachine, "bwrap",
                     "a trial run did not end well: " + outcome->output, "exit code 0",
                     "membound doctor"};
}

bool kernel_at_least(int major, int minor) {
  utsname name{};
  int is_major = 0, is_minor = 0;
  if (uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &is_major, &is_minor) != 2)
    return false;
  return is_major > major || (is_major == major && is_minor >= minor);
}

Setup find_setup() {
  Setup setup;
  Enforcement& found = setup.enforcement;
  const char* const path = std::getenv("PATH");
  setup.bubblewrap = base::find_in_path("bwrap", path == nullptr ? "/usr/bin:/bin" : path);
  if (setup.bubblewrap.empty()) {
    found.problem = "bubblewrap (bwrap) is not installed";
    return setup;
  }
  setup.mounts_privately = can_mount_privately();
  found.drops_user = geteuid() == 0;
  setup.counts_processes = found.drops_user || kernel_at_least(5, 14);
  if (!base::switched_off("jail.landlock")) found.landlock_abi = landlock_abi();
  if (!base::switched_off("jail.cgroup")) setup.cgroups = find_cgroups();
  base::Status works = try_out(setup);
  if (!works && setup.cgroups.version != 0) {
    // A group can be made but not joined, as in some containers.
    setup.cgroups = {};
    works = try_out(setup);
  }
  if (!works) {
    const std::string& why = works.error().found;
    found.problem = "no jail can be made: " + why.substr(0, why.find('\n'));
    return setup;
  }
  const Mechanism cgroup = setup.cgroups.version == 2 ? Mechanism::kCgroupV2 : Mechanism::kCgroupV1;
  found.files = found.network = Mechanism::kNamespace;
  found.syscalls = Mechanism::kSeccomp;
  found.memory = setup.cgroups.memory.empty() ? Mechanism::kSupervisor : cgroup;
  found.cpu = setup.cgroups.cpu.empty() ? Mechanism::kSupervisor : cgroup;
  found.processes = !setup.cgroups.processes.empty() ? cgroup
                    : setup.counts_processes         ? Mechanism::kRlimit
                                                     : Mechanism::kNone;
  return setup;
}

}  // namespace

bool own_user(const Setup& setup) {
  return setup.enforcement.drops_user && !base::switched_off("jail.user");
}

const Setup& machine_setup() {
  static const Setup setup = [] {
    sweep_jails();
    base::sweep_scratch_folders();
    return find_setup();
  }();
  return setup;
}

const Enforcement& probe() { return machine_setup().enforcement; }

}  // namespace membound::jail
