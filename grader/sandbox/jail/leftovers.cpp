// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/leftovers.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"

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

}  // namespace membound::jail
