// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads zip and tar archives member by member into memory, under limits, and folders as if they
/// were archives: regular files only, no link followed, nothing opened that could make us wait.
/// Nothing is ever unpacked to a path that an archive names. libarchive takes the formats apart.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::intake {

/// How much of a stranger's archive is read before it is refused.
struct ArchiveLimits {
  std::uint64_t bytes = 64ULL << 20;  ///< of all members together, unpacked
  std::uint64_t entries = 5000;
  double ratio = 200;                  ///< unpacked over packed bytes, from kFreeBytes on
  std::uint64_t file_bytes = 1 << 20;  ///< of one member whose content is wanted

  /// An archive with a whole class in it, which an LMS made.
  [[nodiscard]] static ArchiveLimits of_class() {
    return {.bytes = 16ULL << 30, .entries = 1'000'000, .ratio = 1000, .file_bytes = 64ULL << 20};
  }
};

/// Any archive may unpack to this much, whatever its ratio.
inline constexpr std::uint64_t kFreeBytes = 4 << 20;

/// A member's path in its parts, or why it must not be used: absolute, "..", too deep,
/// too long. Backslashes separate too, as some zip programs write them.
struct SafePath {
  std::vector<std::string> parts;  ///< in normal form
  std::vector<std::string> raw;    ///< the same, byte by byte as found
  std::optional<std::string> problem;

  /// The parts joined with '/'.
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] SafePath safe_path(std::string_view path);

/// One member.
struct Member {
  SafePath path;  ///< its problem is also set for links, devices, pipes and encrypted members
  std::int64_t time = 0;  ///< last change, seconds since 1970; 0: not said
  std::uint64_t size = 0;
  bool is_folder = false;
};

/// What to do with members.
struct MemberVisitor {
  /// Whether the content is wanted. Not asked for folders and members with a problem.
  std::function<bool(const Member&)> wants;
  /// Every member, folders too; `content` is empty unless wanted. A wanted member larger than
  /// file_bytes comes with a problem instead of its content.
  std::function<void(const Member&, std::string content)> take;
};

/// Reads a file, or bytes in memory; `name` is for messages. An error means that the archive as a
/// whole is refused: damaged, of another kind, or beyond a limit.
[[nodiscard]] base::Status read_archive_file(const std::filesystem::path& file,
                                             const ArchiveLimits& limits,
                                             const MemberVisitor& visitor);
[[nodiscard]] base::Status read_archive_bytes(std::string_view bytes, const std::string& name,
                                              const ArchiveLimits& limits,
                                              const MemberVisitor& visitor);

/// Writes the archive anew, in the same form and with its date, without the members that `drops`
/// names; a file for which `changed` has a text gets that one. It is renamed into place when it is
/// whole; an error leaves the archive as it was. How many members were dropped or changed.
[[nodiscard]] base::Result<std::size_t> rewrite_archive(
    const std::filesystem::path& file, const std::function<bool(const SafePath&)>& drops,
    const std::function<std::optional<std::string>(const SafePath&, const std::string& content)>&
        changed);

/// Visits all files and folders below `folder` in the order of their names. Links, pipes, devices
/// and files with a second hard link come with a problem. Folders that are litter
/// (submitted_names.hpp) are not entered; each is handed over once, as a member of its name.
[[nodiscard]] base::Status read_folder(const std::filesystem::path& folder,
                                       const ArchiveLimits& limits, const MemberVisitor& visitor);

/// The same for one file; its path is its name.
[[nodiscard]] base::Status read_single_file(const std::filesystem::path& file,
                                            const ArchiveLimits& limits,
                                            const MemberVisitor& visitor);

}  // namespace membound::intake
