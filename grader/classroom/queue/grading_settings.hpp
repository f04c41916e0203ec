// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a batch grades: what every verdict depends on besides the submission, and the digests that
/// say so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/course/grade.hpp"
#include "grader/judge/judge.hpp"

namespace membound::queue {

/// The same for every submission of a batch.
struct Settings {
  static constexpr double kDeviceSeconds = 60;

  judge::Workplace
      place;  ///< its `state` is OUT/work: nothing is shared with a student's own checks
  const course::Course* course = nullptr;
  compilers::CompilerInfo compiler;
  std::string architecture = "90";
  judge::Device device = judge::real_gpu();
  std::vector<judge::Device> devices = {};  ///< that serve at the same time; empty: `device` alone
  double seconds_per_stage = 180;           ///< backstop for a test program that reports nothing
  /// What one submission may take of a device in all; see judge::SandboxOptions. 0: no such limit.
  double device_seconds = kDeviceSeconds;
  std::string version;  ///< Membound's
  /// Grade even where nothing confines submissions: each then runs in the judge's own process.
  bool trust_submissions = false;
  bool hold_policy = false;  ///< hold what they compile to against the policy even then
};

/// What confines a submission on this machine, in words for the record. An error where nothing
/// does and the settings do not say that the submissions are trusted.
[[nodiscard]] base::Result<std::string> limits_in_force(const Settings& settings);

/// Digests of one lab under these settings. Reads the files; an error names one that is not built.
[[nodiscard]] base::Result<course::GradeDigests> digests_of(const Settings& settings,
                                                            const course::Lab& lab,
                                                            const std::string& limits);

/// Now in UTC, or the time that SOURCE_DATE_EPOCH names: two runs then write the same bytes.
[[nodiscard]] std::string now_text();

}  // namespace membound::queue
