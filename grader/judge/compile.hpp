// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// kernel.cu -> device code, or a whole program; kept by content hash so that equal text compiles
/// once. What nobody trusts is compiled in a jail and held against the policy.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/grade.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::judge {

/// By the clock. A busy machine gives a compiler a part of its processors' time; what a text may
/// cost is a limit of that time, where one is kept.
inline constexpr int kLongestCompileSeconds = 120;

/// How code of people whom nobody trusts is compiled.
struct GradedCompile {
  /// In a jail. What it compiles to is held against the policy either way.
  bool confined = true;
  jail::Limits limits = {.wall_seconds = kLongestCompileSeconds,
                         .cpu_seconds = 30,
                         .memory_bytes = 2048 * jail::kMegabyte,
                         .output_bytes = jail::kMegabyte / 4,
                         .file_bytes = 32 * jail::kMegabyte,
                         .scratch_bytes = 256 * jail::kMegabyte,
                         .processes = 32};
  std::vector<std::string> allowed = {};  ///< what this lab allows besides, see policy.hpp
};

/// One file to compile.
struct CompileRequest {
  std::filesystem::path source;
  std::filesystem::path root;        ///< the course's: student headers and flags are found from it
  std::filesystem::path lab_folder;  ///< for kernel.cuh
  compilers::CompilerInfo compiler;
  std::string architecture = "90";  ///< compute capability without its dot (nvcc only)
  std::filesystem::path cache_folder;
  double timeout_seconds = kLongestCompileSeconds;  ///< of a compiler in no jail
  const std::atomic<bool>* stop = nullptr;
  std::optional<GradedCompile> graded = {};
  /// Of a program: the whole text is compiled, and linked with the libcudart of this folder.
  std::filesystem::path runtime = {};
  bool library = false;    ///< with `runtime`: not a program, but what can be loaded into one
  bool red_zones = false;  ///< between local variables, for memcheck (clang only)
};

/// What came of it. A text that does not compile is no error of this function: its messages are the
/// student's to read.
struct CompiledCode {
  bool compiled = false;
  std::filesystem::path file;  ///< the fatbin, PTX or program; empty unless compiled
  std::string output;  ///< the compiler's own words: errors at the student's places, or warnings
  std::string hint;    ///< what to do about the first error
  std::string sha256;  ///< of the source text
  bool from_cache = false;
  bool timed_out = false;
  bool stopped = false;
  double seconds = 0;
  jail::LimitHit limit = jail::LimitHit::kNone;  ///< which one ended a jailed compiler
  std::string not_text;                          ///< why_not_text(); no compiler was asked then
  std::string rejected;  ///< what the policy does not allow, a line each; then not `compiled`
};

/// The class of a graded submission that is not `compiled`.
[[nodiscard]] course::GradeVerdict grade_verdict_of(const CompiledCode& code);

/// Compiles, or finds the result of an earlier time. The name in the cache covers source text and
/// path, headers, flags, architecture and the compiler's version; files appear there whole.
[[nodiscard]] base::Result<CompiledCode> compile(const CompileRequest& request);

/// Why the file's bytes are no such text and what to do, a sentence each; empty where they are.
/// Bytes that are not UTF-8 are not looked for: in a comment they do no harm.
[[nodiscard]] std::string why_not_text(std::string_view bytes);

/// A note for each file that `source` includes from its own folder, where only kernel.cuh may be:
/// nobody but its author has it. Includes that a macro or a condition hides are not seen.
[[nodiscard]] std::string notes_on_headers(const std::filesystem::path& source,
                                           std::string_view text);

}  // namespace membound::judge
