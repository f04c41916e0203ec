// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/bubblewrap.hpp"

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>

#include <cerrno>
#include <memory>

#include "grader/base/result.hpp"

namespace membound::jail {
namespace {

/// No program that compiles or computes makes these: one that does ends at once, with SIGSYS.
constexpr const char* kEndsTheProgram[] = {
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "process_madvise", "kcmp",
    // the kernel
    "bpf", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load", "init_module",
    "finit_module", "delete_module", "reboot", "swapon", "swapoff", "acct", "iopl", "ioperm",
    "lookup_dcookie", "quotactl", "quotactl_fd", "nfsservctl", "vhangup", "fanotify_init",
    // mounts and namespaces
    "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "setns", "unshare", "open_by_handle_at"};

/// Programs ask for these to see whether they are there, and do without.
constexpr const char* kRefused[] = {
    "io_uring_setup", "io_uring_enter", "io_uring_register", "add_key",
    "request_key",    "keyctl",         "name_to_handle_at", "syslog",
    "settimeofday",   "clock_settime",  "clock_adjtime",     "adjtimex",
    "sethostname",    "setdomainname",  "modify_ldt",        "uselib",
    "ustat",          "sysfs",          "_sysctl",           "migrate_pages",
    "move_pages",     "memfd_secret",   "mq_open",           "mq_unlink"};

constexpr const char* kSockets[] = {"socket", "socketpair", "connect", "bind",
                                    "listen", "accept",     "accept4"};
constexpr const char* kSharedMemory[] = {"shmget", "shmat",  "shmctl", "semget", "semop",
                                         "semctl", "msgget", "msgsnd", "msgrcv", "msgctl"};

/// Adds rules until one is refused.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_ALLOW), seccomp_release) {}

  void refuse(const char* name, int with) { add(SCMP_ACT_ERRNO(with), name); }
  void end(const char* name) { add(SCMP_ACT_KILL_PROCESS, name); }
  /// Where argument `index`, masked, equals `value`.
  void refuse_where(const char* name, unsigned index, scmp_datum_t mask, scmp_datum_t value) {
    const scmp_arg_cmp where = {index, SCMP_CMP_MASKED_EQ, mask, value};
    note(seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(EPERM),
                                seccomp_syscall_resolve_name(name), 1, &where));
  }
  void refuse_unless(const char* name, unsigned index, scmp_datum_t value) {
    const scmp_arg_cmp where = {index, SCMP_CMP_NE, value, 0};
    note(seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(EPERM),
                                seccomp_syscall_resolve_name(name), 1, &where));
  }
  /// The program's bytes, or the errno of what failed.
  [[nodiscard]] base::Result<std::string> bytes() {
    const base::Descriptor file(memfd_create("membound-seccomp", MFD_CLOEXEC));
    if (context_ == nullptr || !file.open()) note(-ENOMEM);
    if (problem_ == 0) note(seccomp_export_bpf(context_.get(), file.get()));
    if (problem_ != 0) {
      return base::Error{base::ErrorKind::kMachine, "libseccomp",
                         "cannot make the system call filter: " + base::reason_text(-problem_),
                         "libseccomp 2.5 or newer", "sudo apt-get install libseccomp-dev"};
    }
    const off_t size = lseek(file.get(), 0, SEEK_END);
    std::string all(static_cast<std::size_t>(size), '\0');
    if (pread(file.get(), all.data(), all.size(), 0) != size) all.clear();
    return all;
  }

 private:
  void add(std::uint32_t action, const char* name) {
    const int number = seccomp_syscall_resolve_name(name);
    // Not known to this version of the library: then its kernel-side number is not either, and the
    // namespace is what stands against it.
    if (number == __NR_SCMP_ERROR) return;
    note(seccomp_rule_add_array(context_.get(), action, number, 0, nullptr));
  }
  void note(int answer) {
    if (problem_ == 0 && answer < 0) problem_ = answer;
  }

  std::unique_ptr<void, decltype(&seccomp_release)> context_;
  int problem_ = 0;
};

base::Result<std::string> make_filter(SyscallProfile profile) {
  Filter filter;
  for (const char* name : kEndsTheProgram) filter.end(name);
  for (const char* name : kRefused) filter.refuse(name, EPERM);
  if (profile == SyscallProfile::kCompute) {
    for (const char* name : kSockets) filter.refuse(name, EPERM);
    for (const char* name : kSharedMemory) filter.refuse(name, EPERM);
  } else {
    filter.refuse_unless("socket", 0, 1);  // AF_UNIX
  }
  // New namespaces; clone3 hides its flags behind a pointer, and without it the C library uses
  // clone.
  for (const scmp_datum_t flag : {CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                                  CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP})
    filter.refuse_where("clone", 0, flag, flag);
  filter.refuse("clone3", ENOSYS);
  // Pushing characters into a terminal that somebody else reads.
  filter.refuse_where("ioctl", 1, 0xFFFFFFFF, TIOCSTI);
  filter.refuse_where("ioctl", 1, 0xFFFFFFFF, TIOCLINUX);
  return filter.bytes();
}

}  // namespace

base::Result<std::string> filter_bytes(SyscallProfile profile) {
  static const auto compute = make_filter(SyscallProfile::kCompute);
  static const auto device = make_filter(SyscallProfile::kDevice);
  return profile == SyscallProfile::kCompute ? compute : device;
}

base::Descriptor memory_file(const char* name, const std::string& bytes) {
  base::Descriptor file(memfd_create(name, MFD_CLOEXEC));
  const bool whole = file.open() && pwrite(file.get(), bytes.data(), bytes.size(), 0) ==
                                        static_cast<ssize_t>(bytes.size());
  return whole ? std::move(file) : base::Descriptor();
}

}  // namespace membound::jail
