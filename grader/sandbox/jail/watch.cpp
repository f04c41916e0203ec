// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "grader/base/failpoint.hpp"
#include "grader/base/result.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::jail {
namespace {

/// Sums over a process tree.
struct TreeUsage {
  std::size_t memory_bytes = 0;  ///< resident and not shared with a file
  double cpu_seconds = 0;        ///< including that of descendants already collected
  int processes = 0;
};

namespace fs = std::filesystem;

/// A tree that grows while it is walked must not keep us here.
constexpr int kMostProcesses = 4096;

std::string line_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

void add_memory(const fs::path& folder, TreeUsage& usage) {
  std::istringstream words(line_of(folder / "statm"));
  std::size_t total = 0, resident = 0, shared = 0;
  if (words >> total >> resident >> shared && resident > shared)
    usage.memory_bytes += (resident - shared) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void add_cpu(const fs::path& folder, TreeUsage& usage) {
  // The name, in parentheses, may hold anything; fields 14 to 17 are counted after it.
  const std::string line = line_of(folder / "stat");
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return;
  std::istringstream words(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) words >> skipped;
  double ticks = 0, one = 0;
  for (int field = 14; field <= 17 && words >> one; ++field) ticks += one;
  usage.cpu_seconds += ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// A process that ends while we look counts as nothing.
TreeUsage tree_usage(pid_t root) {
  TreeUsage usage;
  std::vector<pid_t> waiting = {root};
  while (!waiting.empty() && usage.processes < kMostProcesses) {
    const fs::path folder = "/proc/" + std::to_string(waiting.back());
    waiting.pop_back();
    ++usage.processes;
    add_memory(folder, usage);
    add_cpu(folder, usage);
    std::error_code error;
    for (fs::directory_iterator thread(folder / "task", error), end; !error && thread != end;
         thread.increment(error)) {
      std::istringstream children(line_of(thread->path() / "children"));
      for (pid_t child = 0; children >> child;) waiting.push_back(child);
    }
  }
  return usage;
}

using Clock = std::chrono::steady_clock;

constexpr int kTickMs = 20;

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

  Observed finish() {
    while (!gone()) {
      wait_for_news();
      check_limits();
      if (killed_at_ && since(*killed_at_) > request_.seconds_to_die) {
        // What it did is known, and is no other run's: whoever asked looks at the device itself.
        observed_.output += "\na process of it did not end " +
                            std::to_string(static_cast<int>(request_.seconds_to_die)) +
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
    if (ended == channels_.keeper && base::switched_off("jail.init"))
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

Observed watch(const Setup& setup, const JailRequest& request, const Cgroup& cgroup,
               Channels channels, Clock::time_point start) {
  return Watch(setup, request, cgroup, std::move(channels), start).finish();
}

namespace {

/// Takes values off the front of the init's bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  template <typename T>
  std::optional<T> take() {
    if (left_.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
    return value;
  }
  std::optional<std::string> take_text(std::uint64_t size) {
    if (left_.size() < size) return std::nullopt;
    std::string text(left_.substr(0, size));
    left_.remove_prefix(size);
    return text;
  }

 private:
  std::string_view left_;
};

void take_files(const JailRequest& request, Reader& reader, std::uint32_t count,
                JailOutcome& outcome) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto head = reader.take<FileHead>();
    if (!head || head->index >= request.collected.size()) return;
    auto bytes = reader.take_text(head->bytes);
    if (!bytes) return;
    outcome.files[request.collected[head->index]] = std::move(*bytes);
  }
}

/// Of the whole run: what the supervisor last counted, or what the init collected at the end.
double cpu_seconds(const Observed& observed, const std::optional<Report>& report) {
  const double collected = report ? static_cast<double>(report->cpu_microseconds) / 1e6 : 0;
  return std::max(observed.cpu_seconds, collected);
}

/// From 128 plus the signal's number; what a program that leaves with such a code makes use of.
JailOutcome as_a_shell_says(int code, JailOutcome outcome) {
  outcome.signal = code > 128 ? code - 128 : 0;
  outcome.exit_code = code > 128 ? -1 : code;
  return outcome;
}

/// For its limit the kernel counts a process in ticks, and on a busy virtual machine those run
/// ahead: of 2 s by ticks 1.68 s were used. A shell then says by its code why its child ended.
constexpr double kBelievedFromShare = 0.75;

/// The limit that explains this end, for those that the kernel enforces.
LimitHit kernel_limit(const Limits& limits, const Observed& observed,
                      const std::optional<Report>& report) {
  if (observed.memory_kills > 0) return LimitHit::kMemory;
  const int signal = report ? report->signal : 0;
  if (signal == SIGXCPU) return LimitHit::kCpu;
  if (signal == SIGXFSZ) return LimitHit::kFileSize;
  if (signal == SIGSYS) return LimitHit::kSyscall;
  const bool well = report && report->exit_code == 0;
  if (well) return LimitHit::kNone;
  // The kernel may end a child before the supervisor looks; its parent then just ends badly. Who
  // lives on after SIGXCPU, as LLVM does, is killed.
  const auto ended_by = [&](int number) {
    return report && (report->signal == number || report->exit_code == 128 + number);
  };
  const bool says_so = ended_by(SIGXCPU) || ended_by(SIGKILL);
  const double share = says_so ? kBelievedFromShare : 1;
  if (cpu_seconds(observed, report) >= limits.cpu_seconds * share) return LimitHit::kCpu;
  if (report && report->scratch_full != 0) return LimitHit::kFileSize;
  return observed.refused_processes > 0 ? LimitHit::kProcesses : LimitHit::kNone;
}

}  // namespace

base::Result<JailOutcome> outcome_of(const JailRequest& request, const Observed& observed) {
  Reader reader(observed.status);
  const auto stands = reader.take<char>();
  const auto report = reader.take<Report>();
  const bool reported = report && report->magic == kReportMagic;
  JailOutcome outcome;
  outcome.stopped = observed.stopped;
  outcome.output = observed.output;
  outcome.peak_memory_bytes = observed.peak_memory_bytes;
  outcome.cpu_seconds = observed.cpu_seconds;
  outcome.seconds = observed.seconds;
  outcome.limit = observed.limit;
  if (outcome.limit == LimitHit::kNone && !observed.stopped)
    outcome.limit = kernel_limit(request.limits, observed, reported ? report : std::nullopt);
  if (observed.bubblewrap_code && outcome.limit == LimitHit::kNone)
    return as_a_shell_says(*observed.bubblewrap_code, std::move(outcome));
  const bool explained = outcome.limit != LimitHit::kNone || observed.stopped;
  if ((!stands || *stands != kInitStands) && !explained) {
    return base::Error{base::ErrorKind::kMachine, "bwrap",
                       observed.output.empty() ? "ended without a word" : observed.output, "a jail",
                       "membound doctor"};
  }
  if (reported && report->start_error != 0) {
    return base::Error{base::ErrorKind::kMachine, request.arguments.front(),
                       "cannot be started in the jail: " + base::reason_text(report->start_error),
                       "a program at this path inside the jail", "membound doctor"};
  }
  if (!reported) {
    // The init itself was ended, and with it the program.
    outcome.signal = SIGKILL;
    return outcome;
  }
  outcome.exit_code = report->signal == 0 ? report->exit_code : -1;
  outcome.signal = report->signal;
  outcome.cpu_seconds = cpu_seconds(observed, report);
  if (outcome.peak_memory_bytes == 0) outcome.peak_memory_bytes = report->peak_kilobytes * 1024;
  take_files(request, reader, report->files, outcome);
  return outcome;
}

std::string_view to_string(Mechanism mechanism) {
  switch (mechanism) {
    case Mechanism::kCgroupV2:
      return "cgroup v2";
    case Mechanism::kCgroupV1:
      return "cgroup v1";
    case Mechanism::kNamespace:
      return "namespace";
    case Mechanism::kSeccomp:
      return "seccomp";
    case Mechanism::kLandlock:
      return "Landlock";
    case Mechanism::kRlimit:
      return "rlimit";
    case Mechanism::kSupervisor:
      return "supervisor";
    case Mechanism::kNone:
      return "none";
  }
  return "none";
}

std::string_view to_string(LimitHit hit) {
  switch (hit) {
    case LimitHit::kNone:
      return "";
    case LimitHit::kWall:
      return "wall clock";
    case LimitHit::kCpu:
      return "CPU time";
    case LimitHit::kMemory:
      return "memory";
    case LimitHit::kOutput:
      return "output";
    case LimitHit::kFileSize:
      return "file size";
    case LimitHit::kProcesses:
      return "processes";
    case LimitHit::kSyscall:
      return "forbidden system call";
  }
  return "";
}

bool Enforcement::untrusted_ok() const {
  for (const Mechanism one : {memory, cpu, processes, files, network, syscalls})
    if (one == Mechanism::kNone) return false;
  return true;
}

std::string Enforcement::describe() const {
  const auto part = [](const char* what, Mechanism mechanism) {
    return std::string(what) + ": " + std::string(to_string(mechanism));
  };
  std::string text = part("files", files);
  if (landlock_abi > 0 && files != Mechanism::kNone)
    text += " + Landlock ABI " + std::to_string(landlock_abi);
  text += ", " + part("network", network) + ", " + part("system calls", syscalls) + ", " +
          part("memory", memory) + ", " + part("CPU time", cpu) + ", " +
          part("processes", processes) +
          ", user: " + (drops_user ? "a number of its own for every run" : "ours, in a namespace");
  if (!problem.empty()) text += " (" + problem + ")";
  return text;
}

}  // namespace membound::jail
