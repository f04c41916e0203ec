// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/test_bed.hpp"
#include "grader/judge/test_program.hpp"

namespace membound::judge {
namespace {

/// The test program loads the submission's device code and launches it beside the reference.
class KernelBed : public TestBed {
 public:
  void prepare(CompileRequest& /*compile*/, const Workplace& /*place*/) const override {}

  [[nodiscard]] BedParts parts(const Workplace& place,
                               const std::filesystem::path& reference) const override {
    return {.reference = reference, .harness_kernels = harness_kernels(place)};
  }

  [[nodiscard]] std::vector<std::filesystem::path> needed(const BedParts& parts) const override {
    return {parts.reference, parts.harness_kernels};
  }

  [[nodiscard]] std::vector<std::string> arguments(const RunRequest& request) const override {
    std::vector<std::string> all = {"--reference", request.parts.reference.string(),
                                    "--harness-kernels", request.parts.harness_kernels.string()};
    if (request.split) {
      const int device = RunnerPair::student_device(*request.split);
      all.insert(all.end(), {"--student-device", std::to_string(device)});
      if (const auto seed = request.split->sample_seed)
        all.insert(all.end(), {"--sample-seed", std::to_string(*seed)});
      if (!request.split->reference_times.empty())
        all.insert(all.end(), {"--reference-times", request.split->reference_times.string()});
    }
    all.insert(all.end(), request.more_arguments.begin(), request.more_arguments.end());
    return all;
  }

  void choose_tests(RunRequest& look, const std::vector<ChosenTests>& of_stages,
                    TimedLook timed) const override {
    // Without the timed launch its size is dropped, and the times of the reference, which are of
    // it.
    const bool none = timed == TimedLook::kNone;
    if (none) look.more_arguments.clear();
    if (none && look.split) look.split->reference_times.clear();
    look.more_arguments.emplace_back(none ? "--quick" : "--look");
    if (timed == TimedLook::kSomeBlocks) look.more_arguments.emplace_back("--some-blocks");
    std::string filter;
    for (const ChosenTests& stage : of_stages)
      for (const std::string& test : stage.names)
        filter += (filter.empty() ? "--gtest_filter=" : ":") + stage.kernel + "." + test;
    if (!filter.empty()) look.more_arguments.push_back(std::move(filter));
  }

  [[nodiscard]] bool looks_at_once() const override { return false; }

  [[nodiscard]] base::Result<std::unique_ptr<RunnerPair>> start_runners(
      const RunRequest& request) const override {
    return RunnerPair::start(*request.split, request.stop);
  }
};

}  // namespace

const TestBed& kernel_bed() {
  static const KernelBed bed;
  return bed;
}

}  // namespace membound::judge
