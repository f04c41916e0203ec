// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/program_options.hpp"

#include <CLI/CLI.hpp>
#include <sstream>

namespace membound::harness {

ParsedOptions parse_options(int argc, const char* const* argv) {
  Options options;
  std::string seed_key;
  CLI::App app{"Tests the program of a lab's stages; normally started by membound."};
  const auto file = [&app](const char* name, std::filesystem::path& value, const char* text) {
    app.add_option(name, value, text)->required()->check(CLI::ExistingPath);
  };
  file("--lab", options.lab_json, "the lab's lab.json");
  file("--submission", options.submission, "the student's program, compiled");
  file("--runner", options.runner, "membound_runner");
  file("--forward", options.forward, "folder of the forwarding libcudart");
  app.add_option("--result", options.result, "append one JSON line per stage to this file");
  app.add_option("--stages", options.stages, "numbers of the stages, like 1,3; all if left out")
      ->delimiter(',');
  app.add_option("--tests", options.tests, "only these of each stage, and none of its demands")
      ->delimiter(',');
  app.add_option("--checked-with", options.checked_with,
                 "NAME=VALUE ...: told to the runner, so that checkers look on")
      ->excludes("--tests");
  app.add_option("--seed", options.seed, "all data follows from it");
  app.add_option("--seed-key", seed_key, "32 hexadecimal digits of a graded run");
  app.add_option("--clock", options.clock,
                 "the work clock's library: times the program's work on the device it finds by "
                 "itself, and runs no other test")
      ->check(CLI::ExistingFile);
  app.add_option("--reference", options.reference, "with --clock: a program to time beside it")
      ->needs("--clock")
      ->check(CLI::ExistingFile);
  app.add_flag("--jailed", options.jailed, "nobody trusts the program: both processes in jails");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    const bool asked = error.get_exit_code() == 0;
    app.exit(error, text, text);
    return {std::nullopt, text.str(), asked ? 0 : 2};
  }
  // The program runs in a folder of its own.
  for (std::filesystem::path* path :
       {&options.submission, &options.runner, &options.forward, &options.clock, &options.reference})
    if (!path->empty()) *path = std::filesystem::absolute(*path);
  if (!seed_key.empty()) {
    const auto key = harness::parse_seed_key(seed_key);
    if (!key) return {std::nullopt, base::to_string(key.error()) + "\n", 2};
    options.seed_key = *key;
  }
  return {std::move(options), "", 0};
}

}  // namespace membound::harness
