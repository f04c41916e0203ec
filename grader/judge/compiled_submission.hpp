// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A submission compiled for the stages that were asked for, and the reference answers it is held
/// against.
/// Place in the chain: judge -> [compiled_submission] -> compile.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/judge/check_request.hpp"

namespace membound::judge {

/// How the submission is compiled for stages of this kind.
[[nodiscard]] CompileRequest submission_request(const CheckRequest& request,
                                                const course::StageKind& kind);

/// The submission as the stages of one kind need it, and the reference answer it is held against.
struct CompiledPart {
  const course::StageKind* kind;
  std::vector<int> stages;  ///< of those that were asked for
  CompiledCode submission = {};
  std::filesystem::path reference = {};
  std::filesystem::path preload = {};  ///< see RunRequest::preload
  std::string not_for_compiler = {};   ///< why it was not compiled: another compiler is needed
};

/// One for each kind among the stages that were asked for, at least one.
struct CompiledSubmission {
  std::vector<CompiledPart> parts;

  [[nodiscard]] bool any_compiled() const;
  /// The first part that does not compile, or else the first.
  [[nodiscard]] const CompiledCode& first_problem() const;
  /// The code of the first part that compiles; only where there is one.
  [[nodiscard]] const std::filesystem::path& file() const;
  /// The part of stages that have a reference answer, compiled; may be null.
  [[nodiscard]] const CompiledPart* with_reference() const;
};

/// Compiles the submission, once for each kind of stage; the reference too where the build's own is
/// of another compiler, or is a program to be timed beside it.
[[nodiscard]] base::Result<CompiledSubmission> compile_submission(const CheckRequest& request);

/// Whether this check times a part's programs on its device: never those of a graded run, which
/// share a process with the clock.
[[nodiscard]] bool times_programs(const CheckRequest& request, const CompiledPart& part);

/// Why it does not compile, in a sentence for the student.
[[nodiscard]] std::string compile_reason(const CompiledCode& code);

}  // namespace membound::judge
