// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs one program that nobody trusts: it sees the files it was given and nothing else, has no
/// network, ends when a limit is reached, and leaves nothing behind. What this machine can enforce
/// is asked once, said aloud, and never assumed. People who run their own code go without the jail.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::jail {

inline constexpr std::size_t kMegabyte = std::size_t{1} << 20;

/// What a program may use, with everything it starts.
struct Limits {
  double wall_seconds = 60;
  double cpu_seconds = 60;                      ///< summed over its processes
  std::size_t memory_bytes = 4096 * kMegabyte;  ///< of all its processes, scratch files included
  std::size_t output_bytes = kMegabyte / 4;     ///< stdout and stderr together
  std::size_t file_bytes = 256 * kMegabyte;     ///< the largest file it may write
  std::size_t scratch_bytes = 512 * kMegabyte;  ///< all files in its scratch folder
  int processes = 64;                           ///< and threads, at one moment
  /// Where no memory cgroup can be had, limit each process's address space to memory_bytes. To be
  /// switched off for programs that reserve far more than they use, as the CUDA driver does.
  bool limit_address_space = true;
};

/// The mechanism that enforces a promise on this machine, strongest first.
enum class Mechanism {
  kCgroupV2,
  kCgroupV1,
  kNamespace,   ///< bubblewrap's namespaces: files, network, processes
  kSeccomp,     ///< a system call filter
  kLandlock,    ///< a second line behind the mount namespace
  kRlimit,      ///< for each process by itself
  kSupervisor,  ///< the supervisor looks several times a second and ends what is over the limit
  kNone
};

/// "cgroup v1", "namespace", …
[[nodiscard]] std::string_view to_string(Mechanism mechanism);

/// What is in force here.
struct Enforcement {
  Mechanism memory = Mechanism::kNone;
  Mechanism cpu = Mechanism::kNone;
  Mechanism processes = Mechanism::kNone;
  Mechanism files = Mechanism::kNone;
  Mechanism network = Mechanism::kNone;
  Mechanism syscalls = Mechanism::kNone;
  int landlock_abi = 0;     ///< 0: the kernel has no Landlock
  bool drops_user = false;  ///< we are root and every run gets a user number of its own
  std::string problem;      ///< why there is no namespace, when there is none

  /// Whether programs of people whom nobody trusts may run here: files, network and system calls
  /// are closed off, and memory, CPU time and processes are limited.
  [[nodiscard]] bool untrusted_ok() const;
  /// One line for reports: "files: namespace + Landlock 7, memory: cgroup v1, …".
  [[nodiscard]] std::string describe() const;
};

/// Asks the machine, by trying: a jail is started and a cgroup made. Before that, whatever earlier
/// processes left that were killed is ended and removed: jails, control groups, temporary folders.
/// Later calls return the first answer.
[[nodiscard]] const Enforcement& probe();

/// Something of the outside that the program sees.
struct Binding {
  std::filesystem::path outside;
  std::filesystem::path inside;  ///< absolute
  bool writable = false;
};

/// Which system calls are refused.
enum class SyscallProfile {
  kCompute,  ///< no sockets of any kind
  kDevice    ///< as kCompute, but local sockets, which the CUDA driver opens
};

/// What to run and what it gets.
struct JailRequest {
  std::vector<std::string> arguments;          ///< the program first, as a path inside the jail
  std::vector<Binding> bindings;               ///< besides the system's programs and libraries
  std::filesystem::path scratch = "/scratch";  ///< inside: empty, writable, of scratch_bytes
  /// Nothing below /proc may be opened: what is mounted from where stands there. Links are still
  /// read, so that a compiler finds itself by /proc/self/exe. Needs Landlock.
  bool hides_proc = false;
  std::filesystem::path folder = "/scratch";            ///< inside: where the program starts
  std::map<std::string, std::string> environment = {};  ///< all of it: ours is not passed on
  Limits limits;
  SyscallProfile syscalls = SyscallProfile::kCompute;
  std::vector<int> descriptors = {};  ///< kept open, under the same numbers (3 and up)
  std::vector<std::filesystem::path> devices = {};    ///< nodes such as /dev/nvidiactl
  std::vector<std::filesystem::path> collected = {};  ///< files of scratch handed back at the end
  const std::atomic<bool>* stop = nullptr;            ///< set by Ctrl-C: ends the program
  /// Called about twenty times a second; returning false ends the program as out of wall time.
  std::function<bool()> keep_going = {};
  /// How long run() waits for the last process's end after SIGKILL, on a machine with much else to
  /// do; a device driver may hold one longer, and then a human has to look.
  double seconds_to_die = 60;
};

/// Which limit ended the program, or would not let it go on.
enum class LimitHit { kNone, kWall, kCpu, kMemory, kOutput, kFileSize, kProcesses, kSyscall };

/// "wall clock", "memory", …; "" for kNone.
[[nodiscard]] std::string_view to_string(LimitHit hit);

/// How it ended, as the supervisor saw it: never from the program's own words.
struct JailOutcome {
  int exit_code = -1;  ///< -1 when a signal or a limit ended it
  int signal = 0;      ///< the signal that ended it, or 0
  LimitHit limit = LimitHit::kNone;
  bool stopped = false;                      ///< because of JailRequest::stop
  std::string output;                        ///< stdout and stderr, up to the limit; raw bytes
  std::map<std::string, std::string> files;  ///< of JailRequest::collected: those that were there
  std::size_t peak_memory_bytes = 0;         ///< of all its processes; 0 where nobody counted
  double cpu_seconds = 0;
  double seconds = 0;
};

/// Runs it to its end. When this returns, no process, mount or cgroup of it is left, unless the
/// kernel itself holds a process for longer than `seconds_to_die` after SIGKILL; `output` says so
/// then. An error means that the jail could not be set up: the machine's fault, not the program's.
[[nodiscard]] base::Result<JailOutcome> run(const JailRequest& request);

/// As run(), but with our rights. Paths inside the jail, alone or in a list with ':', become those
/// outside, in arguments and environment; scratch is a folder that is removed at the end; the
/// environment is on top of ours. Of the limits only wall clock and output are kept.
[[nodiscard]] base::Result<JailOutcome> run_unjailed(const JailRequest& request);

}  // namespace membound::jail
