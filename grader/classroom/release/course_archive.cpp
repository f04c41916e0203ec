// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/course_archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <ctime>
#include <memory>

namespace membound::release {
namespace {

/// 1980-01-01T12:00:00Z: zip cannot say anything earlier, in whatever time zone it is read.
constexpr std::time_t kEarliest = 315576000;

struct Free {
  void operator()(archive* made) const { archive_write_free(made); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

la_ssize_t append(archive*, void* client, const void* bytes, std::size_t count) {
  static_cast<std::string*>(client)->append(static_cast<const char*>(bytes), count);
  return static_cast<la_ssize_t>(count);
}

base::Error broken(archive* made) {
  const char* why = archive_error_string(made);
  return {base::ErrorKind::kInternal, "zip", why == nullptr ? "cannot be written" : why, "", ""};
}

}  // namespace

base::Result<std::string> zip_of(const Tree& tree) {
  std::string bytes;
  const std::unique_ptr<archive, Free> made(archive_write_new());
  if (archive_write_set_format_zip(made.get()) != ARCHIVE_OK ||
      archive_write_set_format_option(made.get(), "zip", "compression", "deflate") != ARCHIVE_OK ||
      archive_write_set_bytes_per_block(made.get(), 0) != ARCHIVE_OK ||
      archive_write_open(made.get(), &bytes, nullptr, append, nullptr) != ARCHIVE_OK)
    return broken(made.get());
  for (const auto& [name, file] : tree) {
    const std::unique_ptr<archive_entry, Free> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(file.bytes.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), file.executable ? 0755 : 0644);
    archive_entry_set_mtime(entry.get(), kEarliest, 0);
    if (archive_write_header(made.get(), entry.get()) != ARCHIVE_OK ||
        archive_write_data(made.get(), file.bytes.data(), file.bytes.size()) !=
            static_cast<la_ssize_t>(file.bytes.size()))
      return broken(made.get());
  }
  if (archive_write_close(made.get()) != ARCHIVE_OK) return broken(made.get());
  return bytes;
}

}  // namespace membound::release
