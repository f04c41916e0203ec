// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Looks at running programs from outside: which run a certain file, and what their memory holds.
#pragma once

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace membound::judge {

/// The command line of a process, its words each ended by a zero byte; empty when it is gone.
inline std::string command_line(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// All processes that run `program`.
inline std::vector<int> processes_of(const std::filesystem::path& program) {
  std::vector<int> pids;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (std::filesystem::read_symlink(entry.path() / "exe", error) == program)
      pids.push_back(std::stoi(name));
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

/// Whether a process was started by this one, or by one that this one started.
inline bool is_our_own(int pid) {
  const int we = getpid();
  while (pid > 1 && pid != we) {
    // The name of a program, in parentheses, may hold anything; the parent follows it and a letter.
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto name_ends = text.rfind(')');
    if (name_ends == std::string::npos || name_ends + 4 > text.size()) return false;
    pid = std::atoi(text.c_str() + name_ends + 4);
  }
  return pid == we;
}

/// Whether `wanted` stands anywhere in the writable memory of a process.
inline bool memory_holds(int pid, const std::string& wanted) {
  constexpr unsigned long long kPiece = 1 << 20, kPage = 4096;
  const int pages = open(("/proc/" + std::to_string(pid) + "/pagemap").c_str(), O_RDONLY);
  // Whether anything was ever written there: most of what a virtual GPU reserves is not.
  const auto is_used = [pages](unsigned long long begin, unsigned long long end) {
    std::uint64_t entries[kPiece / kPage + 2] = {};
    const unsigned long long count = std::min<unsigned long long>(
        std::size(entries), (end - begin / kPage * kPage + kPage - 1) / kPage);
    const ssize_t got = pread(pages, entries, count * sizeof entries[0],
                              static_cast<off_t>(begin / kPage * sizeof entries[0]));
    if (got != static_cast<ssize_t>(count * sizeof entries[0])) return true;
    return std::any_of(entries, entries + count,
                       [](std::uint64_t entry) { return entry >> 62 != 0; });
  };
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::string piece(kPiece + wanted.size(), '\0');
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    char rights[8] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %7s", &begin, &end, rights) != 3 || rights[1] != 'w')
      continue;
    for (unsigned long long at = begin; at < end; at += kPiece) {
      if (!is_used(at, std::min(at + kPiece, end))) continue;
      // Overlapping by the length of what is looked for.
      const iovec here = {piece.data(), std::min<std::size_t>(piece.size(), end - at)};
      const iovec there = {reinterpret_cast<void*>(at), here.iov_len};
      // Copies many pages in one go, which /proc/PID/mem does not.
      const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
      if (got <= 0 || memmem(piece.data(), static_cast<std::size_t>(got), wanted.data(),
                             wanted.size()) == nullptr)
        continue;
      close(pages);
      return true;
    }
  }
  close(pages);
  return false;
}

}  // namespace membound::judge
