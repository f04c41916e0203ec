// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A submission compiled for the stages that were asked for, and the reference answers it is held
/// against.
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {

/// What to compile, and for which stages.
struct BuildRequest {
  Workplace place;
  const course::Lab* lab = nullptr;
  std::vector<int> stages;
  std::filesystem::path submission;  ///< the kernel.cu
  compilers::CompilerInfo compiler;
  std::string architecture = "90";
  compilers::CodeTarget target = {};
  const std::atomic<bool>* stop = nullptr;
  /// Set for code that nobody trusts; what the lab allows besides is added from lab.json.
  std::optional<GradedCompile> graded = {};
  bool times_programs = false;  ///< programs are timed beside the reference program
};

/// The submission as the stages of one kind need it, and the reference answer it is held against.
struct CompiledPart {
  const course::StageKind* kind;
  std::vector<int> stages;  ///< of those that were asked for
  CompiledCode submission = {};
  std::filesystem::path reference = {};
  std::filesystem::path preload = {};  ///< see RunRequest::preload
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
[[nodiscard]] base::Result<CompiledSubmission> compile_submission(const BuildRequest& request);

/// The submission compiled by clang with red zones between its local variables, for stages of this
/// kind (red_zones.awk). Empty where none of them has local variables in memory, or clang is
/// not here or does not compile it: nothing tells them apart then.
[[nodiscard]] base::Result<std::filesystem::path> compile_with_red_zones(
    const BuildRequest& request, const course::StageKind& kind,
    const std::vector<course::StageMeasurement>& measurements);

/// Why it does not compile, in a sentence for the student.
[[nodiscard]] std::string compile_reason(const CompiledCode& code);

}  // namespace membound::judge
