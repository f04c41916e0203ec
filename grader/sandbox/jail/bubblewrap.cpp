// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/bubblewrap.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
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
#include "grader/base/result.hpp"
#include "grader/sandbox/jail/init/landlock.hpp"

namespace membound::jail {
namespace {

/// Covered, for the child alone. bubblewrap starts from there and needs nothing in it.
constexpr const char* kCovered = "/tmp";

bool own_view() {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool cover() {
  return mount("membound", kCovered, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m") == 0;
}

bool make_target(const PrivateMount& one) {
  if (one.is_folder) return mkdir(one.target.c_str(), 0755) == 0;
  const int file = open(one.target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return false;
  close(file);
  return true;
}

}  // namespace

PrivateMount::PrivateMount(std::string path, bool folder, std::size_t number)
    : source(std::move(path)),
      target(std::string(kCovered) + "/" + std::to_string(number)),
      is_folder(folder) {}

bool mount_privately(const PrivateMount* mounts, std::size_t count) {
  if (count == 0) return true;
  if (count > kMostPrivateMounts) return errno = E2BIG, false;
  if (!own_view()) return false;
  // Opened in the new view, or the kernel would refuse them there; and before a part of it is
  // covered.
  std::array<int, kMostPrivateMounts> places{};
  for (std::size_t i = 0; i < count; ++i) {
    places[i] = open(mounts[i].source.c_str(), O_PATH | O_CLOEXEC);
    if (places[i] < 0) return false;
  }
  if (!cover()) return false;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<char, 32> source{};
    std::snprintf(source.data(), source.size(), "/proc/self/fd/%d", places[i]);
    if (!make_target(mounts[i]) ||
        mount(source.data(), mounts[i].target.c_str(), nullptr, MS_BIND, nullptr) != 0)
      return false;
  }
  return true;
}

bool can_mount_privately() {
  if (geteuid() != 0) return false;
  const pid_t child = fork();
  if (child == 0) _exit(own_view() && cover() ? 0 : 1);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

namespace {

namespace fs = std::filesystem;

/// The system's programs, libraries and headers. Not /usr/local, /opt or /etc as a whole: a site
/// puts things of its own there.
constexpr const char* kSystem[] = {"/usr/bin",         "/usr/lib",         "/usr/lib32",
                                   "/usr/lib64",       "/usr/libexec",     "/usr/include",
                                   "/etc/ld.so.cache", "/etc/alternatives"};
/// Links into /usr on merged systems, folders on others.
constexpr const char* kPerhapsLinks[] = {"/bin", "/lib", "/lib32", "/lib64"};
constexpr const char* kCharacterDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                             "/dev/urandom"};

/// Of the jail itself: bubblewrap's first process inside, and the init.
constexpr int kBubblewrapProcesses = 2;

/// Collects the two halves: bubblewrap's options and the init's orders.
class CommandBuilder {
 public:
  CommandBuilder(const Setup& setup, const JailRequest& request)
      : setup_(setup), request_(request) {}

  base::Result<BubblewrapCommand> build(const InheritedDescriptors& descriptors) {
    option({setup_.bubblewrap, "--unshare-user", "--unshare-ipc", "--unshare-uts",
            "--unshare-cgroup-try", "--die-with-parent", "--new-session"});
    if (!base::switched_off("jail.userns")) option({"--disable-userns"});
    if (!base::switched_off("jail.network")) option({"--unshare-net"});
    if (!base::switched_off("jail.pid-namespace")) {
      option({"--unshare-pid"});
      // Everything that it can reach is then the jail's own.
      order("sweep", "1");
    }
    option({"--info-fd", std::to_string(descriptors.info)});
    if (descriptors.filter >= 0) option({"--seccomp", std::to_string(descriptors.filter)});
    if (!own_user(setup_)) option({"--uid", "60000", "--gid", "60000"});
    option({"--proc", "/proc", "--dev", "/dev", "--hostname", "jail"});
    // How this machine's kernel was started, and who built it.
    for (const char* file : {"/proc/cmdline", "/proc/version"})
      option({"--ro-bind", "/dev/null", file});
    if (!request_.hides_proc) order("read", "/proc");
    for (const char* node : kCharacterDevices) order("device", node);
    bind_system();
    for (const Binding& one : request_.bindings)
      if (!bind(one.outside, one.inside, one.writable ? Access::kWrite : Access::kRead))
        return problem_;
    for (const fs::path& node : request_.devices)
      if (!bind(node, node, Access::kDevice)) return problem_;
    if (!request_.devices.empty()) let_a_driver_start();
    if (base::switched_off("jail.files")) option({"--bind", "/", "/outside"});
    scratch();
    option({"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", request_.folder});
    if (!base::switched_off("jail.init")) {
      option({"--", "/proc/self/fd/" + std::to_string(descriptors.init)});
      limits(descriptors.status);
      option(orders_);
    }
    option({"--"});
    for (const std::string& word : request_.arguments) option({word});
    return std::move(command_);
  }

 private:
  enum class Access { kRead, kWrite, kDevice };

  void option(const std::vector<std::string>& words) {
    command_.arguments.insert(command_.arguments.end(), words.begin(), words.end());
  }
  void order(const std::string& key, const std::string& value) {
    orders_.push_back(key + "=" + value);
  }

  bool bind(const fs::path& outside, const fs::path& inside, Access access) {
    order(access == Access::kRead    ? "read"
          : access == Access::kWrite ? "scratch"
                                     : "device",
          inside);
    struct stat about {};
    if (stat(outside.c_str(), &about) != 0) {
      problem_ = {base::ErrorKind::kMachine, outside.string(),
                  "cannot be shown to a jailed program: " + base::reason_text(errno),
                  "a file or folder that is there", "membound doctor"};
      return false;
    }
    const std::string name = access == Access::kRead    ? "--ro-bind"
                             : access == Access::kWrite ? "--bind"
                                                        : "--dev-bind";
    if (setup_.mounts_privately && access != Access::kDevice) {
      command_.mounts.emplace_back(outside, S_ISDIR(about.st_mode), command_.mounts.size());
      option({name, command_.mounts.back().target, inside});
    } else {
      option({name, outside, inside});
    }
    return true;
  }

  void bind_system() {
    std::error_code ignored;
    for (const char* path : kSystem)
      if (fs::exists(path, ignored)) bind_as_it_is(path);
    for (const char* path : kPerhapsLinks) {
      if (fs::is_symlink(path, ignored))
        option({"--symlink", fs::read_symlink(path, ignored), path});
      else if (fs::exists(path, ignored))
        bind_as_it_is(path);
    }
  }
  /// What a GPU's driver asks for before anything else, and answers CUDA_ERROR_OPERATING_SYSTEM
  /// (304) without: /sys, where it finds the device, as every container shows it; and leave to name
  /// its threads, in /proc/PID/task/TID/comm. Inside, /proc holds the jail's own processes only,
  /// and the rest of it is root's. Source: reports of others' jails, github.com/NVIDIA/OpenShell,
  /// issue 1486, and github.com/truefoundry/trueforge, issue 466.
  void let_a_driver_start() {
    bind_as_it_is("/sys");
    order("device", "/proc");
  }
  /// Everybody may reach the system's own folders.
  void bind_as_it_is(const char* path) {
    order("read", path);
    option({"--ro-bind", path, path});
  }

  void scratch() {
    if (!base::switched_off("jail.scratch"))
      option({"--size", std::to_string(request_.limits.scratch_bytes)});
    option({"--tmpfs", request_.scratch});
    // First among its kind: the init looks there for room that is left.
    orders_.insert(orders_.begin(), "scratch=" + request_.scratch.string());
  }

  void limits(int status) {
    const Limits& limits = request_.limits;
    const Enforcement& enforcement = setup_.enforcement;
    order("status", std::to_string(status));
    order(std::string(kOwnerOrder), base::owner_mark());
    order("landlock",
          base::switched_off("jail.landlock") ? "0" : std::to_string(enforcement.landlock_abi));
    if (setup_.cgroups.memory.empty() && limits.limit_address_space &&
        !base::switched_off("jail.memory"))
      order("address", std::to_string(limits.memory_bytes));
    if (!base::switched_off("jail.cpu"))
      order("cpu", std::to_string(static_cast<long long>(std::ceil(limits.cpu_seconds))));
    if (!base::switched_off("jail.file-size")) order("file", std::to_string(limits.file_bytes));
    if (setup_.cgroups.processes.empty() && setup_.counts_processes &&
        !base::switched_off("jail.processes"))
      order("processes", std::to_string(limits.processes + kBubblewrapProcesses));
    for (const int kept : request_.descriptors) order("keep", std::to_string(kept));
    for (const fs::path& file : request_.collected) order("collect", request_.scratch / file);
  }

  const Setup& setup_;
  const JailRequest& request_;
  BubblewrapCommand command_;
  std::vector<std::string> orders_;
  base::Error problem_;
};

}  // namespace

base::Result<BubblewrapCommand> bubblewrap_command(const Setup& setup, const JailRequest& request,
                                                   const InheritedDescriptors& descriptors) {
  return CommandBuilder(setup, request).build(descriptors);
}

namespace {

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
