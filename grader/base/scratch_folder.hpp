// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A folder among the machine's temporary files, for one owner. What an owner leaves that was
/// killed is swept by a later one; what must survive a crash is durable_file's.
#pragma once

#include <filesystem>
#include <string_view>

namespace membound::base {

/// Made empty, removed with everything in it.
class ScratchFolder {
 public:
  /// `name` tells people what it is: "membound-OWNER-NAME-…" below $TMPDIR or /tmp.
  explicit ScratchFolder(std::string_view name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// Empty where the folder could not be made.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Removes what processes that have ended left below $TMPDIR or /tmp.
void sweep_scratch_folders();

}  // namespace membound::base
