// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the tables of the virtual GPU time: `membound dev verdicts` and `membound dev mechanisms`;
/// and a table of the help.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/authoring/written_parts.hpp"
#include "grader/base/result.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/judge/check_request.hpp"

namespace membound::cli {

/// One file to time, and what its stages' answers are called in the table.
struct HandedIn {
  const course::Lab* lab;
  std::filesystem::path file;
  std::vector<int> stages;
  std::vector<std::string> answers;  ///< one each
};

/// Each stage's answer for itself and for the other stages of its lab, and the wrong answers that
/// are right but slow or over their budget; of each lab its own answers come first.
[[nodiscard]] base::Result<std::vector<HandedIn>> all_handed_in(
    const Context& context, const std::vector<const course::Lab*>& labs);

/// Compiles what is to be timed, so that timing finds the code in the cache. An error comes again
/// when the request is run.
void compile_all(const std::vector<judge::CheckRequest>& requests, const std::atomic<bool>* stop);

/// The platforms as the help of `membound export` lists them, written from platforms.def
/// (export_command.cpp).
[[nodiscard]] authoring::WrittenPart platform_table();

}  // namespace membound::cli
