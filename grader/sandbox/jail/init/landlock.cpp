// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/init/landlock.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

namespace membound::jail {
namespace {

constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr std::uint32_t kAskVersion = 1;
constexpr int kPathBeneath = 1;

// File access rights, one bit each.
constexpr std::uint64_t kExecute = 1 << 0;
constexpr std::uint64_t kWriteFile = 1 << 1;
constexpr std::uint64_t kReadFile = 1 << 2;
constexpr std::uint64_t kReadDir = 1 << 3;
constexpr std::uint64_t kAbi1 = (1 << 13) - 1;
constexpr std::uint64_t kRefer = 1 << 13;         // ABI 2
constexpr std::uint64_t kTruncate = 1 << 14;      // ABI 3
constexpr std::uint64_t kIoctlDev = 1 << 15;      // ABI 5
constexpr std::uint64_t kBindAndConnectTcp = 3;   // ABI 4
constexpr std::uint64_t kAbstractAndSignals = 3;  // ABI 6

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scoped;
};

struct [[gnu::packed]] PathRule {
  std::uint64_t allowed;
  std::int32_t parent;
};

std::uint64_t file_rights(int abi) {
  std::uint64_t rights = kAbi1;
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDev;
  return rights;
}

}  // namespace

int landlock_abi() {
  const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
  return version < 0 ? 0 : static_cast<int>(version);
}

Landlock::Landlock(int abi) : abi_(abi) {
  if (abi_ == 0) return;
  const RulesetAttributes attributes{file_rights(abi_), abi_ >= 4 ? kBindAndConnectTcp : 0,
                                     abi_ >= 6 ? kAbstractAndSignals : 0};
  // The structure grew with the versions; a kernel refuses a size with parts it does not know only
  // when they are not zero.
  rules_ = static_cast<int>(syscall(kCreateRuleset, &attributes, sizeof attributes, 0));
}

bool Landlock::allow(const char* path, PathUse use) const {
  if (abi_ == 0) return true;
  const int parent = open(path, O_PATH | O_CLOEXEC);
  if (parent < 0) return errno == ENOENT;
  struct stat about {};
  fstat(parent, &about);
  std::uint64_t allowed = kReadFile | kReadDir | kExecute;
  if (use == PathUse::kScratch) allowed = file_rights(abi_) & ~kIoctlDev;
  if (use == PathUse::kDevice) allowed = kReadFile | kWriteFile | kReadDir | kTruncate | kIoctlDev;
  if (!S_ISDIR(about.st_mode)) allowed &= kReadFile | kExecute | kWriteFile | kTruncate | kIoctlDev;
  const PathRule rule{allowed & file_rights(abi_), parent};
  const bool added = syscall(kAddRule, rules_, kPathBeneath, &rule, 0) == 0;
  close(parent);
  return added;
}

bool Landlock::enforce() const {
  if (abi_ == 0) return true;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(kRestrictSelf, rules_, 0) == 0;
}

}  // namespace membound::jail
