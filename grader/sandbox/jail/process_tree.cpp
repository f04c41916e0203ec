// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/process_tree.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace membound::jail {
namespace {

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
  // The name, in parentheses, may hold anything; fields 14 to 17 count from behind it.
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

}  // namespace

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

}  // namespace membound::jail
