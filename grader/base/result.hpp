// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What went wrong: Error, in the four parts that every message has; Result<T>, a value or the
/// Error that says why there is none; MEMBOUND_CHECK, a promise that our own code makes to
/// itself. A user's bad input travels as a Result through the whole project; it is never
/// thrown.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace membound::base {

/// Prints the broken promise to standard error and ends the process with exit code 3, without
/// running destructors: state is no longer trusted.
[[noreturn]] void fail_check(const char* expression, const char* file, int line);

}  // namespace membound::base

#define MEMBOUND_CHECK(condition) \
  ((condition) ? void() : ::membound::base::fail_check(#condition, __FILE__, __LINE__))

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

/// "No such file or directory" for ENOENT.
[[nodiscard]] std::string reason_text(int error);

/// "Segmentation fault" for SIGSEGV.
[[nodiscard]] std::string signal_text(int signal);

/// A value or an error. Ask with `if (result)` before `*result` or `result.error()`; asking for the
/// one that is not there is our own bug and aborts.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return MEMBOUND_CHECK(ok()), std::get<0>(content_); }
  const T& value() const& { return MEMBOUND_CHECK(ok()), std::get<0>(content_); }
  T&& value() && { return MEMBOUND_CHECK(ok()), std::get<0>(std::move(content_)); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const { return MEMBOUND_CHECK(!ok()), std::get<1>(content_); }

 private:
  std::variant<T, Error> content_;
};

/// What a step without a value of its own returns: `return Done{};` or an Error.
struct Done {};
using Status = Result<Done>;

}  // namespace membound::base
