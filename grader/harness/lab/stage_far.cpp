// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The part of StageRun that looks at blocks of a launch whose positions have more than 32 bits.
#include "grader/base/failpoint.hpp"
#include "grader/harness/lab/stage_run.hpp"
#include "grader/harness/measure/far_blocks.hpp"

namespace membound::harness {
namespace {

std::size_t bytes_of_arrays(const TimedCase& one) {
  std::size_t bytes = one.output.size_bytes();
  for (const TimedBuffer& input : one.inputs) bytes += input.size_bytes();
  return bytes;
}

}  // namespace

testing::AssertionResult StageRun::check_far_blocks(std::span<const std::int64_t> size,
                                                    const std::string& contract) {
  // A GPU would have to run all blocks.
  if (!session_.device().can_sample() || base::switched_off("harness.far-blocks"))
    return testing::AssertionSuccess();
  const auto most_bytes = static_cast<std::size_t>(session_.device().info().memory_bytes) / 10 * 9;
  const std::vector<TimedCase> cases =
      session_.program().timed_cases(stage_, {size.begin(), size.end()});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const TimedCase& one = cases[i];
    if (bytes_of_arrays(one) > most_bytes) continue;
    TimingRequest request = timing_request(one, stage_, seed_of_case(i));
    request.sampled = true;
    const Preparation student = session_.student().prepare({stage_.kernel, one.instance, one.sizes},
                                                           request.timeout_seconds);
    const std::string about =
        "\nfor " + one.label + ": the contract allows more than 2^31 elements (" + contract + ")";
    // No device takes this grid; at the sizes that are tested and timed it is right.
    if (student.refusal) continue;
    about_test_ = about;
    const std::string problem = find_wrong_place(session_.bench().parts(), request, student.launch);
    about_test_.clear();
    if (!problem.empty()) return testing::AssertionFailure() << problem << about;
  }
  return testing::AssertionSuccess();
}

}  // namespace membound::harness
