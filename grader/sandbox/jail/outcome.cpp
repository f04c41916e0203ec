// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/watch.hpp"

#include <signal.h>
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "grader/base/result.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::jail {
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
