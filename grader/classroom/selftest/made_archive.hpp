// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Archives as attackers make them. Place in the chain: libarchive -> [made_archive] ->
/// intake_case, forged_date_case.
#pragma once

#include <archive.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace membound::selftest {

/// Writes one file: a zip by that ending, else a tar.gz.
class MadeArchive {
 public:
  explicit MadeArchive(const std::filesystem::path& file);

  /// `time`: seconds since 1970, what the member says of its date.
  void file(const std::string& name, const std::string& text, unsigned mode = 0644,
            std::int64_t time = 0);
  void zeros(const std::string& name, std::size_t bytes);
  void symlink(const std::string& name, const std::string& to);
  void hard_link(const std::string& name, const std::string& to);
  void fifo(const std::string& name);

 private:
  void entry(const std::string& name, unsigned type, unsigned mode, std::size_t size,
             const std::string& link, const std::string& hard, std::int64_t time = 0);
  std::unique_ptr<archive, decltype(&archive_write_free)> writer_;
};

}  // namespace membound::selftest
