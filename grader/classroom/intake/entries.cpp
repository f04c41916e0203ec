// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/entries.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "grader/base/digest.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/intake/archive.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::intake {

base::Result<std::string> Store::put(std::string_view text) const {
  const std::string name = base::sha256(text);
  std::error_code ignored;
  if (std::filesystem::exists(file(name), ignored)) return name;
  const auto written = base::write_durably(file(name), text, "store", 0444);
  if (!written) return written.error();
  // The folder of the digest is a name in the store's folder, and that must survive too.
  const auto synced = base::sync_folder(folder_);
  if (!synced) return synced.error();
  return name;
}

base::Result<std::string> Store::get(const std::string& sha256) const {
  auto text = base::read_file(file(sha256));
  if (text && base::sha256(*text) != sha256) {
    return base::Error{base::ErrorKind::kMachine, file(sha256).string(),
                       "is not the file that was handed in: its SHA-256 is another one",
                       "an unchanged store", "delete it and grade again with the submissions"};
  }
  return text;
}

int Store::sweep() const {
  int removed = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error))
    removed += base::sweep(entry->path());
  return removed;
}

namespace {

constexpr std::array<bool, 256> kIsLetter = [] {
  std::array<bool, 256> is_letter{};
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_"))
    is_letter[static_cast<unsigned char>(c)] = true;
  return is_letter;
}();

bool is_letter(char c) { return kIsLetter[static_cast<unsigned char>(c)]; }

/// Where the comment, literal or single character that begins at `at` ends.
std::size_t end_of_other(std::string_view source, std::size_t at) {
  const char first = source[at], second = at + 1 < source.size() ? source[at + 1] : '\0';
  if (first == '/' && second == '/') return std::min(source.find('\n', at), source.size());
  if (first == '/' && second == '*') {
    const auto end = source.find("*/", at + 2);
    return end == std::string_view::npos ? source.size() : end + 2;
  }
  if (first != '"' && first != '\'') return at + 1;
  std::size_t end = at + 1;
  while (end < source.size() && source[end] != first && source[end] != '\n')
    end += source[end] == '\\' ? 2 : 1;
  return std::min(end + 1, source.size());
}

/// Calls `take` with each identifier outside of comments and string or character literals.
template <typename Take>
void for_each_identifier(std::string_view source, Take take) {
  for (std::size_t i = 0; i < source.size();) {
    if (!is_letter(source[i])) {
      i = end_of_other(source, i);
      continue;
    }
    const std::size_t begin = i;
    while (i < source.size() && is_letter(source[i])) ++i;
    take(source.substr(begin, i - begin));
  }
}

/// Which labs a text is for, told by the kernels that are named in it.
class KernelNames {
 public:
  /// Keeps pieces of `labs`, which must live longer.
  explicit KernelNames(const std::vector<course::Lab>& labs);

  /// Ids of the labs of which a kernel occurs in `source` outside of comments and literals, the one
  /// with the most kernels first.
  [[nodiscard]] std::vector<std::string> labs_in(std::string_view source) const;
  /// Whether any of the labs wants a file of this name beside kernel.cu.
  [[nodiscard]] bool want_beside(std::string_view name) const;

 private:
  const std::vector<course::Lab>& labs_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> labs_of_;  ///< by kernel
};

KernelNames::KernelNames(const std::vector<course::Lab>& labs) : labs_(labs) {
  for (std::size_t lab = 0; lab < labs.size(); ++lab)
    for (const course::Stage& stage : labs[lab].stages)
      if (!stage.kernel.empty()) labs_of_[stage.kernel].push_back(lab);
}

std::vector<std::string> KernelNames::labs_in(std::string_view source) const {
  std::vector<const std::vector<std::size_t>*> found;
  for_each_identifier(source, [&](std::string_view word) {
    if (const auto kernel = labs_of_.find(word); kernel != labs_of_.end())
      found.push_back(&kernel->second);
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<int> kernels(labs_.size());
  for (const auto* labs : found)
    for (const std::size_t lab : *labs) ++kernels[lab];
  std::vector<std::size_t> order;
  for (std::size_t lab = 0; lab < labs_.size(); ++lab)
    if (kernels[lab] > 0) order.push_back(lab);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return kernels[a] > kernels[b]; });
  std::vector<std::string> ids;
  for (const std::size_t lab : order) ids.push_back(labs_[lab].id);
  return ids;
}

bool KernelNames::want_beside(std::string_view name) const {
  // "doejane_12345_67891_answers.md": whose it is, learning systems write before it.
  name.remove_prefix(name.rfind('_') + 1);  // 0 where there is none
  return std::any_of(labs_.begin(), labs_.end(), [&](const course::Lab& lab) {
    const auto files = lab.files_beside();
    return std::any_of(files.begin(), files.end(),
                       [&](const std::string& file) { return is_file_called(name, file); });
  });
}

namespace fs = std::filesystem;

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
    if (kernels_.want_beside(name)) return member.size <= course::kMostBytesBeside;
    return (depth == 0 && name == kMetadata) ||
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
    } else if (kernels_.want_beside(name)) {
      entry.is_beside = true;
      if (entry.size > course::kMostBytesBeside)
        entry.problem = "it has " + std::to_string(entry.size) + " bytes; at most " +
                        std::to_string(course::kMostBytesBeside) + " are read";
      else
        entry.text = std::move(content);
    } else if (depth == 0 && name == kMetadata) {
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

bool is_file_called(std::string_view found, std::string_view name) {
  const std::string own = folded(found);
  if (own == name) return true;
  // Canvas writes "kernel-2.cu" for the second kernel.cu.
  const auto dot = name.rfind('.');
  const std::string_view stem = name.substr(0, dot), ending = name.substr(dot);
  const bool fits = own.size() > name.size() + 1 && own.starts_with(stem) &&
                    own.ends_with(ending) && own[stem.size()] == '-';
  return fits && own.find_first_not_of("0123456789", stem.size() + 1) == own.size() - ending.size();
}

bool Entry::is_source() const { return !is_empty_folder && has_ending(path.back(), ".cu"); }

base::Result<Entries> read_entries(const fs::path& source, const std::vector<course::Lab>& labs,
                                   const Store& store, const ArchiveLimits& student_limits,
                                   const HoldsClass& holds_class) {
  return Reading(labs, store, student_limits).read(source, holds_class);
}

}  // namespace membound::intake
