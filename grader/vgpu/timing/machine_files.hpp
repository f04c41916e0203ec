// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where machine files are found: built in, and the user's own in the configuration folder.
/// Place in the chain: machines/*.json, ~/.config -> [machine_files] -> machine, judge, commands.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/vgpu/timing/machine.hpp"

namespace membound::vgpu::timing {

/// One machine file. Its content may be broken; machine_of() says how.
struct MachineFile {
  std::string id;     ///< its name without ".json"
  std::string where;  ///< for messages: "h200.json", or the path of one's own
  std::string json;
  bool built_in = true;
};

/// Where a user's own files are: membound/machines below $XDG_CONFIG_HOME, or else ~/.config;
/// empty where neither is known.
[[nodiscard]] std::filesystem::path own_machines_folder();

/// All files: those built in, then those of `own_folder`, by id. A file of one's own with the name
/// of one that is built in is among them, and never used.
[[nodiscard]] std::vector<MachineFile> machine_files(const std::filesystem::path& own_folder);

/// The file of `id`, built in before one's own; the error lists the ids there are.
[[nodiscard]] base::Result<MachineFile> find_machine_file(std::string_view id,
                                                          const std::filesystem::path& own_folder);

/// What it holds; its "id" must be its name.
[[nodiscard]] base::Result<Machine> machine_of(const MachineFile& file);

/// The machine of `id`, built in or one's own.
[[nodiscard]] base::Result<Machine> find_machine(std::string_view id);

}  // namespace membound::vgpu::timing
