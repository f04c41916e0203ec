// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The command line of the test program for stages about programs; the judge writes it.
/// Place in the chain: main -> [program_options].
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/harness/cases/seeds.hpp"

namespace membound::harness {

struct Options {
  std::filesystem::path lab_json;
  std::filesystem::path submission;  ///< the student's program
  std::filesystem::path runner;
  std::filesystem::path forward;
  std::filesystem::path result;    ///< JSON lines are appended here; empty: no file
  std::vector<int> stages;         ///< empty: all
  std::vector<std::string> tests;  ///< empty: all, and the demands
  /// NAME=VALUE: told to the runner besides, so that checkers look on; empty: none do.
  std::vector<std::string> checked_with;
  std::uint64_t seed = 1;
  std::optional<harness::SeedKey> seed_key;
  bool jailed = false;
  std::filesystem::path clock;      ///< not empty: times the work of the stages, and nothing else
  std::filesystem::path reference;  ///< the program that it is held against; empty: none
};

/// Options, or what to print and how to exit (also for --help).
struct ParsedOptions {
  std::optional<Options> options;
  std::string text;
  int exit_code = 0;
};

[[nodiscard]] ParsedOptions parse_options(int argc, const char* const* argv);

}  // namespace membound::harness
