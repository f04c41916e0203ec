// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What went wrong, in the four parts every Membound message has: where, what was found, what was
/// expected, and what to do about it.
/// Place in the chain: everything -> [base]. Left out: how a message is coloured or wrapped, which
/// report/ decides.
#pragma once

#include <string>
#include <string_view>

namespace membound::base {

/// Whose problem it is; main() turns it into the exit code (2 for the user's, 3 for ours).
enum class ErrorKind {
  kUsage,    ///< the command line: a wrong lab name, an unknown option
  kInput,    ///< something the user gave: kernel.cu, lab.json, a PTX file, an archive
  kMachine,  ///< the machine: a full disk, no GPU, a missing compiler, no rights
  kInternal  ///< a broken promise of our own code
};

/// One problem. `where` is a file (with `:` and the line, where one is meant), an option or a
/// device; any part but `found` may be empty. All texts are plain UTF-8 without a final newline.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string where = {};
  std::string found = {};
  std::string expected = {};
  std::string advice = {};
};

/// "where: found\n  expected: …\n  try: …", leaving out the parts that are empty.
[[nodiscard]] std::string to_string(const Error& error);

/// "usage", "input", "machine" or "internal": the word used in result files.
[[nodiscard]] std::string_view to_string(ErrorKind kind);

/// 2 for usage and input, 3 for machine and internal: the exit code of a run that ends with `kind`.
[[nodiscard]] int exit_code_of(ErrorKind kind);

}  // namespace membound::base
