// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Notices that a file was saved, however the editor does it: written in place, or written beside
/// and renamed.
#pragma once

#include <filesystem>
#include <string>

#include "grader/base/result.hpp"

namespace membound::cli {

/// Watches one file through its folder (inotify).
class FileWatch {
 public:
  [[nodiscard]] static base::Result<FileWatch> on(const std::filesystem::path& file);
  ~FileWatch();
  FileWatch(FileWatch&& other) noexcept;
  FileWatch& operator=(FileWatch&&) = delete;

  /// The file descriptor to wait on.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Takes all events that have come in; true if one of them saved the file.
  [[nodiscard]] bool take_events() const;

 private:
  FileWatch(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  int descriptor_;
  std::string name_;
};

}  // namespace membound::cli
