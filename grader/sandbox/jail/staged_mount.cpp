// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/staged_mount.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

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

bool make_target(const StagedMount& one) {
  if (one.is_folder) return mkdir(one.target.c_str(), 0755) == 0;
  const int file = open(one.target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return false;
  close(file);
  return true;
}

}  // namespace

StagedMount::StagedMount(std::string path, bool folder, std::size_t number)
    : source(std::move(path)),
      target(std::string(kCovered) + "/" + std::to_string(number)),
      is_folder(folder) {}

bool stage_mounts(const StagedMount* mounts, std::size_t count) {
  if (count == 0) return true;
  if (count > kMostStaged) return errno = E2BIG, false;
  if (!own_view()) return false;
  // Opened in the new view, or the kernel would refuse them there; and before a part of it is
  // covered.
  std::array<int, kMostStaged> places{};
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

bool can_stage_mounts() {
  if (geteuid() != 0) return false;
  const pid_t child = fork();
  if (child == 0) _exit(own_view() && cover() ? 0 : 1);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace membound::jail
