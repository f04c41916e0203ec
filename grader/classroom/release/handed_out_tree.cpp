// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/release/handed_out_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <nlohmann/json.hpp>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"

namespace membound::release {
namespace {

namespace fs = std::filesystem;

/// The first file of a folder that is being written, and the last to go.
constexpr const char* kUnfinished = ".membound-release-part";
constexpr std::size_t kNamed = 3;

base::Error cannot(const fs::path& place, const std::string& what) {
  return {base::ErrorKind::kMachine, place.string(), what, "", "check the rights and the disk"};
}

/// Digests by file, of an earlier release.
std::optional<std::map<std::string, std::string>> manifest_of(const fs::path& folder) {
  const auto text = base::read_file(folder / kManifest);
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value("schema", nlohmann::json()) != kManifestSchema)
    return std::nullopt;
  std::map<std::string, std::string> files;
  const auto listed = json.find("files");
  if (listed == json.end() || !listed->is_object()) return std::nullopt;
  for (const auto& [name, digest] : listed->items())
    if (digest.is_string()) files[name] = digest;
  return files;
}

/// Files below `folder` that the release did not write, or that are not as it wrote them.
std::vector<std::string> own_files(const fs::path& folder,
                                   const std::map<std::string, std::string>& files) {
  std::vector<std::string> own;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().lexically_relative(folder).generic_string();
    if (name == ".git" || name == "build" || name == ".membound") {
      entry.disable_recursion_pending();
      continue;
    }
    if (entry->is_directory(error) && !entry->is_symlink(error)) continue;
    if (name == kManifest) continue;
    const auto known = files.find(name);
    const auto text = base::read_file(entry->path());
    if (known == files.end() || !text || base::sha256(*text) != known->second) own.push_back(name);
  }
  return own;
}

/// Also true of an empty folder. A new repository's clone is one to release into.
bool holds_nothing_but_git(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().filename() != ".git") return false;
  return !error;
}

fs::path part_of(const fs::path& folder) { return folder.string() + ".part"; }

/// Clears away what a killed call left; brings back a .git that was on its way.
base::Status recover(const fs::path& folder) {
  const fs::path part = part_of(folder);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(part, error))) return base::Done{};
  if (!fs::exists(part / kUnfinished, error) && !manifest_of(part))
    return base::Error{base::ErrorKind::kUsage, part.string(),
                       "is in the way and was not made by membound release",
                       "no such folder: releases are written there first", "move it away"};
  if (fs::exists(part / ".git", error)) {
    fs::rename(part / ".git", folder / ".git", error);
    if (error) return cannot(part / ".git", "cannot be moved back: " + error.message());
  }
  fs::remove_all(part, error);
  if (error) return cannot(part, "cannot be removed: " + error.message());
  return base::Done{};
}

base::Status write_all(const Tree& tree, const fs::path& part) {
  // Before all else: whoever finds the folder knows what it is.
  const auto marked = base::write_file(part / kUnfinished, "");
  if (!marked) return marked;
  for (const auto& [name, file] : tree) {
    const auto written = base::write_file(part / name, file.bytes);
    if (!written) return written;
    if (chmod((part / name).c_str(), file.executable ? 0755 : 0644) != 0)
      return cannot(part / name, base::reason_text(errno));
  }
  return base::Done{};
}

}  // namespace

base::Status check_target(const fs::path& folder) {
  std::error_code error;
  const auto status = fs::symlink_status(folder, error);
  if (!fs::exists(status)) return base::Done{};
  if (!fs::is_directory(status))
    return base::Error{base::ErrorKind::kUsage, folder.string(), "is no folder",
                       "a folder, or a name that is free", ""};
  if (holds_nothing_but_git(folder)) return base::Done{};
  const auto files = manifest_of(folder);
  if (!files)
    return base::Error{base::ErrorKind::kUsage, folder.string(),
                       "is not empty, and no earlier release", "a free name, or an earlier release",
                       "choose another --out"};
  const auto own = own_files(folder, *files);
  if (own.empty()) return base::Done{};
  std::string names;
  for (std::size_t i = 0; i < own.size() && i < kNamed; ++i) names += (i ? ", " : "") + own[i];
  if (own.size() > kNamed) names += " and " + std::to_string(own.size() - kNamed) + " more";
  return base::Error{
      base::ErrorKind::kUsage, folder.string(), "was changed since it was released: " + names,
      "an earlier release as it was written", "move these files away, or choose another --out"};
}

base::Status put_in_place(const Tree& tree, const fs::path& given) {
  std::error_code error;
  fs::path folder = fs::absolute(given, error).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  const auto recovered = recover(folder);
  if (!recovered) return recovered;
  const auto usable = check_target(folder);
  if (!usable) return usable;
  const fs::path part = part_of(folder);
  const auto written = write_all(tree, part);
  if (!written) {
    fs::remove_all(part, error);
    return written;
  }
  fs::remove(part / kUnfinished, error);
  if (!fs::exists(folder, error) || fs::is_empty(folder, error)) {
    fs::rename(part, folder, error);  // an empty folder is replaced
    if (error) return cannot(folder, "cannot be made: " + error.message());
    return base::Done{};
  }
  if (fs::exists(folder / ".git", error)) {
    fs::rename(folder / ".git", part / ".git", error);
    if (error) return cannot(folder / ".git", "cannot be moved: " + error.message());
  }
  if (renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) != 0) {
    const std::string why = base::reason_text(errno);
    const auto back = recover(folder);
    return back ? cannot(folder, "cannot be replaced: " + why) : back.error();
  }
  fs::remove_all(part, error);
  if (error) return cannot(part, "cannot be removed: " + error.message());
  return base::Done{};
}

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
