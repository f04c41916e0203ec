// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/durable_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "grader/base/descriptor.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/system_text.hpp"

namespace membound::base {
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

}  // namespace membound::base
