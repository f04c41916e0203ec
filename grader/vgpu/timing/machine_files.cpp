// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/machine_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"

namespace membound::vgpu::timing {
namespace {

namespace fs = std::filesystem;

/// A file that cannot be read has no text, which machine_of() refuses.
std::vector<MachineFile> own_files(const fs::path& folder) {
  std::vector<MachineFile> files;
  std::error_code error;
  if (folder.empty()) return files;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() != ".json") continue;
    const auto text = base::read_file(path);
    files.push_back({path.stem().string(), path.string(), text ? *text : "", false});
  }
  std::sort(files.begin(), files.end(),
            [](const MachineFile& a, const MachineFile& b) { return a.id < b.id; });
  return files;
}

}  // namespace

fs::path own_machines_folder() {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return fs::path(config) / "membound" / "machines";
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return fs::path(home) / ".config" / "membound" / "machines";
}

std::vector<MachineFile> machine_files(const fs::path& own_folder) {
  std::vector<MachineFile> files;
  for (const BuiltInMachine& machine : built_in_machines()) {
    const std::string id(machine.id);
    files.push_back({id, id + ".json", std::string(machine.json), true});
  }
  for (MachineFile& own : own_files(own_folder)) files.push_back(std::move(own));
  return files;
}

base::Result<MachineFile> find_machine_file(std::string_view id, const fs::path& own_folder) {
  std::string known;
  std::vector<std::string> names;
  for (MachineFile& file : machine_files(own_folder)) {
    if (file.id == id) return std::move(file);
    known += (known.empty() ? "vgpu:" : ", vgpu:") + file.id;
    names.push_back("vgpu:" + file.id);
  }
  const std::string wanted = "vgpu:" + std::string(id);
  const auto nearest = base::nearest(wanted, names);
  return base::Error{base::ErrorKind::kUsage, "", "there is no device \"" + wanted + "\"", known,
                     nearest ? "did you mean \"" + *nearest + "\"?" : "membound machine list"};
}

base::Result<Machine> machine_of(const MachineFile& file) {
  auto machine = read_machine(file.json, file.where);
  if (machine && machine->id != file.id)
    return base::Error{base::ErrorKind::kInput, file.where, "its id is \"" + machine->id + "\"",
                       "\"" + file.id + "\", as the file is called", "rename one of the two"};
  return machine;
}

base::Result<Machine> find_machine(std::string_view id) {
  const auto file = find_machine_file(id, own_machines_folder());
  if (!file) return file.error();
  return machine_of(*file);
}

}  // namespace membound::vgpu::timing
