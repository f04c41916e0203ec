// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/check_request.hpp"

#include <algorithm>
#include <sstream>

#include "grader/judge/runner_rules.hpp"

namespace membound::judge {

namespace fs = std::filesystem;

base::Result<SplitOptions> split_options(const CheckRequest& request) {
  SplitOptions split;
  split.device_seconds = request.device_seconds;
  split.runner = request.place.build / "libexec" / "membound_runner";
  split.forward_folder = request.place.build / "forward";
  for (const fs::path& needed : {split.runner, split.forward_folder})
    if (std::error_code ignored; !fs::exists(needed, ignored)) return not_built(needed);
  auto key = fresh_seed_key();
  if (!key) return key.error();
  split.seed_key = *std::move(key);
  // What chooses the device of a check chooses that of its runners.
  split.runner_environment = request.device.environment;
  if (const auto folders = split.runner_environment.find("LD_LIBRARY_PATH");
      folders != split.runner_environment.end()) {
    std::istringstream text(folders->second);
    for (std::string folder; std::getline(text, folder, ':');)
      if (!folder.empty()) split.runtime_folders.emplace_back(folder);
  }
  double seconds_per_stage = request.seconds_per_stage;
  for (const course::Stage& stage : request.lab->stages)
    seconds_per_stage =
        std::max(seconds_per_stage, request.seconds_per_stage + stage.timeout_seconds);
  const base::Status equipped = request.device.kind->equip(
      split, request.device, static_cast<int>(request.stages.size()), seconds_per_stage);
  if (!equipped) return equipped.error();
  return split;
}

base::Status use_device(const Device& device, CheckRequest& request) {
  for (const auto& [name, value] : device.environment) request.device.environment[name] = value;
  request.device.lock_file = device.lock_file;
  request.device.gpu_number = device.gpu_number;
  if (!request.split) return base::Done{};
  auto split = split_options(request);
  if (!split) return split.error();
  split->seed_key = request.split->seed_key;
  split->sample_seed = request.split->sample_seed;
  split->use_jail = request.split->use_jail;
  split->reference_times = request.split->reference_times;
  request.split = *std::move(split);
  return base::Done{};
}

}  // namespace membound::judge
