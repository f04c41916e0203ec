// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The file that a test program writes its measurements to, a line a stage.
/// Place in the chain: test_program -> [result_file].
#pragma once

#include <cstddef>
#include <cstdint>
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
  /// How many stages have been reported so far. Asked all the time: it is read where it has grown.
  [[nodiscard]] std::size_t lines();

 private:
  std::filesystem::path path_;
  std::uintmax_t counted_bytes_ = 0;  ///< the size of the file that has
  std::size_t lines_ = 0;             ///< so many lines
};

}  // namespace membound::judge
