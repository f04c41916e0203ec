// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/groups.hpp"

#include <memory>
#include <utility>

#include "grader/authoring/bench/peers.hpp"
#include "grader/harness/device/cuda_check.hpp"

namespace membound::authoring {
namespace {

using harness::kernel_arguments;

// Figures of the four documents: GPU and size they were measured on stand with them.
const std::vector<std::string> kNoFigures;
const std::vector<std::string> kTransposeFloatFigures = {"16.96 GB/s (K80, 2048²)",
                                                         "59.8 GB/s (K80)", "80.54 GB/s (K80)",
                                                         "127 GB/s (K80)", "161.1 GB/s (K80)"};
const std::vector<std::string> kTransposeDoubleFigures = {"33.94 GB/s (K80, 2048²)",
                                                          "109.5 GB/s (K80)", "102.3 GB/s (K80)",
                                                          "165.7 GB/s (K80)", "173.1 GB/s (K80)"};
const std::vector<std::string> kReductionFigures = {"1.520 GB/s (TITAN V)", "35.674 GB/s (TITAN V)",
                                                    "333.536 GB/s (TITAN V)",
                                                    "460.501 GB/s (TITAN V)"};
const std::vector<std::string> kShortcutFigures = {"", "", "1.2 s, n = 6300 (Maxwell, 5 SMs)",
                                                   "1.1 s, 65 % of the peak (same)"};
const std::string kAddFigure = "85 % of the peak (Maxwell, 5 SMs)";

constexpr int kCeilingRounds = 4096;

harness::TimedBuffer buffer(harness::ElementType type, std::int64_t count) {
  harness::TimedBuffer made;
  made.type = type;
  made.count = static_cast<std::size_t>(count);
  return made;
}

/// Loads answers that live as long as the group.
std::shared_ptr<const Answers> keep(Group& group, const Machine& machine, const std::string& lab_id,
                                    harness::Signature signature,
                                    const std::filesystem::path& fatbin = {}) {
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

Group reverse_group(const Machine& machine, std::int64_t n) {
  Group group;
  group.unit = "GB/s";
  group.timed_case.inputs = {buffer(harness::ElementType::kInt32, n)};
  group.timed_case.output = group.timed_case.inputs[0];
  const std::size_t size_bytes = group.timed_case.output.size_bytes();
  const double amount = 2.0 * static_cast<double>(size_bytes);
  const auto arguments = [n](const Arrays& arrays) {
    return kernel_arguments(static_cast<int*>(arrays.d_output),
                            static_cast<const int*>(arrays.d_inputs[0]), static_cast<long long>(n));
  };
  const auto answers =
      keep(group, machine, "01-reverse-array", {.parameters = "(int*, int const*, long long)"});
  add_stages(group, *answers, {"", {n}, arguments, amount}, kNoFigures);
  group.contestants.push_back(
      {"thrust::reverse_copy", Role::kLibrary, "", false, amount, [n](const Arrays& arrays) {
         reverse_with_thrust(static_cast<int*>(arrays.d_output),
                             static_cast<const int*>(arrays.d_inputs[0]), n);
       }});
  add_copies(group, machine.kernels, size_bytes);
  return group;
}

template <typename T>
Group transpose_group(const Machine& machine, int rows, int cols,
                      const std::vector<std::string>& figures) {
  Group group;
  group.unit = "GB/s";
  group.timed_case.inputs = {
      buffer(harness::element_type_of<T>(), static_cast<std::int64_t>(rows) * cols)};
  group.timed_case.output = group.timed_case.inputs[0];
  const std::size_t size_bytes = group.timed_case.output.size_bytes();
  const double amount = 2.0 * static_cast<double>(size_bytes);
  const auto arguments = [rows, cols](const Arrays& arrays) {
    return kernel_arguments(static_cast<T*>(arrays.d_output),
                            static_cast<const T*>(arrays.d_inputs[0]), rows, cols);
  };
  const auto answers =
      keep(group, machine, "03-transpose",
           {.instances = {"<float>", "<double>"}, .parameters = "(T*, T const*, int, int)"});
  const std::string instance = sizeof(T) == 4 ? "<float>" : "<double>";
  add_stages(group, *answers,
             {instance, {rows, cols, static_cast<std::int64_t>(sizeof(T))}, arguments, amount},
             figures);
  const auto geam = std::make_shared<Geam>();
  group.contestants.push_back({sizeof(T) == 4 ? "cublasSgeam" : "cublasDgeam", Role::kLibrary, "",
                               false, amount, [geam, rows, cols](const Arrays& arrays) {
                                 (*geam)(static_cast<T*>(arrays.d_output),
                                         static_cast<const T*>(arrays.d_inputs[0]), rows, cols);
                               }});
  add_copies(group, machine.kernels, size_bytes);
  return group;
}

Group reduction_group(const Machine& machine, std::int64_t n) {
  constexpr int kFirstStageThatSets = 5;  // the stages before add to an output of 0
  Group group;
  group.unit = "GB/s";
  group.timed_case.inputs = {buffer(harness::ElementType::kFloat, n)};
  // Small whole numbers: their sum is exact in any order.
  group.timed_case.inputs[0].integers = harness::IntegerRange{-8, 8};
  group.timed_case.output = buffer(harness::ElementType::kFloat, 1);
  const std::size_t size_bytes = group.timed_case.inputs[0].size_bytes();
  const auto amount = static_cast<double>(size_bytes);
  const auto arguments = [n](const Arrays& arrays) {
    return kernel_arguments(static_cast<float*>(arrays.d_output),
                            static_cast<const float*>(arrays.d_inputs[0]),
                            static_cast<long long>(n));
  };
  const auto answers =
      keep(group, machine, "04-reduction", {.parameters = "(float*, float const*, long long)"});
  add_stages(group, *answers, {"", {n}, arguments, amount}, kReductionFigures);
  for (int number = 1; number < kFirstStageThatSets; ++number)
    group.contestants[static_cast<std::size_t>(number - 1)].zeroed_output = true;
  const auto cub = std::make_shared<CubSum>(n);
  group.contestants.push_back(
      {"cub::DeviceReduce::Sum", Role::kLibrary, "", false, amount, [cub](const Arrays& arrays) {
         (*cub)(static_cast<float*>(arrays.d_output),
                static_cast<const float*>(arrays.d_inputs[0]));
       }});
  group.contestants.push_back({"read, float4", Role::kCeiling, "", false, amount,
                               [&kernels = machine.kernels, size_bytes](const Arrays& arrays) {
                                 kernels.read(arrays.d_inputs[0], size_bytes);
                               }});
  return group;
}

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

std::vector<GroupMaker> all_groups(const Machine& machine) {
  constexpr std::int64_t kMany = std::int64_t{1} << 28;
  return {
      {"reverse 2^28 ints", [&machine] { return reverse_group(machine, kMany); }},
      {"reverse 2^28 - 1 ints", [&machine] { return reverse_group(machine, kMany - 1); }},
      {"transpose float 16384 x 16384",
       [&machine] {
         return transpose_group<float>(machine, 16384, 16384, kTransposeFloatFigures);
       }},
      {"transpose double 16384 x 16384",
       [&machine] {
         return transpose_group<double>(machine, 16384, 16384, kTransposeDoubleFigures);
       }},
      {"transpose float 2048 x 2048",
       [&machine] { return transpose_group<float>(machine, 2048, 2048, kTransposeFloatFigures); }},
      {"transpose double 2048 x 2048",
       [&machine] {
         return transpose_group<double>(machine, 2048, 2048, kTransposeDoubleFigures);
       }},
      {"transpose float 16381 x 16363",
       [&machine] { return transpose_group<float>(machine, 16381, 16363, kNoFigures); }},
      {"transpose double 16381 x 16363",
       [&machine] { return transpose_group<double>(machine, 16381, 16363, kNoFigures); }},
      {"reduce 2^28 floats", [&machine] { return reduction_group(machine, kMany); }},
      {"shortcut, 6272 places", [&machine] { return shortcut_group(machine, 6272); }},
      {"shortcut, 6300 places", [&machine] { return shortcut_group(machine, 6300); }},
  };
}

}  // namespace membound::authoring
