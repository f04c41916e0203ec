// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One jailed run from outside, the supervisor: starts bubblewrap as a user without rights, with
/// the jail's init (init/init_main.cpp) as its program, and returns only when nothing of it runs
/// any more. The init travels inside this library, so that no file has to be found, trusted or
/// reachable then.
#include "grader/sandbox/jail/jail.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <system_error>

#include <grp.h>

#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/sandbox/jail/bubblewrap.hpp"
#include "grader/sandbox/jail/cgroup.hpp"
#include "grader/sandbox/jail/watch.hpp"

// MEMBOUND_INIT_PROGRAM is the path of the built init; the assembler copies its bytes.
asm(R"(
  .pushsection .rodata
  .hidden membound_init_begin
  .hidden membound_init_end
  .global membound_init_begin
  .global membound_init_end
  .balign 16
membound_init_begin:
  .incbin ")" MEMBOUND_INIT_PROGRAM R"("
membound_init_end:
  .popsection
)");

// Names of symbols, as the assembler has them. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
extern const char membound_init_begin[];
extern const char membound_init_end[];
}
// NOLINTEND(readability-identifier-naming)

namespace membound::jail {
namespace {

#ifndef MFD_EXEC
constexpr unsigned kMfdExec = 0x10;  // Linux 6.3; older kernels refuse it and do not need it
#else
constexpr unsigned kMfdExec = MFD_EXEC;
#endif

base::Descriptor make_program() {
  const char* const name = "membound-init";
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  base::Descriptor file(memfd_create(name, kFlags | kMfdExec));
  if (!file.open()) file.reset(memfd_create(name, kFlags));
  const auto size = static_cast<std::size_t>(membound_init_end - membound_init_begin);
  if (!file.open() || write(file.get(), membound_init_begin, size) != static_cast<ssize_t>(size) ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    return base::Descriptor();
  return file;
}

/// A sealed file in memory that holds the program; -1 when the machine forbids such files. One for
/// the whole process.
const base::Descriptor& init_program() {
  static const base::Descriptor program = make_program();
  return program;
}

/// What the child needs between fork and exec, all made before: there it may only call functions
/// that are safe in a process forked from one with threads.
struct KeeperStart {
  char** arguments;
  char** environment;
  int input;
  int output;
  int report;  // receives errno when bubblewrap cannot be started
  int status;  // the init's
  const int* kept;
  std::size_t kept_count;
  const Cgroup* cgroup;
  uid_t user;  // 0: stay who we are
  const PrivateMount* mounts;
  std::size_t mount_count;
  pid_t parent;
};

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
               mount_privately(start.mounts, start.mount_count) &&
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

/// Stands between us and bubblewrap, whose own first process inside outlives it by a moment and
/// would become a child of the machine's init; in a container that may be a program that collects
/// nobody. When the keeper has ended, nothing of the run is left; it ends with bubblewrap's code.
[[noreturn]] void become_keeper(const KeeperStart& start) {
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

using Clock = std::chrono::steady_clock;

/// User numbers of runs, when we may choose: above every account, below what a container's map
/// usually ends with.
constexpr uid_t kFirstUser = 60000;
constexpr unsigned kUsers = 5000;
/// bubblewrap outside, its first process inside, and the init.
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

/// The ends of the pipes that the jail writes into, and those that are read while it starts.
struct Ends {
  base::Descriptor output, status, info, report;
  base::Descriptor info_read, report_read;
};

/// errno says what was wrong.
bool make_pipes(Channels& channels, Ends& ends) {
  return base::make_pipe(channels.output, ends.output) &&
         base::make_pipe(channels.status, ends.status) &&
         base::make_pipe(ends.info_read, ends.info) &&
         base::make_pipe(ends.report_read, ends.report);
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
  Ends ends;
  const base::Descriptor input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const base::Descriptor filter_file = memory_file("membound-seccomp", *filter);
  if (!input.open() || !filter_file.open() || !init_program().open() || !make_pipes(channels, ends))
    return cannot("cannot be prepared", base::reason_text(errno));
  auto command =
      bubblewrap_command(setup, request,
                         {.filter = base::switched_off("jail.seccomp") ? -1 : filter_file.get(),
                          .info = ends.info.get(),
                          .init = init_program().get(),
                          .status = ends.status.get()});
  if (!command) return command.error();
  const base::Descriptor options = hide_options(command->arguments);
  if (!options.open()) return cannot("cannot be prepared", base::reason_text(errno));
  std::vector<int> kept = {filter_file.get(), ends.info.get(), init_program().get(),
                           ends.status.get(), options.get()};
  kept.insert(kept.end(), request.descriptors.begin(), request.descriptors.end());
  auto environment = environment_of(request);
  auto argument_pointers = pointers(command->arguments);
  auto environment_pointers = pointers(environment);
  const KeeperStart how{.arguments = argument_pointers.data(),
                        .environment = environment_pointers.data(),
                        .input = input.get(),
                        .output = ends.output.get(),
                        .report = ends.report.get(),
                        .status = ends.status.get(),
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
  for (base::Descriptor* end : {&ends.output, &ends.status, &ends.info, &ends.report}) end->reset();
  int reason = 0;
  if (read(ends.report_read.get(), &reason, sizeof reason) == sizeof reason) {
    waitpid(channels.keeper, nullptr, 0);
    return cannot("cannot be started", base::reason_text(reason));
  }
  channels.inside = read_process_id(ends.info_read.get());
  if (channels.inside > 0)
    channels.jail.reset(static_cast<int>(syscall(SYS_pidfd_open, channels.inside, 0)));
  return outcome_of(request, watch(setup, request, *cgroup, std::move(channels), start));
}

base::Result<JailOutcome> run(const JailRequest& request) {
  const Setup& setup = machine_setup();
  if (!setup.enforcement.untrusted_ok()) {
    return base::Error{base::ErrorKind::kMachine, "jail", setup.enforcement.describe(),
                       "files, network and system calls closed off, and limits on memory, CPU time "
                       "and processes",
                       "sudo apt-get install bubblewrap, allow user namespaces, or give "
                       "--trust-submissions when all submissions come from people you trust"};
  }
  return run_with(setup, request);
}

namespace {

namespace fs = std::filesystem;

/// Turns paths of the inside into those of the outside.
class Outside {
 public:
  Outside(const JailRequest& request, const fs::path& scratch) : bindings_(request.bindings) {
    bindings_.push_back({scratch, request.scratch, true});
    // The program starts elsewhere.
    for (Binding& binding : bindings_) binding.outside = fs::absolute(binding.outside);
  }

  [[nodiscard]] std::string path(const std::string& inside) const {
    for (const Binding& binding : bindings_) {
      const std::string start = binding.inside.string();
      if (inside == start) return binding.outside.string();
      if (inside.starts_with(start + "/"))
        return binding.outside.string() + inside.substr(start.size());
    }
    return inside;
  }
  /// A path, a list of paths with ':' between, or any other text.
  [[nodiscard]] std::string text(const std::string& inside) const {
    std::string all;
    for (std::size_t start = 0;;) {
      const std::size_t end = std::min(inside.find(':', start), inside.size());
      all += path(inside.substr(start, end - start));
      if (end == inside.size()) return all;
      all += ':';
      start = end + 1;
    }
  }

 private:
  std::vector<Binding> bindings_;
};

std::map<std::string, std::string> collected(const JailRequest& request, const fs::path& scratch) {
  std::map<std::string, std::string> files;
  for (const fs::path& name : request.collected) {
    std::error_code ignored;  // a pipe would keep us waiting
    if (!fs::is_regular_file(scratch / name, ignored)) continue;
    if (auto text = base::read_file(scratch / name)) files[name] = *std::move(text);
  }
  return files;
}

}  // namespace

base::Result<JailOutcome> run_unjailed(const JailRequest& request) {
  const base::ScratchFolder scratch("unjailed");
  if (scratch.path().empty())
    return base::Error{base::ErrorKind::kMachine, "the folder for temporary files",
                       "no folder can be made in it", "a folder for a program's files",
                       "check $TMPDIR and that the disk is not full"};
  const Outside outside(request, scratch.path());
  base::ProcessRequest plain;
  for (const std::string& argument : request.arguments)
    plain.arguments.push_back(outside.text(argument));
  for (const auto& [name, value] : request.environment)
    plain.environment[name] = outside.text(value);
  plain.folder = outside.path(request.folder.string());
  plain.timeout_seconds = request.limits.wall_seconds;
  plain.output_limit_bytes = request.limits.output_bytes;
  plain.stop = request.stop;
  plain.keep_going = request.keep_going;
  plain.descriptors = request.descriptors;
  auto ended = base::run_process(plain);
  if (!ended) return ended.error();

  JailOutcome outcome;
  outcome.exit_code = ended->exit_code;
  outcome.signal = ended->signal;
  outcome.stopped = ended->stopped;
  outcome.output = std::move(ended->output);
  outcome.seconds = ended->seconds;
  outcome.files = collected(request, scratch.path());
  if (ended->timed_out) outcome.limit = LimitHit::kWall;
  // Whoever wrote too much did so before time was up.
  if (ended->output_cut) outcome.limit = LimitHit::kOutput;
  if (outcome.limit != LimitHit::kNone) outcome.exit_code = -1;
  return outcome;
}

}  // namespace membound::jail
