// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The jail's init: the first program inside a jail. It sets what can only be set from inside
/// (limits of a process, Landlock), starts the program, waits for it and for all it left, and
/// reports the exact way it ended; bubblewrap by itself turns a signal into an exit code. The
/// program cannot reach it: it is not dumpable, and where the kernel can, signals across Landlock's
/// border are refused. A static program without C++'s library; it is embedded into the library that
/// starts it.
///
/// Arguments: `key=value` in any order, then `--`, then the program and its own.
///   status=FD  landlock=ABI  address=BYTES  cpu=SECONDS  file=BYTES  processes=N  keep=FD
///   read=PATH  scratch=PATH  device=PATH  collect=PATH (beneath scratch)
///   sweep=1 (in a PID namespace of its own)
///   owner=MARK (read by nobody here: it tells in a list of processes whose jail it is)
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "grader/sandbox/jail/init/init_report.hpp"
#include "grader/sandbox/jail/init/landlock.hpp"

namespace membound::jail {
namespace {

/// What stands after "key=" in an argument, or null.
const char* value_of(const char* argument, const char* key) {
  const std::size_t length = std::strlen(key);
  return std::strncmp(argument, key, length) == 0 && argument[length] == '=' ? argument + length + 1
                                                                             : nullptr;
}

/// The init's own arguments: those before "--".
struct Orders {
  char** first;
  char** last;

  [[nodiscard]] const char* find(const char* key) const {
    for (char** at = first; at != last; ++at)
      if (const char* value = value_of(*at, key)) return value;
    return nullptr;
  }
  [[nodiscard]] long long number(const char* key, long long otherwise) const {
    const char* const value = find(key);
    return value == nullptr ? otherwise : std::atoll(value);
  }
};

bool limit(int resource, long long soft, long long hard) {
  if (soft < 0) return true;
  rlimit current{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &current) != 0) return false;
  // Never above what the site allows already.
  rlimit wanted{static_cast<rlim_t>(soft), static_cast<rlim_t>(hard)};
  if (wanted.rlim_max > current.rlim_max) wanted.rlim_max = current.rlim_max;
  if (wanted.rlim_cur > wanted.rlim_max) wanted.rlim_cur = wanted.rlim_max;
  return setrlimit(static_cast<__rlimit_resource>(resource), &wanted) == 0;
}

/// SIGXCPU comes every second. LLVM's compilers live on after the first, because they have a
/// handler for it, and end by the second: before SIGKILL, which would not tell the reason.
constexpr long long kSecondsAfterSigxcpu = 2;

bool set_limits(const Orders& orders) {
  const long long address = orders.number("address", -1), cpu = orders.number("cpu", -1);
  const long long file = orders.number("file", -1), processes = orders.number("processes", -1);
  return limit(RLIMIT_CORE, 0, 0) && limit(RLIMIT_AS, address, address) &&
         limit(RLIMIT_CPU, cpu, cpu + kSecondsAfterSigxcpu) && limit(RLIMIT_FSIZE, file, file) &&
         limit(RLIMIT_NPROC, processes, processes);
}

bool confine(const Orders& orders) {
  const Landlock rules(static_cast<int>(orders.number("landlock", 0)));
  for (char** at = orders.first; at != orders.last; ++at) {
    if (const char* path = value_of(*at, "read"); path && !rules.allow(path, PathUse::kRead))
      return false;
    if (const char* path = value_of(*at, "scratch"); path && !rules.allow(path, PathUse::kScratch))
      return false;
    if (const char* path = value_of(*at, "device"); path && !rules.allow(path, PathUse::kDevice))
      return false;
  }
  return rules.enforce();
}

/// Everything but the standard three and those to be kept.
void close_others(const Orders& orders, int also) {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) _exit(127);
  while (const dirent* entry = readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    bool keep = number <= 2 || number == also || number == dirfd(folder);
    for (char** at = orders.first; at != orders.last; ++at)
      if (const char* value = value_of(*at, "keep"); value && std::atoi(value) == number)
        keep = true;
    if (!keep) close(number);
  }
  closedir(folder);
}

