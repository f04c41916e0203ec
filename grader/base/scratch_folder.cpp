// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/scratch_folder.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

namespace membound::base {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(std::string_view name) {
  std::error_code ignored;
  std::string pattern =
      (fs::temp_directory_path(ignored) / ("membound-" + std::string(name) + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace membound::base
