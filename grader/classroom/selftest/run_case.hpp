// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tries one case of the corpus on this machine and says whether it came out as it must.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/classroom/selftest/corpus.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/check_device.hpp"

namespace membound::selftest {

/// What is needed to try cases. Made once; several threads may use it.
struct Workbench {
  std::filesystem::path root;     ///< the course
  std::filesystem::path build;    ///< test programs and reference answers
  std::filesystem::path scratch;  ///< a folder of its own, removed by whoever made it
  compilers::CompilerInfo compiler;
  judge::Device device = judge::real_gpu();
  std::map<std::string, course::Lab> labs;  ///< with timeouts of a few seconds
  const std::atomic<bool>* stop = nullptr;
};

/// The labs of the course and the one of the host-code attacks with short launch timeouts, so that
/// a kernel that never ends costs seconds; their folders are copies in scratch.
[[nodiscard]] base::Status prepare(Workbench& bench);

/// Whether a case can only be tried where jails can be made.
[[nodiscard]] bool needs_jail(const Case& one);

/// An error means that our own part failed.
[[nodiscard]] base::Result<CaseOutcome> run_case(const Workbench& bench, const Case& one);

/// A case that no file of a source tree can hold: an archive with links, named pipes, bombs or
/// names that hide something, or one that claims an earlier date than that of its arrival. It is
/// made, taken in, and removed. "REFUSED" when nothing of it is to be graded, "SAFE" when what is
/// to be graded is exactly the honest file in it, else "LEAK", "ESCAPED" (a file lies where the
/// archive wanted it) or "FILLED" (the store holds more than may be read of one file). Of one that
/// claims a date: SAFE where the time that counts is the arrival's or the platform's, FORGED where
/// it is the one that the student wrote, or REFUSED.
[[nodiscard]] base::Result<CaseOutcome> intake_case(const std::filesystem::path& scratch,
                                                    const Case& one);

}  // namespace membound::selftest
