// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/test_registry.hpp"

#include <optional>

#include "grader/base/check.hpp"
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

std::map<std::string, std::string> register_stage(StageRun& run) {
  std::map<std::string, std::string> hint_tags;
  const auto add = [&](const detail::LabTestEntry& entry) {
    register_one(run, entry);
    hint_tags[entry.name] = entry.hint_tag;
  };
  const bool half = run.session().options().easier_half;
  if (!half)
    for (const detail::LabTestEntry& entry : tests_before_the_labs()) add(entry);
  for (std::size_t i = 0, own = lab_tests().size(); i < (half ? (own + 1) / 2 : own); ++i)
    add(lab_tests()[i]);
  if (!run.session().options().quick) add(test_after_the_labs());
  return hint_tags;
}

}  // namespace membound::harness
