// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/contest.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

#include "grader/harness/cases/statistics.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"

namespace membound::authoring {
namespace {

using harness::cuda_check;
using harness::DeviceBuffer;

constexpr double kConfidence = 0.95;

/// Whether the contestant computes the group's result.
bool is_compared(const Contestant& contestant) {
  return contestant.role == Role::kStage || contestant.role == Role::kLibrary;
}

/// The device memory of a group, and single runs in it.
class Arena {
 public:
  Arena(const Group& group, const harness::DeviceKernels& kernels)
      : group_(group),
        kernels_(kernels),
        output_(group.timed_case.output.size_bytes()),
        expected_(output_.size_bytes()) {
    for (const harness::TimedBuffer& input : group.timed_case.inputs) {
      inputs_.emplace_back(input.size_bytes());
      arrays_.d_inputs.push_back(inputs_.back().data());
    }
    arrays_.d_output = output_.data();
  }

  void draw_inputs(std::uint64_t seed) const {
    const auto& inputs = group_.timed_case.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      kernels_.fill(inputs[i], inputs_[i].data(), harness::random_bits(seed, i));
  }

  [[nodiscard]] double run(const Contestant& contestant) {
    harness::TimedBuffer output = group_.timed_case.output;
    output.initial = contestant.zeroed_output ? harness::Initial::kZero : harness::Initial::kPoison;
    kernels_.prepare_output(output, output_.data());
    kernels_.flush_l2();
    timer_.start();
    contestant.launch(arrays_);
    timer_.stop();
    cuda_check(timer_.wait(), contestant.name.c_str());
    return timer_.nanoseconds();
  }

  void keep_as_expected() const {
    cuda_check(cudaMemcpy(expected_.data(), output_.data(), output_.size_bytes(),
                          cudaMemcpyDeviceToDevice),
               "keeping an output");
  }

  [[nodiscard]] bool is_as_expected() const {
    return kernels_
               .compare(group_.timed_case.output, output_.data(), expected_.data(),
                        group_.timed_case.tolerance)
               .wrong == 0;
  }

 private:
  const Group& group_;
  const harness::DeviceKernels& kernels_;
  std::vector<DeviceBuffer> inputs_;
  DeviceBuffer output_;
  DeviceBuffer expected_;
  Arrays arrays_;
  harness::EventTimer timer_;
};

void summarise(const Contestant& contestant, Outcome& outcome) {
  outcome.median_ns = harness::median(outcome.times_ns);
  const harness::Interval interval = harness::median_interval(outcome.times_ns, kConfidence);
  outcome.low_ns = interval.low;
  outcome.high_ns = interval.high;
  outcome.rate = contestant.amount / outcome.median_ns;
}

}  // namespace

std::string to_string(Role role) {
  switch (role) {
    case Role::kStage:
      return "stage";
    case Role::kLibrary:
      return "library";
    case Role::kCeiling:
      return "ceiling";
    case Role::kExperiment:
      break;
  }
  return "experiment";
}

std::vector<Outcome> hold(const Group& group, const harness::DeviceKernels& kernels, int rounds,
                          std::uint64_t seed) {
  Arena arena(group, kernels);
  std::vector<Outcome> outcomes(group.contestants.size());
  std::vector<std::size_t> order(group.contestants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    arena.draw_inputs(random());
    bool have_expected = false;
    for (const std::size_t i : order) {
      const Contestant& contestant = group.contestants[i];
      const double time_ns = arena.run(contestant);
      if (round >= 0) outcomes[i].times_ns.push_back(time_ns);
      if (!is_compared(contestant)) continue;
      if (!have_expected)
        arena.keep_as_expected();
      else if (!arena.is_as_expected())
        ++outcomes[i].wrong_runs;
      have_expected = true;
    }
    std::shuffle(order.begin(), order.end(), random);
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) summarise(group.contestants[i], outcomes[i]);
  return outcomes;
}

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
