// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A handout as a row of pieces: text to read, and what `<details>` folds away.
/// Place in the chain: handout.md -> [folds] -> terminal, HTML page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::report {

/// Text, or something folded away below one line.
struct Piece {
  std::string text;      ///< Markdown
  std::string summary;   ///< Markdown of one line; empty where nothing is folded
  int line = 0;          ///< of `text` in the handout, from 1
  int solved_stage = 0;  ///< whose complete solution this shows; 0 = none

  [[nodiscard]] bool folded() const { return !summary.empty(); }
};

/// The pieces of `markdown` in their order. `file` is for the error that a fold without a summary
/// or without an end is.
[[nodiscard]] base::Result<std::vector<Piece>> pieces_of(std::string_view markdown,
                                                         const std::string& file);

}  // namespace membound::report
