// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/selftest/made_archive.hpp"

#include <archive_entry.h>

namespace membound::selftest {

MadeArchive::MadeArchive(const std::filesystem::path& file)
    : writer_(archive_write_new(), archive_write_free) {
  if (file.extension() == ".zip") {
    archive_write_set_format_zip(writer_.get());
  } else {
    archive_write_set_format_pax_restricted(writer_.get());
    archive_write_add_filter_gzip(writer_.get());
  }
  archive_write_open_filename(writer_.get(), file.c_str());
}

void MadeArchive::file(const std::string& name, const std::string& text, unsigned mode,
                       std::int64_t time) {
  entry(name, AE_IFREG, mode, text.size(), "", "", time);
  archive_write_data(writer_.get(), text.data(), text.size());
}

void MadeArchive::zeros(const std::string& name, std::size_t bytes) {
  entry(name, AE_IFREG, 0644, bytes, "", "");
  const std::string block(std::size_t{1} << 20, '\0');
  for (std::size_t done = 0; done < bytes; done += block.size())
    archive_write_data(writer_.get(), block.data(), block.size());
}

void MadeArchive::symlink(const std::string& name, const std::string& to) {
  entry(name, AE_IFLNK, 0777, 0, to, "");
}

void MadeArchive::hard_link(const std::string& name, const std::string& to) {
  entry(name, AE_IFREG, 0644, 0, "", to);
}

void MadeArchive::fifo(const std::string& name) { entry(name, AE_IFIFO, 0644, 0, "", ""); }

void MadeArchive::entry(const std::string& name, unsigned type, unsigned mode, std::size_t size,
                        const std::string& link, const std::string& hard, std::int64_t time) {
  const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> head(archive_entry_new(),
                                                                           archive_entry_free);
  archive_entry_set_pathname(head.get(), name.c_str());
  archive_entry_set_filetype(head.get(), type);
  archive_entry_set_perm(head.get(), mode);
  archive_entry_set_size(head.get(), static_cast<la_int64_t>(size));
  if (time != 0) archive_entry_set_mtime(head.get(), time, 0);
  if (!link.empty()) archive_entry_set_symlink(head.get(), link.c_str());
  if (!hard.empty()) archive_entry_set_hardlink(head.get(), hard.c_str());
  archive_write_header(writer_.get(), head.get());
}

}  // namespace membound::selftest
