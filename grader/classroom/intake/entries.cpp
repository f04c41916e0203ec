// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/entries.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/intake/folder.hpp"
#include "grader/classroom/intake/kernel_names.hpp"
#include "grader/classroom/intake/student_names.hpp"

namespace membound::intake {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMetadataNames = "submission_metadata.yml";

/// Reads one source with everything in it.
class Reading {
 public:
  Reading(const std::vector<course::Lab>& labs, const Store& store, const ArchiveLimits& limits)
      : kernels_(labs), store_(store), limits_(limits) {}

  base::Result<Entries> read(const fs::path& source, const HoldsClass& holds_class) {
    const auto archive = only_archive_in(source);
    auto read = read_one(archive.value_or(source));
    // Else it is a single student's, in a folder for the class; and a bad archive is one bad item.
    if (archive && (!read || !holds_class(archive->filename().string(), all_))) {
      all_ = {};
      folders_.clear();
      read = read_one(source);
    }
    if (!read) return read.error();
    keep_empty_folders();
    return std::move(all_);
  }

 private:
  base::Status read_one(const fs::path& source) {
    const ArchiveLimits of_class = ArchiveLimits::of_class();
    std::error_code error;
    base::Status status = base::Done{};
    if (fs::is_directory(source, error)) {
      status = read_folder(source, of_class, visitor({}, 0));
    } else if (is_archive_name(source.filename().string())) {
      status = read_archive_file(source, of_class, visitor({}, 0));
    } else {
      status = read_single_file(source, of_class, visitor({}, 0));
    }
    if (!status) return status;
    if (failed_) return *failed_;
    return base::Done{};
  }

  /// The archive that is all there is in a folder.
  static std::optional<fs::path> only_archive_in(const fs::path& folder) {
    std::error_code error;
    std::optional<fs::path> found;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      if (is_litter(entry->path().filename().string())) continue;
      std::error_code ignored;
      if (found || !fs::is_regular_file(entry->symlink_status(ignored)) ||
          !is_archive_name(entry->path().filename().string()))
        return std::nullopt;
      found = entry->path();
    }
    return found;
  }

  /// Puts members below `prefix`; `depth` archives are open already.
  MemberVisitor visitor(const Entry& prefix, int depth) {
    return {[this, depth](const Member& member) { return wants(member, depth); },
            [this, depth, prefix](const Member& member, std::string content) {
              take(member, prefix, depth, std::move(content));
            }};
  }

  static bool is_litter_path(const Member& member) {
    return std::any_of(member.path.parts.begin(), member.path.parts.end(),
                       [](const std::string& part) { return is_litter(part); });
  }

  [[nodiscard]] bool wants(const Member& member, int depth) const {
    if (is_litter_path(member)) return false;
    const std::string& name = member.path.parts.back();
    if (has_ending(name, ".cu")) return member.size <= limits_.file_bytes;
    return (depth == 0 && name == kMetadataNames) ||
           (depth < kMostNestedArchives && is_archive_name(name) && member.size <= limits_.bytes);
  }

  /// Folders without any file below them say that somebody handed in nothing.
  void keep_empty_folders() {
    std::set<std::vector<std::string>> filled;
    for (const Entry& entry : all_.files)
      for (std::size_t parts = 1; parts < entry.path.size(); ++parts)
        filled.emplace(entry.path.begin(), entry.path.begin() + static_cast<std::ptrdiff_t>(parts));
    for (Entry& folder : folders_)
      if (filled.insert(folder.path).second) {
        for (std::size_t parts = 1; parts < folder.path.size(); ++parts)
          filled.emplace(folder.path.begin(),
                         folder.path.begin() + static_cast<std::ptrdiff_t>(parts));
        all_.files.push_back(std::move(folder));
      }
    folders_.clear();
  }

  void take_folder(const Member& member) {
    if (member.path.problem || is_litter_path(member)) return;
    Entry folder;
    folder.path = member.path.parts;
    folder.raw = member.path.raw;
    folder.is_empty_folder = true;
    folders_.push_back(std::move(folder));
  }

