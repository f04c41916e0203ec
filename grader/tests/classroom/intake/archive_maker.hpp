// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Makes archives for tests, good and hostile ones, in memory.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <locale.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace membound::intake {

/// A member to write.
struct Made {
  std::string path;
  std::string content = {};
  int type = AE_IFREG;
  std::string link = {};      ///< target of a symbolic link
  std::string hardlink = {};  ///< target of a hard link
  std::int64_t time = 0;
};

/// "zip", "tar", "tar.gz", "tar.xz", "tar.zst" or "tar.bz2".
inline std::string make_archive(const std::string& kind, const std::vector<Made>& members) {
  // Member names are UTF-8, whatever the locale of the test.
  const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const locale_t before = uselocale(utf8);
  struct archive* const writer = archive_write_new();
  if (kind == "zip") {
    archive_write_set_format_zip(writer);
  } else {
    archive_write_set_format_pax_restricted(writer);
    if (kind == "tar.gz") archive_write_add_filter_gzip(writer);
    if (kind == "tar.xz") archive_write_add_filter_xz(writer);
    if (kind == "tar.zst") archive_write_add_filter_zstd(writer);
    if (kind == "tar.bz2") archive_write_add_filter_bzip2(writer);
  }
  std::size_t size = 64 * 1024;
  for (const Made& one : members) size += one.content.size() * 2 + one.path.size() * 4 + 4096;
  std::string bytes(size, '\0');
  std::size_t used = 0;
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open_memory(writer, bytes.data(), bytes.size(), &used);
  for (const Made& one : members) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, one.path.c_str());
    archive_entry_set_filetype(entry, static_cast<unsigned>(one.type));
    archive_entry_set_perm(entry, 0644);
    if (one.time != 0) archive_entry_set_mtime(entry, one.time, 0);
    if (!one.link.empty()) archive_entry_set_symlink(entry, one.link.c_str());
    if (!one.hardlink.empty()) archive_entry_set_hardlink(entry, one.hardlink.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(one.content.size()));
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK) << archive_error_string(writer);
    if (!one.content.empty()) archive_write_data(writer, one.content.data(), one.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  uselocale(before);
  freelocale(utf8);
  bytes.resize(used);
  return bytes;
}

/// A folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "membound-intake-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::filesystem::path& name, const std::string& text) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace membound::intake
