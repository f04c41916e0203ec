// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/second_look.hpp"
#include "grader/judge/test_bed.hpp"
#include "grader/judge/test_program.hpp"

namespace membound::judge {
namespace {

/// The test program starts the submission, a whole program, and the runner that holds its device.
class ProgramBed : public TestBed {
 public:
  void prepare(CompileRequest& compile, const Workplace& place) const override {
    compile.runtime = place.build / "forward";
  }

  [[nodiscard]] BedParts parts(const Workplace& place,
                               const std::filesystem::path& reference) const override {
    return {.reference = reference,
            .runner = place.build / "libexec" / "membound_runner",
            .forward_folder = place.build / "forward",
            .work_clock = place.build / "libexec" / "libmembound_work_clock.so"};
  }

  [[nodiscard]] std::vector<std::filesystem::path> needed(const BedParts& parts) const override {
    return {parts.runner, parts.forward_folder / "libcudart.so.13"};
  }

  [[nodiscard]] std::vector<std::string> arguments(const RunRequest& request) const override {
    std::vector<std::string> all = {"--runner", request.parts.runner.string(), "--forward",
                                    request.parts.forward_folder.string()};
    if (request.split && request.split->use_jail) all.emplace_back("--jailed");
    all.insert(all.end(), request.more_arguments.begin(), request.more_arguments.end());
    if (!request.looks_at_once) return all;
    all.emplace_back("--checked-with");
    for (const auto& [name, value] : environment_at_right_results())
      all.push_back(name + "=" + value);
    return all;
  }

  void choose_tests(RunRequest& look, const std::vector<ChosenTests>& of_stages,
                    TimedLook /*timed*/) const override {
    std::string names;
    for (const ChosenTests& stage : of_stages)
      for (const std::string& test : stage.names) names += (names.empty() ? "" : ",") + test;
    if (!names.empty()) look.more_arguments = {"--tests", names};
  }

  /// Checkers change neither calls nor when they began and ended: one run does for both.
  [[nodiscard]] bool looks_at_once() const override { return true; }

  [[nodiscard]] base::Result<std::unique_ptr<RunnerPair>> start_runners(
      const RunRequest& /*request*/) const override {
    return std::unique_ptr<RunnerPair>();
  }
};

}  // namespace

const TestBed& program_bed() {
  static const ProgramBed bed;
  return bed;
}

}  // namespace membound::judge