void send(int status, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = write(status, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(126);
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

[[noreturn]] void become_program(const Orders& orders, char** program, int error_pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 1);
  close_others(orders, error_pipe);
  fcntl(error_pipe, F_SETFD, FD_CLOEXEC);
  if (set_limits(orders) && confine(orders)) execv(program[0], program);
  const int reason = errno;
  send(error_pipe, &reason, sizeof reason);
  _exit(127);
}

/// Files that are there, are regular and are not reached through a link.
int open_collected(const char* path) {
  const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat about {};
  if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode)) return file;
  if (file >= 0) close(file);
  return -1;
}

void send_files(const Orders& orders, int status, Report report) {
  const int scratch_known = orders.find("scratch") != nullptr;
  struct statvfs space {};
  if (scratch_known && statvfs(orders.find("scratch"), &space) == 0)
    report.scratch_full = space.f_bavail == 0 || space.f_favail == 0;
  std::uint32_t index = 0;
  for (char** at = orders.first; at != orders.last; ++at)
    if (const char* path = value_of(*at, "collect")) {
      const int file = open_collected(path);
      if (file >= 0) ++report.files;
      if (file >= 0) close(file);
    }
  send(status, &report, sizeof report);
  for (char** at = orders.first; at != orders.last; ++at) {
    const char* const path = value_of(*at, "collect");
    if (path == nullptr) continue;
    const int file = open_collected(path);
    struct stat about {};
    if (file >= 0 && fstat(file, &about) == 0) {
      FileHead head{index, 0, static_cast<std::uint64_t>(about.st_size)};
      send(status, &head, sizeof head);
      char buffer[65536];
      while (head.bytes > 0) {
        const std::size_t wanted = head.bytes < sizeof buffer ? head.bytes : sizeof buffer;
        const ssize_t size = read(file, buffer, wanted);
        if (size <= 0) _exit(126);  // it shrank: whoever did that gets no file
        send(status, buffer, static_cast<std::size_t>(size));
        head.bytes -= static_cast<std::uint64_t>(size);
      }
      close(file);
    }
    ++index;
  }
}

/// Waits for the program, then ends and collects whatever it left running. To `sweep` is to end all
/// that can be reached, which is only the jail's own in a PID namespace.
Report wait_for(pid_t program, bool sweep) {
  Report report;
  bool ended = false;
  for (;;) {
    int state = 0;
    const pid_t one = waitpid(-1, &state, 0);
    if (one < 0 && errno == EINTR) continue;
    if (one < 0) break;
    if (one != program) continue;
    ended = true;
    if (WIFEXITED(state)) report.exit_code = WEXITSTATUS(state);
    if (WIFSIGNALED(state)) report.signal = WTERMSIG(state);
    if (sweep) kill(-1, SIGKILL);
  }
  if (!ended) _exit(126);
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto microseconds = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000 +
           static_cast<std::uint64_t>(time.tv_usec);
  };
  report.cpu_microseconds = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
  report.peak_kilobytes = static_cast<std::uint64_t>(usage.ru_maxrss);
  return report;
}

int run_stage(char** first, char** last, char** program) {
  const Orders orders{first, last};
  const int status = static_cast<int>(orders.number("status", -1));
  prctl(PR_SET_DUMPABLE, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  fcntl(status, F_SETFD, FD_CLOEXEC);
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return 126;
  send(status, &kInitStands, 1);
  const pid_t child = fork();
  if (child < 0) return 126;
  if (child == 0) become_program(orders, program, error_pipe[1]);
  close(error_pipe[1]);
  int reason = 0;
  const bool failed = read(error_pipe[0], &reason, sizeof reason) == sizeof reason;
  Report report = wait_for(child, orders.find("sweep") != nullptr);
  if (failed) report.start_error = reason;
  send_files(orders, status, report);
  return 0;
}

}  // namespace
}  // namespace membound::jail

int main(int count, char** arguments) {
  for (int i = 1; i + 1 < count; ++i)
    if (std::strcmp(arguments[i], "--") == 0)
      return membound::jail::run_stage(arguments + 1, arguments + i, arguments + i + 1);
  return 126;
}
