// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/result_file.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "grader/base/files.hpp"

namespace membound::judge {

ResultFile::ResultFile(std::filesystem::path path) : path_(std::move(path)) { remove(); }

void ResultFile::remove() const {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::size_t ResultFile::lines() {
  std::error_code error;
  std::uintmax_t bytes = std::filesystem::file_size(path_, error);
  if (error) bytes = 0;
  if (bytes != counted_bytes_) {
    const auto text = base::read_file(path_);
    counted_bytes_ = text ? text->size() : 0;
    lines_ = text ? static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n')) : 0;
  }
  return lines_;
}

}  // namespace membound::judge
