// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "grader/authoring/bench/group_parts.hpp"
#include "grader/authoring/bench/groups.hpp"
#include "grader/authoring/bench/peers.hpp"

namespace membound::authoring {
namespace {

using harness::kernel_arguments;

// Figures of the documents: GPU and size they were measured on stand with them.
const std::vector<std::string> kTransposeFloatFigures = {"16.96 GB/s (K80, 2048²)",
                                                         "59.8 GB/s (K80)", "80.54 GB/s (K80)",
                                                         "127 GB/s (K80)", "161.1 GB/s (K80)"};
const std::vector<std::string> kTransposeDoubleFigures = {"33.94 GB/s (K80, 2048²)",
                                                          "109.5 GB/s (K80)", "102.3 GB/s (K80)",
                                                          "165.7 GB/s (K80)", "173.1 GB/s (K80)"};
const std::vector<std::string> kReductionFigures = {"1.520 GB/s (TITAN V)", "35.674 GB/s (TITAN V)",
                                                    "333.536 GB/s (TITAN V)",
                                                    "460.501 GB/s (TITAN V)"};

Group add_group(const Machine& machine, int n) {
  Group group;
  group.unit = "GB/s";
  group.timed_case.inputs = {buffer(harness::ElementType::kFloat, n),
                             buffer(harness::ElementType::kFloat, n)};
  group.timed_case.output = group.timed_case.inputs[0];
  const std::size_t size_bytes = group.timed_case.output.size_bytes();
  const double amount = 3.0 * static_cast<double>(size_bytes);
  const auto arguments = [n](const Arrays& arrays) {
    return kernel_arguments(static_cast<float*>(arrays.d_output),
                            static_cast<const float*>(arrays.d_inputs[0]),
                            static_cast<const float*>(arrays.d_inputs[1]), n);
  };
  const harness::Signature signature = {.parameters = "(float*, float const*, float const*, int)"};
  const auto answers = keep(group, machine, "00-hello-gpu", signature);
  const Answers::Work work = {"", {n}, arguments, amount};
  add_stages(group, *answers, work);
  group.contestants.push_back(
      {"thrust::transform", Role::kLibrary, "", false, amount, [n](const Arrays& arrays) {
         add_with_thrust(static_cast<float*>(arrays.d_output),
                         static_cast<const float*>(arrays.d_inputs[0]),
                         static_cast<const float*>(arrays.d_inputs[1]), n);
       }});
  // These add to their output in place: as much traffic, another result.
  constexpr int kStageOfSaxpy = 3;
  const auto in_place = keep(group, machine, "00-hello-gpu", signature,
                             machine.build / "grader/authoring/bench/saxpy.fatbin");
  Contestant saxpy = in_place->stage(kStageOfSaxpy, work);
  saxpy.name += ", as SAXPY";
  saxpy.role = Role::kExperiment;
  group.contestants.push_back(std::move(saxpy));
  const auto cublas = std::make_shared<Cublas>();
  group.contestants.push_back(
      {"cublasSaxpy", Role::kExperiment, "", false, amount, [cublas, n](const Arrays& arrays) {
         cublas->axpy(static_cast<float*>(arrays.d_output),
                      static_cast<const float*>(arrays.d_inputs[0]), n);
       }});
  add_copies(group, machine.kernels, size_bytes);
  return group;
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
  add_stages(group, *answers, {"", {n}, arguments, amount});
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
  const auto cublas = std::make_shared<Cublas>();
  group.contestants.push_back({sizeof(T) == 4 ? "cublasSgeam" : "cublasDgeam", Role::kLibrary, "",
                               false, amount, [cublas, rows, cols](const Arrays& arrays) {
                                 cublas->transpose(static_cast<T*>(arrays.d_output),
                                                   static_cast<const T*>(arrays.d_inputs[0]), rows,
                                                   cols);
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

}  // namespace

std::vector<GroupMaker> library_groups(const Machine& machine) {
  constexpr std::int64_t kMany = std::int64_t{1} << 28;
  const auto transpose = [&machine]<typename T>(T /*type*/, int rows, int cols,
                                                const std::vector<std::string>& figures) {
    return [&machine, rows, cols, figures] {
      return transpose_group<T>(machine, rows, cols, figures);
    };
  };
  const float f = 0;
  const double d = 0;
  return {
      {"add 2^28 floats", [&machine] { return add_group(machine, kMany); }},
      {"reverse 2^28 ints", [&machine] { return reverse_group(machine, kMany); }},
      {"reverse 2^28 - 1 ints", [&machine] { return reverse_group(machine, kMany - 1); }},
      {"transpose float 16384 x 16384", transpose(f, 16384, 16384, kTransposeFloatFigures)},
      {"transpose double 16384 x 16384", transpose(d, 16384, 16384, kTransposeDoubleFigures)},
      {"transpose float 2048 x 2048", transpose(f, 2048, 2048, kTransposeFloatFigures)},
      {"transpose double 2048 x 2048", transpose(d, 2048, 2048, kTransposeDoubleFigures)},
      {"transpose float 16381 x 16363", transpose(f, 16381, 16363, {})},
      {"transpose double 16381 x 16363", transpose(d, 16381, 16363, {})},
      {"reduce 2^28 floats", [&machine] { return reduction_group(machine, kMany); }},
  };
}

}  // namespace membound::authoring
