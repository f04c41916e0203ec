// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/group_parts.hpp"

#include <utility>

#include "grader/harness/device/cuda_check.hpp"

namespace membound::authoring {

harness::TimedBuffer buffer(harness::ElementType type, std::int64_t count) {
  harness::TimedBuffer made;
  made.type = type;
  made.count = static_cast<std::size_t>(count);
  return made;
}

std::shared_ptr<const Answers> keep(Group& group, const Machine& machine, const std::string& lab_id,
                                    harness::Signature signature,
                                    const std::filesystem::path& fatbin) {
  auto answers = std::make_shared<const Answers>(machine, lab_id, std::move(signature), fatbin);
  group.owned.push_back(answers);
  return answers;
}

void add_stages(Group& group, const Answers& answers, const Answers::Work& work,
                const std::vector<std::string>& figures) {
  for (int number = 1; number <= answers.stage_count(); ++number) {
    Contestant stage = answers.stage(number, work);
    const auto index = static_cast<std::size_t>(number - 1);
    if (index < figures.size()) stage.seed_figure = figures[index];
    group.contestants.push_back(std::move(stage));
  }
}

void add_copies(Group& group, const harness::DeviceKernels& kernels, std::size_t size_bytes) {
  const double amount = 2.0 * static_cast<double>(size_bytes);
  group.contestants.push_back({"copy, float4", Role::kCeiling, "", false, amount,
                               [&kernels, size_bytes](const Arrays& arrays) {
                                 kernels.copy(arrays.d_output, arrays.d_inputs[0], size_bytes);
                               }});
  group.contestants.push_back(
      {"cudaMemcpy", Role::kCeiling, "", false, amount, [size_bytes](const Arrays& arrays) {
         harness::cuda_check(cudaMemcpyAsync(arrays.d_output, arrays.d_inputs[0], size_bytes,
                                             cudaMemcpyDeviceToDevice, nullptr),
                             "copying");
       }});
}

}  // namespace membound::authoring
