// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The command line of a lab's test program.
/// Place in the chain: main -> [test_options] -> session. Left out: GoogleTest's own options, which
/// it takes away before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/harness/cases/seeds.hpp"

namespace membound::harness {

/// What the caller (normally the judge) asks for.
struct Options {
  std::filesystem::path lab_json;
  std::filesystem::path submission;  ///< the student's compiled kernel.cu
  std::filesystem::path reference;   ///< the compiled reference answer
  std::filesystem::path kernels;     ///< harness.fatbin
  std::filesystem::path result;      ///< JSON lines are appended here; empty: no file
  std::vector<int> stages;           ///< empty: all
  std::uint64_t seed = 1;
  bool quick = false;  ///< correctness only
  /// What would be timed is launched once, for checkers to look at; no result is compared.
  bool look = false;
  /// What would be timed runs whole, for its results; nothing is tested or timed.
  bool whole = false;
  bool some_blocks = false;   ///< … some blocks of it, where the others do not depend on those
  bool easier_half = false;   ///< of the lab's own tests the first half alone, and what is timed
  double launch_seconds = 0;  ///< how long one launch may take; 0: what the lab says
  std::vector<std::int64_t> size;  ///< in place of the stage's timed sizes; empty: those
  bool counters = false;           ///< keep what the virtual GPU counted in timed runs
  /// Where the student's kernels run; the reference runs on device 0. Another number means two
  /// runners and the checks of a graded run.
  int student_device = 0;
  /// Known times of the reference, from an earlier start with time_reference: it is not run then,
  /// and the only device is the student's. Empty: none.
  std::filesystem::path reference_times;
  std::filesystem::path time_reference;      ///< only time the reference, into this file; empty: no
  std::optional<SeedKey> seed_key;           ///< of a graded run: takes the place of `seed`
  std::optional<std::uint64_t> sample_seed;  ///< as BenchParts::sample_seed
};

/// Options, or what to print and how to exit (also for --help).
struct ParsedOptions {
  std::optional<Options> options;
  std::string text;
  int exit_code = 0;
};

[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

/// "2048x1024" gives {2048, 1024}; every number is at least 0.
[[nodiscard]] base::Result<std::vector<std::int64_t>> parse_size(const std::string& text);

/// "1,3" gives {1, 3}.
[[nodiscard]] base::Result<std::vector<int>> parse_stages(const std::string& text);

}  // namespace membound::harness
