// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/group_parts.hpp"
#include "grader/authoring/bench/groups.hpp"

namespace membound::authoring {
namespace {

using harness::kernel_arguments;

const std::vector<std::string> kShortcutFigures = {"", "", "1.2 s, n = 6300 (Maxwell, 5 SMs)",
                                                   "1.1 s, 65 % of the peak (same)"};
const std::string kAddFigure = "85 % of the peak (Maxwell, 5 SMs)";

constexpr int kCeilingRounds = 4096;

Group shortcut_group(const Machine& machine, int n) {
  Group group;
  group.unit = "Tops/s";
  const std::int64_t count = static_cast<std::int64_t>(n) * n;
  group.timed_case.inputs = {buffer(harness::ElementType::kFloat, count)};
  group.timed_case.inputs[0].infinity_share = 0.1;
  group.timed_case.output = buffer(harness::ElementType::kFloat, count);
  const double amount = 2.0 * static_cast<double>(count) * n / 1000;  // thousands of operations
  const auto arguments = [n](const Arrays& arrays) {
    return kernel_arguments(static_cast<float*>(arrays.d_output),
                            static_cast<const float*>(arrays.d_inputs[0]), n);
  };
  const harness::Signature signature = {.parameters = "(float*, float const*, int)"};
  const auto answers = keep(group, machine, "06-shortcut", signature);
  const auto with_add = keep(group, machine, "06-shortcut", signature,
                             machine.build / "grader/authoring/bench/minplus_add.fatbin");
  const Answers::Work work = {"", {n}, arguments, amount};
  add_stages(group, *answers, work, kShortcutFigures);
  for (int number = 4; number <= answers->stage_count(); ++number) {
    Contestant experiment = with_add->stage(number, work);
    experiment.name += ", + in place of min";
    experiment.role = Role::kExperiment;
    if (number == 4) experiment.seed_figure = kAddFigure;
    group.contestants.push_back(std::move(experiment));
  }
  group.contestants.push_back({"additions and minima alone", Role::kCeiling, "", false,
                               machine.kernels.add_min(1) * kCeilingRounds / 1000,
                               [&kernels = machine.kernels](const Arrays&) {
                                 static_cast<void>(kernels.add_min(kCeilingRounds));
                               }});
  return group;
}

}  // namespace

std::vector<GroupMaker> arithmetic_groups(const Machine& machine) {
  return {
      {"shortcut, 6272 places", [&machine] { return shortcut_group(machine, 6272); }},
      {"shortcut, 6300 places", [&machine] { return shortcut_group(machine, 6300); }},
  };
}

}  // namespace membound::authoring
