// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <memory>
#include <optional>

namespace membound::intake {
namespace {

constexpr std::size_t kReadBlock = 64 * 1024;

using Handle = std::unique_ptr<struct archive, decltype(&archive_read_free)>;

/// libarchive turns names into the locale's encoding; this thread's is UTF-8 while one lives.
class Utf8Names {
 public:
  Utf8Names() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ != nullptr) before_ = uselocale(locale_);
  }
  ~Utf8Names() {
    if (locale_ == nullptr) return;
    uselocale(before_);
    freelocale(locale_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t locale_;
  locale_t before_ = nullptr;
};

Handle new_reader() {
  Handle handle(archive_read_new(), &archive_read_free);
  struct archive* const reader = handle.get();
  archive_read_support_format_zip(reader);
  archive_read_support_format_tar(reader);
  archive_read_support_format_gnutar(reader);
  archive_read_support_filter_gzip(reader);
  archive_read_support_filter_bzip2(reader);
  archive_read_support_filter_xz(reader);
  archive_read_support_filter_zstd(reader);
  return handle;
}

std::string path_of(archive_entry* entry) {
  if (const char* name = archive_entry_pathname_utf8(entry); name != nullptr) return name;
  if (const char* name = archive_entry_pathname(entry); name != nullptr) return name;
  return "";
}

std::optional<std::string> kind_problem(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return "it is a hard link";
  if (archive_entry_is_encrypted(entry) != 0) return "it is encrypted";
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return std::nullopt;
    case AE_IFLNK:
      return "it is a symbolic link";
    case AE_IFIFO:
      return "it is a pipe";
    case AE_IFSOCK:
      return "it is a socket";
    case AE_IFCHR:
    case AE_IFBLK:
      return "it is a device";
    default:
      return "it is no regular file";
  }
}

/// Reads one archive from its first member to the last.
class ArchiveReading {
 public:
  ArchiveReading(struct archive* reader, std::string name, const ArchiveLimits& limits,
                 const MemberVisitor& visitor)
      : reader_(reader), name_(std::move(name)), limits_(limits), visitor_(visitor) {}

  base::Status all() {
    for (;;) {
      archive_entry* entry = nullptr;
      const int code = archive_read_next_header(reader_, &entry);
      if (code == ARCHIVE_EOF) return base::Done{};
      if (code < ARCHIVE_WARN) return damaged();
      if (++entries_ > limits_.entries)
        return refused("with more than " + std::to_string(limits_.entries) + " members");
      if (archive_entry_filetype(entry) == AE_IFDIR && archive_entry_hardlink(entry) == nullptr) {
        Member folder;
        folder.path = safe_path(path_of(entry));
        folder.is_folder = true;
        visitor_.take(folder, "");
        continue;
      }
      const auto read = one(entry);
      if (!read) return read;
    }
  }

 private:
  base::Status one(archive_entry* entry) {
    Member member;
    member.path = safe_path(path_of(entry));
    if (const auto problem = kind_problem(entry); problem && !member.path.problem)
      member.path.problem = problem;
    if (archive_entry_mtime_is_set(entry) != 0) member.time = archive_entry_mtime(entry);
    if (archive_entry_size_is_set(entry) != 0)
      member.size = static_cast<std::uint64_t>(std::max<la_int64_t>(0, archive_entry_size(entry)));
    const bool wanted = !member.path.problem && visitor_.wants(member);
    std::string content;
    std::uint64_t size = 0;
    for (;;) {
      const void* block = nullptr;
      std::size_t block_size = 0;
      la_int64_t offset = 0;
      const int code = archive_read_data_block(reader_, &block, &block_size, &offset);
      if (code == ARCHIVE_EOF) break;
      if (code < ARCHIVE_WARN) {
        // The content of an encrypted member cannot be had; it is refused already.
        if (member.path.problem) break;
        return damaged();
      }
      // The hole of a sparse file counts as if it were stored.
      const std::uint64_t end =
          static_cast<std::uint64_t>(std::max<la_int64_t>(0, offset)) + block_size;
      if (end > size) bytes_ += end - size;
      if (const auto within = check(); !within) return within;
      if (wanted && end <= limits_.file_bytes) {
        content.resize(std::max<std::size_t>(content.size(), end), '\0');
        content.replace(end - block_size, block_size, static_cast<const char*>(block), block_size);
      }
      size = std::max(size, end);
    }
    member.size = std::max(member.size, size);
    if (wanted && member.size > limits_.file_bytes) {
      member.path.problem = "it has " + std::to_string(member.size) + " bytes; at most " +
                            std::to_string(limits_.file_bytes) + " are read";
      content.clear();
    }
    visitor_.take(member, std::move(content));
    return base::Done{};
  }

  base::Status check() {
    if (bytes_ > limits_.bytes)
      return refused("with more than " + std::to_string(limits_.bytes) + " bytes when unpacked");
    const auto packed =
        static_cast<double>(std::max<la_int64_t>(1, archive_filter_bytes(reader_, -1)));
    if (bytes_ > kFreeBytes && static_cast<double>(bytes_) > limits_.ratio * packed)
      return refused("that unpacks to more than " +
                     std::to_string(static_cast<int>(limits_.ratio)) + " times its size");
    return base::Done{};
  }

  [[nodiscard]] base::Error refused(const std::string& why) const {
    return {base::ErrorKind::kInput, name_, "an archive " + why, "", "hand in kernel.cu alone"};
  }
  [[nodiscard]] base::Error damaged() const {
    const char* const reason = archive_error_string(reader_);
    return {base::ErrorKind::kInput, name_,
            std::string("cannot be read as an archive: ") +
                shown(reason == nullptr ? "unknown reason" : reason),
            "zip, or tar (plain, gzip, bzip2, xz, zstd)", "pack it again, or hand in kernel.cu"};
  }

  struct archive* reader_;
  std::string name_;
  const ArchiveLimits& limits_;
  const MemberVisitor& visitor_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

base::Error cannot_open(struct archive* reader, const std::string& name) {
  const char* const reason = archive_error_string(reader);
  return {base::ErrorKind::kInput, name,
          std::string("cannot be read as an archive: ") +
              shown(reason == nullptr ? "unknown reason" : reason),
          "zip, or tar (plain, gzip, bzip2, xz, zstd)", "pack it again, or hand in kernel.cu"};
}

}  // namespace

base::Status read_archive_file(const std::filesystem::path& file, const ArchiveLimits& limits,
                               const MemberVisitor& visitor) {
  const Utf8Names names;
  const Handle reader = new_reader();
  if (archive_read_open_filename(reader.get(), file.c_str(), kReadBlock) != ARCHIVE_OK)
    return cannot_open(reader.get(), file.string());
  return ArchiveReading(reader.get(), file.string(), limits, visitor).all();
}

base::Status read_archive_bytes(std::string_view bytes, const std::string& name,
                                const ArchiveLimits& limits, const MemberVisitor& visitor) {
  const Utf8Names names;
  const Handle reader = new_reader();
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return cannot_open(reader.get(), name);
  return ArchiveReading(reader.get(), name, limits, visitor).all();
}

}  // namespace membound::intake
