// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/text_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "grader/base/descriptor.hpp"
#include "grader/base/system_text.hpp"

namespace membound::base {
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

}  // namespace membound::base
