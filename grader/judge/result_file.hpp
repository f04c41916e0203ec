// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The file that a test program writes its measurements to, a line a stage.
/// Place in the chain: test_program -> [result_file].
#pragma once

#include <cstddef>
#include <filesystem>

namespace membound::judge {

/// Removes the file when the run is over.
class ResultFile {
 public:
  explicit ResultFile(std::filesystem::path path);
  ~ResultFile() { remove(); }
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void remove() const;
  /// How many stages have been reported so far.
  [[nodiscard]] std::size_t lines() const;

 private:
  std::filesystem::path path_;
};

}  // namespace membound::judge