  void take(const Member& member, const Entry& prefix, int depth, std::string content) {
    if (failed_) return;
    if (member.is_folder) {
      if (depth == 0) take_folder(member);
      return;
    }
    if (depth > 0) unpacked_ += member.size;
    Entry entry;
    entry.path = prefix.path;
    entry.raw = prefix.raw;
    entry.path.insert(entry.path.end(), member.path.parts.begin(), member.path.parts.end());
    entry.raw.insert(entry.raw.end(), member.path.raw.begin(), member.path.raw.end());
    if (entry.path.size() == prefix.path.size()) {
      entry.path.emplace_back("(no name)");
      entry.raw.emplace_back();
    }
    // A date inside a student's archive is whatever its author wrote; the archive's own counts.
    entry.time = depth > 0 ? prefix.time : member.time;
    entry.size = member.size;
    entry.problem = member.path.problem;
    if (is_litter_path(member)) {
      // A clone's .git tells GitHub Classroom's folders apart; nothing else of it is of use.
      if (member.path.parts.size() > 1 && member.path.parts[1] == ".git" && prefix.path.empty())
        all_.clones.insert(member.path.parts.front());
      return;
    }
    if (!entry.problem) open(entry, depth, std::move(content));
    all_.files.push_back(std::move(entry));
  }

  /// Stores a source, or goes into an archive.
  void open(Entry& entry, int depth, std::string content) {
    const std::string& name = entry.name();
    if (entry.is_source()) {
      if (entry.size > limits_.file_bytes) {
        entry.problem = "it has " + std::to_string(entry.size) + " bytes; at most " +
                        std::to_string(limits_.file_bytes) + " are read";
        return;
      }
      auto kept = store_.put(content);
      if (!kept) {
        failed_ = kept.error();
        return;
      }
      entry.sha256 = *kept;
      if (base::switched_off("intake.store")) unpack(entry, content);
      entry.labs = kernels_.labs_in(content);
    } else if (depth == 0 && name == kMetadataNames) {
      entry.text = std::move(content);
    } else if (is_archive_name(name)) {
      open_archive(entry, depth, content);
    }
  }

  /// What the store spares us: a file where an archive says that it belongs.
  void unpack(const Entry& entry, const std::string& content) const {
    fs::path place = store_.file("unpacked").parent_path();
    for (const std::string& part : entry.raw) place /= part;
    place = place.lexically_normal();
    std::error_code ignored;
    fs::create_directories(place.parent_path(), ignored);
    static_cast<void>(base::write_file(place, content));
  }

  void open_archive(Entry& entry, int depth, const std::string& content) {
    if (depth >= kMostNestedArchives) {
      entry.problem =
          "archives lie more than " + std::to_string(kMostNestedArchives) + " deep in one another";
      return;
    }
    if (entry.size > limits_.bytes) {
      entry.problem = "it has " + std::to_string(entry.size) + " bytes; at most " +
                      std::to_string(limits_.bytes) + " are read";
      return;
    }
    if (depth == 0) unpacked_ = 0;
    if (unpacked_ > limits_.bytes) {
      entry.problem =
          "its archives unpack to more than " + std::to_string(limits_.bytes) + " bytes";
      return;
    }
    const auto read = read_archive_bytes(content, entry.name(), limits_, visitor(entry, depth + 1));
    if (!read) entry.problem = read.error().found;
  }

  const KernelNames kernels_;
  const Store& store_;
  const ArchiveLimits& limits_;
  Entries all_;
  std::vector<Entry> folders_;
  std::uint64_t unpacked_ = 0;  ///< of the archive of one student, archives in it included
  std::optional<base::Error> failed_;
};

}  // namespace

bool Entry::is_source() const { return !is_empty_folder && has_ending(path.back(), ".cu"); }

base::Result<Entries> read_entries(const fs::path& source, const std::vector<course::Lab>& labs,
                                   const Store& store, const ArchiveLimits& student_limits,
                                   const HoldsClass& holds_class) {
  return Reading(labs, store, student_limits).read(source, holds_class);
}

}  // namespace membound::intake
