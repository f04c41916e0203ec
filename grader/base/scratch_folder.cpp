// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/scratch_folder.hpp"

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "grader/base/owner_mark.hpp"

namespace membound::base {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "membound-";

}  // namespace

ScratchFolder::ScratchFolder(std::string_view name) {
  std::error_code ignored;
  std::string pattern = (fs::temp_directory_path(ignored) / (std::string(kPrefix) + owner_mark() +
                                                             "-" + std::string(name) + "-XXXXXX"))
                            .string();
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

void sweep_scratch_folders() {
  std::error_code error;
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(fs::temp_directory_path(error), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(kPrefix) &&
        has_lost_its_owner(std::string_view(name).substr(kPrefix.size())))
      left.push_back(entry->path());
  }
  for (const fs::path& folder : left) fs::remove_all(folder, error);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace membound::base
