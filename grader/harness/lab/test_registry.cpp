// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/test_registry.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "grader/base/result.hpp"
#include "grader/harness/lab/built_in_tests.hpp"

namespace membound::harness {
namespace {

// Filled before main() by the macros' static objects; function-local, so that they exist by then.
std::vector<detail::LabTestEntry>& entries() {
  static std::vector<detail::LabTestEntry> list;
  return list;
}

std::optional<LabProgram>& program() {
  static std::optional<LabProgram> one;
  return one;
}

void register_one(StageRun& run, const detail::LabTestEntry& entry) {
  testing::RegisterTest(run.stage().kernel.c_str(), entry.name, nullptr, nullptr, entry.file,
                        entry.line, [&run, make = entry.make]() -> LabTest* {
                          LabTest* test = make();
                          test->attach(run);
                          return test;
                        });
}

}  // namespace

namespace detail {

bool add_lab_test(const LabTestEntry& entry) {
  entries().push_back(entry);
  return true;
}

bool set_lab_program(LabProgram lab_program) {
  MEMBOUND_CHECK(!program());
  program() = std::move(lab_program);
  return true;
}

}  // namespace detail

const std::vector<detail::LabTestEntry>& lab_tests() { return entries(); }

const LabProgram* lab_program() { return program() ? &*program() : nullptr; }

std::vector<detail::LabTestEntry> tests_in_turn(const Options& options) {
  std::vector<detail::LabTestEntry> tests;
  if (!options.easier_half) tests = tests_before_the_labs();
  std::vector<detail::LabTestEntry> own = lab_tests();
  const auto last = std::stable_partition(own.begin(), own.end(),
                                          [](const auto& test) { return !test.after_timing; });
  const std::ptrdiff_t before_timing = last - own.begin();
  const std::ptrdiff_t count = options.easier_half ? (before_timing + 1) / 2 : before_timing;
  tests.insert(tests.end(), own.begin(), own.begin() + count);
  if (!options.quick) tests.push_back(test_after_the_labs());
  if (!options.easier_half) tests.insert(tests.end(), last, own.end());
  const char* const file = own.empty() ? "" : own.front().file;
  int line = 0;
  for (detail::LabTestEntry& test : tests) {
    test.file = file;
    test.line = line = std::max(test.line, line + 1);
  }
  return tests;
}

std::map<std::string, std::string> register_stage(StageRun& run) {
  std::map<std::string, std::string> hint_tags;
  for (const detail::LabTestEntry& test : tests_in_turn(run.session().options())) {
    register_one(run, test);
    hint_tags[test.name] = test.hint_tag;
  }
  return hint_tags;
}

}  // namespace membound::harness
