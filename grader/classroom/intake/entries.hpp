// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Every file of what was handed in, from folders and archives alike, archives within archives
/// opened. Sources (.cu) go at once to the store, OUT/store/sha256/DIGEST/kernel.cu: what is graded
/// is what lies there, whatever happens to the files that were handed in. Of everything else only
/// the name is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/archive.hpp"
#include "grader/course/lab.hpp"

namespace membound::intake {

class Store {
 public:
  /// Below `out`; made when first used.
  explicit Store(const std::filesystem::path& out) : folder_(out / "store" / "sha256") {}

  /// Keeps `text`; returns its SHA-256. Equal texts are kept once.
  [[nodiscard]] base::Result<std::string> put(std::string_view text) const;
  /// The kernel.cu of this digest.
  [[nodiscard]] std::filesystem::path file(const std::string& sha256) const {
    return folder_ / sha256 / "kernel.cu";
  }
  /// The text, after making sure that it still has this digest.
  [[nodiscard]] base::Result<std::string> get(const std::string& sha256) const;
  /// Removes what a killed put() left; returns how many files.
  int sweep() const;

 private:
  std::filesystem::path folder_;
};

/// One file, an archive that was refused, or a folder with nothing in it.
struct Entry {
  std::vector<std::string> path;  ///< parts; an archive's name is one of them
  std::vector<std::string> raw;   ///< the same parts, byte by byte as found
  std::int64_t time = 0;          ///< seconds since 1970, of the outermost archive; 0: not known
  std::uint64_t size = 0;
  std::optional<std::string> problem;  ///< why it cannot be used
  std::string sha256;                  ///< in the store: sources without a problem
  std::vector<std::string> labs;       ///< ids of labs whose kernels it defines, most first
  std::string text;        ///< of submission_metadata.yml, and of what belongs beside a kernel.cu
  bool is_beside = false;  ///< a lab wants a file of this name beside kernel.cu
  bool is_empty_folder = false;

  [[nodiscard]] const std::string& name() const { return path.back(); }
  [[nodiscard]] bool is_source() const;
};

/// Whether a file of the name `found` is meant to be "kernel.cu": also "Kernel.cu", and
/// "kernel-2.cu", as Canvas calls the second one of a student.
[[nodiscard]] bool is_file_called(std::string_view found, std::string_view name);

/// All of them.
struct Entries {
  std::vector<Entry> files;
  std::set<std::string> clones;  ///< top-level folders that hold a .git
};

/// What Gradescope's record beside the submissions is called.
inline constexpr const char* kMetadata = "submission_metadata.yml";

/// Archives within archives are opened this deep.
inline constexpr int kMostNestedArchives = 3;

/// Asked about the only archive in a folder, by its name and what is in it: whether it holds a
/// class, so that its members and not the archive itself are what the folder holds.
using HoldsClass = std::function<bool(const std::string& archive, const Entries& members)>;

/// Reads `source`: a folder, an archive with the whole class, a folder with nothing but such an
/// archive in it, or a single file. `student_limits` hold for each archive inside. An error means
/// that the source as a whole cannot be read; a bad member is an entry with a problem.
[[nodiscard]] base::Result<Entries> read_entries(const std::filesystem::path& source,
                                                 const std::vector<course::Lab>& labs,
                                                 const Store& store,
                                                 const ArchiveLimits& student_limits,
                                                 const HoldsClass& holds_class);

}  // namespace membound::intake
