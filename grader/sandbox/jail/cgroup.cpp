// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/cgroup.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

#include "grader/base/process.hpp"
#include "grader/base/result.hpp"

namespace membound::jail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "membound-";
/// A group can be removed some moments after its last process has been collected.
constexpr int kRemoveTries = 2000;
constexpr int kRemovePauseUs = 1000;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

bool put(const fs::path& file, const std::string& text) {
  const base::Descriptor target(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return target.open() &&
         write(target.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::uint64_t number_in(const fs::path& file) {
  const std::string text = text_of(file);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The number after `key` in a file of lines "key number".
std::uint64_t field_in(const fs::path& file, std::string_view key) {
  std::istringstream lines(text_of(file));
  std::string name;
  std::uint64_t value = 0;
  while (lines >> name >> value)
    if (name == key) return value;
  return 0;
}

bool lists(const fs::path& file, std::string_view word) {
  std::istringstream words(text_of(file));
  for (std::string one; words >> one;)
    if (one == word) return true;
  return false;
}

fs::path below(const fs::path& mount, const fs::path& group) {
  return mount / group.relative_path();
}

/// membound-<owner>-<number>: the owner tells the sweeper whether it is still in use.
std::string new_name() {
  static std::atomic<unsigned> next{0};
  return std::string(kPrefix) + base::owner_mark() + "-" + std::to_string(next++);
}

bool can_make(const fs::path& folder) {
  const fs::path probe = folder / new_name();
  if (mkdir(probe.c_str(), 0755) != 0) return false;
  rmdir(probe.c_str());
  return true;
}

void kill_all_in(const fs::path& group) {
  std::istringstream numbers(text_of(group / "cgroup.procs"));
  for (pid_t process = 0; numbers >> process;)
    if (process > 0) kill(process, SIGKILL);
}

/// Removes a group and ends whatever runs in it; gives up where the kernel holds a process.
void remove_group(const fs::path& group) {
  for (int i = 0; i < kRemoveTries && rmdir(group.c_str()) != 0 && errno == EBUSY; ++i) {
    kill_all_in(group);
    usleep(kRemovePauseUs);
  }
}

/// Groups of processes that were killed before they could remove them.
void sweep(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> old;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(kPrefix) &&
        base::has_lost_its_owner(std::string_view(name).substr(kPrefix.size())))
      old.push_back(entry->path());
  }
  for (const fs::path& group : old) remove_group(group);
}

/// Version 2 gives controllers only to groups without processes of their own: ours moves into a
/// leaf first where that is needed.
bool enable_controllers(const fs::path& group) {
  const fs::path control = group / "cgroup.subtree_control";
  if (lists(control, "memory") && lists(control, "pids")) return true;
  if (!lists(group / "cgroup.controllers", "memory") ||
      !lists(group / "cgroup.controllers", "pids"))
    return false;
  if (put(control, "+memory +pids")) return true;
  const fs::path leaf = group / (std::string(kPrefix) + base::owner_mark() + "-supervisor");
  if (mkdir(leaf.c_str(), 0755) != 0) return false;
  if (put(leaf / "cgroup.procs", "0") && put(control, "+memory +pids")) return true;
  put(group / "cgroup.procs", "0");
  rmdir(leaf.c_str());
  return false;
}

CgroupPlaces find_version_2(const std::vector<CgroupMount>& mounts, const std::string& groups) {
  for (const CgroupMount& one : mounts) {
    if (one.version != 2) continue;
    // The group we are in, or the topmost one, which may hold processes and groups at once.
    for (const fs::path& folder : {below(one.mount, own_group(groups, "")), one.mount}) {
      if (enable_controllers(folder) && can_make(folder)) return {2, folder, folder, folder};
    }
  }
  return {};
}

CgroupPlaces find_version_1(const std::vector<CgroupMount>& mounts, const std::string& groups) {
  CgroupPlaces places;
  for (const CgroupMount& one : mounts) {
    for (const std::string& controller : one.controllers) {
      const fs::path folder = below(one.mount, own_group(groups, controller));
      fs::path* const place = controller == "memory"    ? &places.memory
                              : controller == "pids"    ? &places.processes
                              : controller == "cpuacct" ? &places.cpu
                                                        : nullptr;
      if (place != nullptr && can_make(folder)) *place = folder;
    }
  }
  if (!places.memory.empty() || !places.processes.empty()) places.version = 1;
  return places;
}

}  // namespace

std::vector<CgroupMount> cgroup_mounts(std::string_view mountinfo) {
  // 34 23 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
  std::vector<CgroupMount> all;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
    std::string id, parent, device, root, mount, type, source, options;
    left >> id >> parent >> device >> root >> mount;
    right >> type >> source >> options;
    if (type == "cgroup2") all.push_back({2, mount, {}});
    if (type != "cgroup") continue;
    CgroupMount one{1, mount, {}};
    std::istringstream words(options);
    for (std::string word; std::getline(words, word, ',');) one.controllers.push_back(word);
    all.push_back(std::move(one));
  }
  return all;
}

