// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/answers.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "grader/harness/device/cuda_check.hpp"
#include "grader/harness/device/device_buffer.hpp"

namespace membound::authoring {
namespace {

constexpr double kEvaluationSeconds = 60;

template <typename T>
T value_or_throw(base::Result<T> result) {
  if (!result) throw std::runtime_error(base::to_string(result.error()));
  return *std::move(result);
}

std::filesystem::path fatbin_of(const Machine& machine, const std::string& lab_id,
                                const std::filesystem::path& fatbin) {
  return fatbin.empty() ? machine.build / "labs" / lab_id / "reference.fatbin" : fatbin;
}

}  // namespace

Answers::Answers(const Machine& machine, const std::string& lab_id, harness::Signature signature,
                 const std::filesystem::path& fatbin)
    : lab_(value_or_throw(course::read_lab(machine.labs / lab_id / "lab.json"))),
      signature_(std::move(signature)),
      submission_(value_or_throw(harness::Submission::load(fatbin_of(machine, lab_id, fatbin)))),
      launcher_(submission_, machine.device, machine.watchdog, signature_, lab_.size_names) {}

Contestant Answers::stage(int number, const Work& work) const {
  const course::Stage& stage = *lab_.stage(number);
  harness::Preparation prepared =
      launcher_.prepare({stage.kernel, work.instance, work.sizes}, kEvaluationSeconds);
  if (prepared.refusal) throw std::runtime_error(base::to_string(prepared.refusal->error));
  // Contestants are copied; they share the scratch buffer.
  const auto scratch = std::make_shared<harness::DeviceBuffer>(prepared.launch.scratch_bytes);
  const auto launch = std::make_shared<harness::ReadyLaunch>(std::move(prepared.launch));
  Contestant contestant;
  contestant.name = std::to_string(number) + " " + stage.kernel;
  contestant.role = Role::kStage;
  contestant.amount = work.amount;
  contestant.launch = [this, launch, scratch, arguments = work.arguments](const Arrays& arrays) {
    harness::cuda_check(launcher_.launch(*launch, arguments(arrays), scratch->data()),
                        "launching a reference answer");
  };
  return contestant;
}

int Answers::stage_count() const {
  return static_cast<int>(
      std::ranges::count_if(lab_.stages, [](const auto& it) { return it.kind->has_reference; }));
}

}  // namespace membound::authoring
