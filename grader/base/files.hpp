// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files: descriptors that close themselves, whole text files, files that survive a power cut,
/// temporary folders.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "grader/base/result.hpp"

namespace membound::base {

// Descriptors. Every one is close-on-exec: what a child shall keep is said in the child, so that
// threads that start programs at the same moment cannot pass on each other's.

/// Owns a descriptor; -1 means none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(std::exchange(other.number_, -1));
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

/// False, with errno set, when the process has too many open.
[[nodiscard]] inline bool make_pipe(Descriptor& read_end, Descriptor& write_end) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
  return true;
}

/// Writes all of `text`, however often it is interrupted. False, with errno set, when it cannot.
[[nodiscard]] bool write_all(int descriptor, std::string_view text);

// Text files, read at once, and written so that a reader sees the old or the new one, never
// half.

/// The content of `file`.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& file);

/// Writes beside `file` and renames into place; makes the folder if it is missing.
[[nodiscard]] Status write_file(const std::filesystem::path& file, std::string_view text);

// Files that survive a power cut whole or not at all: written beside their place, synced,
// renamed, and the folder synced. What a cut leaves behind is swept away at the next start.

/// Writes `text` to `file`, whose folder is made if it is missing. On return it is on the disk.
/// `point` is the first half of the failpoints' names: "result" for result.begin, .written,
/// .renamed.
[[nodiscard]] Status write_durably(const std::filesystem::path& file, std::string_view text,
                                   std::string_view point, unsigned mode = 0644);

/// Removes what a killed write_durably left in `folder` (not below it); returns how many. Only for
/// whoever knows that nobody is writing there.
int sweep(const std::filesystem::path& folder);

/// Syncs a folder, so that names made or renamed in it survive.
[[nodiscard]] Status sync_folder(const std::filesystem::path& folder);

// Folders among the machine's temporary files, for one owner. What an owner leaves that was
// killed is swept by a later one.

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