fs::path own_group(std::string_view cgroup_text, std::string_view controller) {
  // 4:memory:/some/group for version 1, 0::/some/group for version 2
  std::istringstream lines{std::string(cgroup_text)};
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool ours = controller.empty()
                          ? line.starts_with("0::")
                          : names.find("," + std::string(controller) + ",") != std::string::npos;
    if (ours) return line.substr(second + 1);
  }
  return "/";
}

CgroupPlaces find_cgroups() {
  const auto mounts = cgroup_mounts(text_of("/proc/self/mountinfo"));
  const std::string groups = text_of("/proc/self/cgroup");
  CgroupPlaces places = find_version_2(mounts, groups);
  if (places.version == 0) places = find_version_1(mounts, groups);
  for (const fs::path& folder : std::set{places.memory, places.processes, places.cpu})
    if (!folder.empty()) sweep(folder);
  return places;
}

base::Result<Cgroup> Cgroup::make(const CgroupPlaces& places, std::size_t memory_bytes,
                                  int processes) {
  Cgroup group;
  group.version_ = places.version;
  const std::string name = new_name();
  const auto refused = [](const fs::path& where) {
    return base::Error{base::ErrorKind::kMachine, where.string(),
                       "cannot be made: " + base::reason_text(errno), "a control group for one run",
                       "membound doctor"};
  };
  const std::pair<const fs::path*, fs::path*> wanted[] = {{&places.memory, &group.memory_},
                                                          {&places.processes, &group.processes_},
                                                          {&places.cpu, &group.cpu_}};
  std::set<fs::path> made;
  for (const auto& [place, folder] : wanted) {
    if (place->empty()) continue;
    const fs::path target = *place / name;
    const bool is_new = made.insert(target).second;
    if (is_new && mkdir(target.c_str(), 0755) != 0) return refused(target);
    *folder = target;
    if (!is_new) continue;
    group.entries_.emplace_back(open((target / "cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!group.entries_.back().open()) return refused(target / "cgroup.procs");
  }
  const bool second = group.version_ == 2;
  if (!group.memory_.empty()) {
    const fs::path limit = group.memory_ / (second ? "memory.max" : "memory.limit_in_bytes");
    if (!put(limit, std::to_string(memory_bytes))) return refused(limit);
    // Swap is not there everywhere; where it is, it must not be a way round the limit.
    if (second) put(group.memory_ / "memory.swap.max", "0");
    if (second) put(group.memory_ / "memory.oom.group", "1");
    if (!second) put(group.memory_ / "memory.memsw.limit_in_bytes", std::to_string(memory_bytes));
  }
  if (!group.processes_.empty()) {
    const fs::path limit = group.processes_ / "pids.max";
    if (!put(limit, std::to_string(processes))) return refused(limit);
  }
  return group;
}

Cgroup::~Cgroup() {
  entries_.clear();
  for (const fs::path& folder : std::set{memory_, processes_, cpu_}) {
    if (!folder.empty()) remove_group(folder);
  }
}

bool Cgroup::join() const {
  for (const base::Descriptor& entry : entries_)
    if (write(entry.get(), "0", 1) != 1) return false;
  return true;
}

void Cgroup::kill_all() const {
  if (version_ == 2 && put(memory_ / "cgroup.kill", "1")) return;
  for (const fs::path& folder : std::set{memory_, processes_, cpu_})
    if (!folder.empty()) kill_all_in(folder);
}

bool Cgroup::empty() const {
  for (const fs::path& folder : std::set{memory_, processes_, cpu_})
    if (!folder.empty() && !text_of(folder / "cgroup.procs").empty()) return false;
  return true;
}

std::size_t Cgroup::peak_memory_bytes() const {
  if (memory_.empty()) return 0;
  return number_in(memory_ / (version_ == 2 ? "memory.peak" : "memory.max_usage_in_bytes"));
}

std::optional<double> Cgroup::cpu_seconds() const {
  if (cpu_.empty()) return std::nullopt;
  if (version_ == 2) return static_cast<double>(field_in(cpu_ / "cpu.stat", "usage_usec")) / 1e6;
  return static_cast<double>(number_in(cpu_ / "cpuacct.usage")) / 1e9;
}

std::uint64_t Cgroup::memory_kills() const {
  if (memory_.empty()) return 0;
  return field_in(memory_ / (version_ == 2 ? "memory.events" : "memory.oom_control"), "oom_kill");
}

std::uint64_t Cgroup::refused_processes() const {
  return processes_.empty() ? 0 : field_in(processes_ / "pids.events", "max");
}

}  // namespace membound::jail
