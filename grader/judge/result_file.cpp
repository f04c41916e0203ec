// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/result_file.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "grader/base/text_files.hpp"

namespace membound::judge {

ResultFile::ResultFile(std::filesystem::path path) : path_(std::move(path)) { remove(); }

void ResultFile::remove() const {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::size_t ResultFile::lines() const {
  std::error_code error;
  if (std::filesystem::file_size(path_, error) == 0 || error) return 0;
  const auto text = base::read_file(path_);
  return text ? static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
}

}  // namespace membound::judge
