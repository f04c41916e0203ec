// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/archive.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/submitted_names.hpp"

namespace membound::intake {
namespace {

constexpr std::size_t kReadBlock = 64 * 1024;
constexpr std::size_t kMostParts = 32;
constexpr std::size_t kMostPathBytes = 4096;
constexpr std::size_t kMostNameBytes = 255;  // as file systems have it

}  // namespace

std::string SafePath::text() const { return base::joined(parts, "/"); }

SafePath safe_path(std::string_view path) {
  SafePath safe;
  const auto refuse = [&](std::string why) {
    if (!safe.problem) safe.problem = std::move(why);
  };
  if (path.size() > kMostPathBytes) {
    refuse("its path is longer than " + std::to_string(kMostPathBytes) + " bytes");
    path = path.substr(0, kMostPathBytes);
  }
  if (path.find('\0') != std::string_view::npos) refuse("its path holds a zero byte");
  const bool drive = path.size() > 1 && path[1] == ':' &&
                     ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z'));
  if (path.starts_with('/') || path.starts_with('\\') || drive) refuse("its path is absolute");
  const bool may_climb = base::switched_off("intake.paths");
  while (!path.empty()) {
    const auto end = std::min(path.find_first_of("/\\"), path.size());
    const std::string_view part = path.substr(0, end);
    if (part == ".." && !may_climb) refuse("its path leaves the archive (\"..\")");
    if (part.size() > kMostNameBytes)
      refuse("a name in its path is longer than " + std::to_string(kMostNameBytes) + " bytes");
    if (!part.empty() && part != "." && (part != ".." || may_climb)) {
      safe.raw.emplace_back(part.substr(0, kMostNameBytes));
      safe.parts.push_back(normal(safe.raw.back()));
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  if (safe.parts.empty()) refuse("it has no name");
  if (safe.parts.size() > kMostParts) {
    refuse("it lies more than " + std::to_string(kMostParts) + " folders deep");
    safe.parts.resize(kMostParts);
    safe.raw.resize(kMostParts);
  }
  return safe;
}

namespace {

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

namespace {

namespace fs = std::filesystem;

/// Copies an archive member by member.
class Rewriting {
 public:
  Rewriting(struct archive* reader, struct archive* writer) : reader_(reader), writer_(writer) {}

  /// False, with `problem`, where it cannot go on.
  bool all(const std::function<bool(const SafePath&)>& drops,
           const std::function<std::optional<std::string>(const SafePath&, const std::string&)>&
               changed) {
    for (;;) {
      archive_entry* entry = nullptr;
      const int code = archive_read_next_header(reader_, &entry);
      if (code == ARCHIVE_EOF) return true;
      if (code < ARCHIVE_WARN) return failed(reader_);
      const SafePath path = safe_path(path_of(entry));
      if (drops(path)) {
        ++count;
        continue;
      }
      std::string content;
      if (!read(content)) return failed(reader_);
      if (archive_entry_filetype(entry) == AE_IFREG) {
        if (auto other = changed(path, content); other && *other != content) {
          content = *std::move(other);
          ++count;
        }
        archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
      }
      if (archive_write_header(writer_, entry) < ARCHIVE_WARN) return failed(writer_);
      if (!content.empty() && archive_write_data(writer_, content.data(), content.size()) < 0)
        return failed(writer_);
    }
  }

  std::size_t count = 0;
  std::string problem;

 private:
  static constexpr std::uint64_t kMostCopied = 1ULL << 30;  // bytes of one member, in memory

  bool read(std::string& content) {
    for (;;) {
      const void* block = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int code = archive_read_data_block(reader_, &block, &size, &offset);
      if (code == ARCHIVE_EOF) return true;
      if (code < ARCHIVE_WARN) return false;
      if (static_cast<std::uint64_t>(std::max<la_int64_t>(0, offset)) + size > kMostCopied) {
        problem = "a member has more than 1 GiB";
        return false;
      }
      // What a sparse file leaves out reads as zeros.
      content.resize(static_cast<std::size_t>(std::max<la_int64_t>(0, offset)), '\0');
      content.append(static_cast<const char*>(block), size);
    }
  }
  bool failed(struct archive* which) {
    if (!problem.empty()) return false;
    const char* const reason = archive_error_string(which);
    problem = reason == nullptr ? "unknown reason" : shown(reason);
    return false;
  }

  struct archive *reader_, *writer_;
};

using Writer = std::unique_ptr<struct archive, decltype(&archive_write_free)>;

}  // namespace

base::Result<std::size_t> rewrite_archive(
    const fs::path& file, const std::function<bool(const SafePath&)>& drops,
    const std::function<std::optional<std::string>(const SafePath&, const std::string&)>& changed) {
  const Utf8Names names;
  const auto cannot = [&file](const std::string& why) {
    return base::Error{base::ErrorKind::kMachine, file.string(), "cannot be written anew: " + why,
                       "", "check its rights and the space that is left"};
  };
  // Which form it has is known only after its first member.
  int format = 0, filter = ARCHIVE_FILTER_NONE;
  {
    const Handle first = new_reader();
    archive_entry* entry = nullptr;
    if (archive_read_open_filename(first.get(), file.c_str(), kReadBlock) != ARCHIVE_OK)
      return cannot_open(first.get(), file.string());
    if (archive_read_next_header(first.get(), &entry) < ARCHIVE_WARN)
      return cannot_open(first.get(), file.string());
    format = archive_format(first.get()) & ARCHIVE_FORMAT_BASE_MASK;
    filter = archive_filter_code(first.get(), 0);
  }
  struct stat facts {};
  if (stat(file.c_str(), &facts) != 0) return cannot(base::reason_text(errno));
  const Handle reader = new_reader();
  if (archive_read_open_filename(reader.get(), file.c_str(), kReadBlock) != ARCHIVE_OK)
    return cannot_open(reader.get(), file.string());
  const fs::path beside = file.string() + ".membound-part";
  base::Descriptor out(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                            facts.st_mode & 0777U));
  if (!out.open()) return cannot(base::reason_text(errno));
  const Writer writer(archive_write_new(), &archive_write_free);
  if (format == ARCHIVE_FORMAT_ZIP) {
    archive_write_set_format_zip(writer.get());
  } else {
    archive_write_set_format_pax_restricted(writer.get());
    archive_write_add_filter(writer.get(), filter);
  }
  Rewriting rewriting(reader.get(), writer.get());
  const bool done = archive_write_open_fd(writer.get(), out.get()) == ARCHIVE_OK &&
                    rewriting.all(drops, changed) &&
                    archive_write_close(writer.get()) == ARCHIVE_OK;
  std::error_code ignored;
  if (!done || rewriting.count == 0) {
    fs::remove(beside, ignored);
    if (done) return std::size_t{0};
    const char* const reason = archive_error_string(writer.get());
    return cannot(!rewriting.problem.empty() ? rewriting.problem
                  : reason != nullptr        ? shown(reason)
                                             : "unknown reason");
  }
  const timespec times[2] = {facts.st_atim, facts.st_mtim};
  // Its own date tells when a student's archive came.
  if (futimens(out.get(), times) != 0 || fsync(out.get()) != 0 ||
      rename(beside.c_str(), file.c_str()) != 0) {
    const std::string why = base::reason_text(errno);
    fs::remove(beside, ignored);
    return cannot(why);
  }
  return rewriting.count;
}

namespace {

using base::Descriptor;

base::Error cannot_read(const std::string& name) {
  return {base::ErrorKind::kInput, name, "cannot be read: " + base::reason_text(errno),
          "a readable folder or file", "check its path and rights"};
}

/// Names in the folder that `descriptor` is, sorted.
std::vector<std::string> names_in(int descriptor) {
  std::vector<std::string> names;
  DIR* const listing = fdopendir(dup(descriptor));
  if (listing == nullptr) return names;
  while (const dirent* entry = readdir(listing)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

/// No link is followed, not even one that was put there since it was looked at.
int without_links(int flag) { return base::switched_off("intake.links") ? 0 : flag; }

std::string kind_problem(const struct stat& facts) {
  if (S_ISLNK(facts.st_mode)) return "it is a symbolic link";
  if (S_ISFIFO(facts.st_mode)) return "it is a pipe";
  if (S_ISSOCK(facts.st_mode)) return "it is a socket";
  if (S_ISCHR(facts.st_mode) || S_ISBLK(facts.st_mode)) return "it is a device";
  if (!S_ISREG(facts.st_mode)) return "it is no regular file";
  return facts.st_nlink > 1 ? "it is a hard link" : "";
}

/// Visits a folder and those below it.
class Walk {
 public:
  Walk(const ArchiveLimits& limits, const MemberVisitor& visitor)
      : limits_(limits), visitor_(visitor) {}

  base::Status folder(int parent, const std::string& prefix, const std::string& shown_path,
                      std::size_t depth) {
    for (const std::string& name : names_in(parent)) {
      const std::string path = prefix.empty() ? name : prefix + "/" + name;
      if (++entries_ > limits_.entries) {
        return base::Error{base::ErrorKind::kInput, shown_path,
                           "more than " + std::to_string(limits_.entries) + " files", "",
                           "name the folder that holds the submissions"};
      }
      struct stat facts {};
      if (fstatat(parent, name.c_str(), &facts, without_links(AT_SYMLINK_NOFOLLOW)) != 0) continue;
      if (!S_ISDIR(facts.st_mode)) {
        file(parent, name, path, facts);
      } else if (is_litter(name)) {
        visitor_.take(member_of(path, facts), "");
      } else {
        Member member = member_of(path, facts);
        member.is_folder = true;
        visitor_.take(member, "");
        const auto below = enter(parent, name, path, shown_path, depth);
        if (!below) return below;
      }
    }
    return base::Done{};
  }

  void file(int parent, const std::string& name, const std::string& path,
            const struct stat& facts) {
    Member member = member_of(path, facts);
    member.size = static_cast<std::uint64_t>(facts.st_size);
    if (const std::string problem = kind_problem(facts); !problem.empty())
      member.path.problem = problem;
    std::string content;
    if (!member.path.problem && visitor_.wants(member)) read(parent, name, member, content);
    visitor_.take(member, std::move(content));
  }

 private:
  static Member member_of(const std::string& path, const struct stat& facts) {
    Member member;
    member.path = safe_path(path);
    member.time = facts.st_mtim.tv_sec;
    return member;
  }

  base::Status enter(int parent, const std::string& name, const std::string& path,
                     const std::string& shown_path, std::size_t depth) {
    constexpr std::size_t kMostDepth = 40;
    const Descriptor inside(openat(parent, name.c_str(),
                                   O_RDONLY | O_DIRECTORY | without_links(O_NOFOLLOW) | O_CLOEXEC));
    if (inside.get() < 0 || depth >= kMostDepth) {
      Member member;
      member.path = safe_path(path);
      member.path.problem = inside.get() < 0
                                ? "the folder cannot be read: " + base::reason_text(errno)
                                : "it lies too many folders deep";
      visitor_.take(member, "");
      return base::Done{};
    }
    return folder(inside.get(), path, shown_path, depth + 1);
  }

  /// What was looked at may be another file by now, so everything is asked again of the open one.
  void read(int parent, const std::string& name, Member& member, std::string& content) const {
    const Descriptor file(openat(parent, name.c_str(),
                                 O_RDONLY | without_links(O_NOFOLLOW) | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (file.get() < 0 || fstat(file.get(), &facts) != 0) {
      member.path.problem = "it cannot be read: " + base::reason_text(errno);
      return;
    }
    if (const std::string problem = kind_problem(facts); !problem.empty()) {
      member.path.problem = problem;
      return;
    }
    char block[64 * 1024];
    while (content.size() <= limits_.file_bytes) {
      const ssize_t size = ::read(file.get(), block, sizeof block);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) member.path.problem = "it cannot be read: " + base::reason_text(errno);
      if (size <= 0) break;
      content.append(block, static_cast<std::size_t>(size));
    }
    member.size = content.size();
    if (content.size() > limits_.file_bytes)
      member.path.problem = "it is larger than " + std::to_string(limits_.file_bytes) + " bytes";
  }

  const ArchiveLimits& limits_;
  const MemberVisitor& visitor_;
  std::uint64_t entries_ = 0;
};

}  // namespace

base::Status read_folder(const fs::path& folder, const ArchiveLimits& limits,
                         const MemberVisitor& visitor) {
  const Descriptor inside(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (inside.get() < 0) return cannot_read(folder.string());
  return Walk(limits, visitor).folder(inside.get(), "", folder.string(), 0);
}

base::Status read_single_file(const fs::path& file, const ArchiveLimits& limits,
                              const MemberVisitor& visitor) {
  struct stat facts {};
  if (fstatat(AT_FDCWD, file.c_str(), &facts, without_links(AT_SYMLINK_NOFOLLOW)) != 0)
    return cannot_read(file.string());
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const Descriptor parent(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0) return cannot_read(file.string());
  const std::string name = file.filename().string();
  Walk(limits, visitor).file(parent.get(), name, name, facts);
  return base::Done{};
}

}  // namespace membound::intake
