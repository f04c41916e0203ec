// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Names that strangers chose: made valid, comparable and harmless to show. No name from a
/// submission ever becomes a file name of ours. utf8proc does the Unicode part.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace membound::intake {

/// Valid UTF-8 in normal form C; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string normal(std::string_view name);

/// Equal for names that a person or a file system may take for the same: compatibility forms, case
/// and invisible characters are folded, outer spaces dropped.
[[nodiscard]] std::string folded(std::string_view name);

/// Letters and digits of the folded name; bytes beyond ASCII count as letters.
[[nodiscard]] std::string squeezed(std::string_view name);

/// normal(), with control characters, bidirectional overrides and other invisible characters as
/// U+FFFD, and at most `most` bytes: harmless in a terminal, a table and a page's text.
[[nodiscard]] std::string shown(std::string_view name, std::size_t most = 200);

/// Whether the last part ends in `ending` (".cu"), in any case.
[[nodiscard]] bool has_ending(std::string_view name, std::string_view ending);

/// Whether it is an archive by its name: zip, tar, and tar compressed with gzip, bzip2, xz or zstd.
[[nodiscard]] bool is_archive_name(std::string_view name);
/// A name without its archive or source ending: "alice.tar.gz" -> "alice".
[[nodiscard]] std::string stem(std::string_view name);

/// What programs leave in archives and nobody submits on purpose: ".git", "__MACOSX", "._x".
[[nodiscard]] bool is_litter(std::string_view part);

}  // namespace membound::intake
