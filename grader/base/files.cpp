// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "grader/base/failpoint.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"

namespace membound::base {

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

namespace {

Error failed(const std::filesystem::path& file, const std::string& what,
             const std::string& advice) {
  return {ErrorKind::kMachine, file.string(), what, "", advice};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& file) {
  std::error_code ignored;
  std::ifstream stream;
  if (!std::filesystem::is_directory(file, ignored)) stream.open(file, std::ios::binary);
  if (!stream.is_open()) {
    const bool exists = std::filesystem::exists(file, ignored);
    return Error{ErrorKind::kInput, file.string(),
                 exists ? "cannot be read" : "there is no such file", "a readable text file",
                 exists ? "check the rights of the file" : ""};
  }
  std::ostringstream text;  // a block at a time, where an iterator takes a character at a time
  text << stream.rdbuf();
  return std::move(text).str();
}

Status write_file(const std::filesystem::path& file, std::string_view text) {
  const char* const rights = "check the rights of the folder and that the disk is not full";
  std::error_code error;
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  std::filesystem::create_directories(folder, error);
  if (error) return failed(folder, "cannot be made: " + error.message(), rights);
  std::string beside = (folder / ("." + file.filename().string() + ".XXXXXX")).string();
  const int descriptor = mkstemp(beside.data());
  if (descriptor < 0) return failed(file, "cannot be written: " + reason_text(errno), rights);
  const bool written = write_all(descriptor, text) && fchmod(descriptor, 0644) == 0;
  const bool closed = close(descriptor) == 0;
  if (!written || !closed || std::rename(beside.c_str(), file.c_str()) != 0) {
    const std::string reason = reason_text(errno);
    unlink(beside.c_str());
    return failed(file, "cannot be written: " + reason, rights);
  }
  return Done{};
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartEnding = ".part";

Error failed(const fs::path& file, const std::string& what) {
  return {ErrorKind::kMachine, file.string(), what, "",
          "check the rights of the folder and that the disk is not full"};
}

bool passes(std::string_view point, const char* step) {
  return !failpoint(std::string(point) + step);
}

}  // namespace

Status sync_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failed(folder, "cannot be opened: " + reason_text(errno));
  const bool synced = fsync(descriptor) == 0;
  const int reason = errno;
  close(descriptor);
  if (!synced) return failed(folder, "cannot be synced: " + reason_text(reason));
  return Done{};
}

Status write_durably(const fs::path& file, std::string_view text, std::string_view point,
                     unsigned mode) {
  std::error_code error;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  fs::create_directories(folder, error);
  if (error) return failed(folder, "cannot be made: " + error.message());
  std::string beside =
      (folder / ("." + file.filename().string() + ".XXXXXX" + std::string(kPartEnding))).string();
  const int descriptor =
      passes(point, ".begin")
          ? mkostemps(beside.data(), static_cast<int>(kPartEnding.size()), O_CLOEXEC)
          : -1;
  if (descriptor < 0) return failed(file, "cannot be written: " + reason_text(errno));
  bool good = write_all(descriptor, text) && fchmod(descriptor, mode) == 0 &&
              passes(point, ".written") && fsync(descriptor) == 0;
  int reason = errno;
  if (close(descriptor) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && std::rename(beside.c_str(), file.c_str()) != 0) {
    good = false;
    reason = errno;
  }
  if (!good) {
    unlink(beside.c_str());
    return failed(file, "cannot be written: " + reason_text(reason));
  }
  if (!passes(point, ".renamed")) return failed(folder, "cannot be synced: " + reason_text(errno));
  return sync_folder(folder);
}

int sweep(const fs::path& folder) {
  int removed = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.starts_with('.') && name.ends_with(kPartEnding) && fs::remove(entry->path(), ignored))
      ++removed;
  }
  return removed;
}

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
