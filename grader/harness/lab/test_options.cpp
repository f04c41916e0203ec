// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/test_options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <sstream>

namespace membound::harness {
namespace {

template <typename Integer>
base::Result<std::vector<Integer>> parse_list(const std::string& text, char separator,
                                              Integer least, const std::string& option,
                                              const std::string& example) {
  std::vector<Integer> numbers;
  std::istringstream stream(text + separator);
  for (std::string part; std::getline(stream, part, separator);) {
    Integer number{};
    const char* end = part.data() + part.size();
    const auto [stopped, failure] = std::from_chars(part.data(), end, number);
    if (failure != std::errc() || stopped != end || number < least)
      return base::Error{base::ErrorKind::kUsage,
                         option,
                         "`" + text + "`",
                         "whole numbers from " + std::to_string(least) + ", like " + example,
                         {}};
    numbers.push_back(number);
  }
  return numbers;
}

ParsedOptions refused(const base::Error& error) {
  return {std::nullopt, base::to_string(error) + "\n", base::exit_code_of(error.kind)};
}

}  // namespace

base::Result<std::vector<std::int64_t>> parse_size(const std::string& text) {
  return parse_list<std::int64_t>(text, 'x', 0, "--size", "2048x1024");
}

base::Result<std::vector<int>> parse_stages(const std::string& text) {
  return parse_list<int>(text, ',', 1, "--stages", "1,3");
}

ParsedOptions parse_options(int argc, const char* const* argv) {
  Options options;
  std::string stages, size, seed_key;
  CLI::App app{"Tests and times one lab's submission; normally started by membound."};
  app.add_option("--lab", options.lab_json, "the lab's lab.json")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--submission", options.submission, "compiled kernel.cu of the student")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--reference", options.reference, "compiled reference answer")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--harness-kernels", options.kernels, "harness.fatbin")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--result", options.result, "append one JSON line per stage to this file");
  app.add_option("--stages", stages, "numbers of the stages, like 1,3; all if left out");
  app.add_option("--seed", options.seed, "all data follows from it");
  app.add_flag("--quick", options.quick, "correctness only, no timing");
  app.add_flag("--look", options.look,
               "launch what would be timed once, for the virtual GPU's checkers to look at");
  app.add_flag("--whole", options.whole,
               "only run what would be timed whole, on a virtual GPU, and compare all results");
  app.add_flag("--some-blocks", options.some_blocks,
               "with --look: only some blocks of a launch, where the others do not depend on them");
  app.add_flag("--easier-half", options.easier_half,
               "of the lab's own tests only the first half, and what is timed");
  app.add_option("--launch-seconds", options.launch_seconds,
                 "how long one launch may take, in place of what the lab says")
      ->check(CLI::PositiveNumber);
  app.add_option("--size", size, "time this size, like 2048x1024");
  app.add_flag("--counters", options.counters, "keep what the virtual GPU counted in timed runs");
  app.add_option("--student-device", options.student_device,
                 "the device of the student's kernels; the reference's is device 0")
      ->check(CLI::Range(0, 63));
  app.add_option("--reference-times", options.reference_times,
                 "times of the reference answer on a virtual GPU; it is not run then")
      ->check(CLI::ExistingFile);
  app.add_option("--time-reference", options.time_reference,
                 "only time the reference answer on a virtual GPU; write the times here");
  app.add_option("--sample-seed", options.sample_seed,
                 "chooses the blocks by which a virtual GPU times launches; else the seed does");
  app.add_option("--seed-key", seed_key, "a secret of 32 hexadecimal digits in place of --seed");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    const int code = app.exit(error, out, out);
    return {std::nullopt, out.str(), code == 0 ? 0 : 2};
  }
  if (!stages.empty()) {
    auto numbers = parse_stages(stages);
    if (!numbers) return refused(numbers.error());
    options.stages = *numbers;
  }
  if (!size.empty()) {
    auto numbers = parse_size(size);
    if (!numbers) return refused(numbers.error());
    options.size = *numbers;
  }
  if (!seed_key.empty()) {
    const auto key = parse_seed_key(seed_key);
    if (!key) return refused(key.error());
    options.seed_key = *key;
  }
  return {std::move(options), {}, 0};
}

}  // namespace membound::harness
