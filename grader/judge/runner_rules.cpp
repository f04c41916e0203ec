// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/runner_rules.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <system_error>

#include "grader/base/process.hpp"
#include "grader/sandbox/runner/runner_limits.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

/// The largest timed case is 2 GiB of inputs and outputs, which on the virtual GPU lie in the
/// runner's memory, and pass through the socket's on a GPU.
constexpr std::size_t kMemory = 6144 * jail::kMegabyte;
/// A printf left in a kernel is no crime: each launch hands over one buffer of 16 KiB at most
/// (sandbox/runner/runner_main), and a lab makes a few hundred launches.
constexpr std::size_t kOutput = 16 * jail::kMegabyte;

/// "nvidia0", "nvidia12": one for each GPU.
bool is_gpu(const std::string& name) {
  constexpr std::string_view kPrefix = "nvidia";
  return name.size() > kPrefix.size() && name.starts_with(kPrefix) &&
         std::all_of(name.begin() + kPrefix.size(), name.end(),
                     [](unsigned char c) { return c >= '0' && c <= '9'; });
}

/// What every jail shows of itself: jail/bubblewrap.
bool is_systems(const fs::path& file) {
  const std::string path = file.string();
  return path.starts_with("/usr/lib") || path.starts_with("/lib");
}

void add_folder(const fs::path& file, std::vector<fs::path>& folders) {
  if (!file.is_absolute() || is_systems(file)) return;
  const fs::path folder = file.parent_path();
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
}

/// Where libcuda.so.1 was found; empty without a driver. The runtime opens it by that name.
fs::path driver_library() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  link_map* map = nullptr;
  if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr)
    return {};
  return map->l_name;
}

}  // namespace

std::vector<fs::path> library_folders(const std::string& ldd_output) {
  std::vector<fs::path> folders;
  std::istringstream lines(ldd_output);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kArrow = " => ";
    const auto arrow = line.find(kArrow);
    if (arrow == std::string::npos) continue;
    const auto start = arrow + kArrow.size();
    // Behind the path its address in parentheses.
    add_folder(line.substr(start, line.rfind(" (") - start), folders);
  }
  return folders;
}

base::Result<std::vector<fs::path>> gpu_library_folders(const fs::path& runner) {
  // Asked for each submission, with its device held.
  static std::mutex mutex;
  static std::map<fs::path, std::vector<fs::path>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(runner); found != known.end()) return found->second;
  const auto listed = base::run_process({.arguments = {runner.string()},
                                         .environment = {{"LD_TRACE_LOADED_OBJECTS", "1"}},
                                         .timeout_seconds = 10});
  if (!listed) return listed.error();
  std::vector<fs::path> folders = library_folders(listed->output);
  add_folder(driver_library(), folders);
  return known[runner] = std::move(folders);
}

jail::Limits runner_limits(int stages, double seconds_per_stage) {
  jail::Limits limits;
  limits.wall_seconds = stages * seconds_per_stage;
  limits.memory_bytes = kMemory;
  limits.output_bytes = kOutput;
  limits.processes = runner::most_runner_threads();
  limits.limit_address_space = false;  // both kinds of device reserve far more than they use
  return limits;
}

std::vector<fs::path> gpu_nodes(const fs::path& folder, int gpu_number) {
  std::vector<fs::path> nodes;
  const std::string only = "nvidia" + std::to_string(gpu_number);
  std::error_code error;
  // Elsewhere a container may show its GPUs under other numbers than the driver.
  const bool knows_it = gpu_number >= 0 && fs::exists(folder / only, error);
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name == "nvidiactl" || name == "nvidia-uvm" || name == "nvidia-uvm-tools" ||
        (is_gpu(name) && (!knows_it || name == only)))
      nodes.push_back(entry->path());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace membound::judge
