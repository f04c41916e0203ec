// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/contest.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grader/authoring/bench/peers.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"

namespace membound::authoring {
namespace {

/// An array of `count` elements.
harness::TimedBuffer buffer(harness::ElementType type, std::int64_t count) {
  harness::TimedBuffer made;
  made.type = type;
  made.count = static_cast<std::size_t>(count);
  return made;
}

std::shared_ptr<const Answers> keep(Group& group, const Machine& machine, const std::string& lab_id,
                                    harness::Signature signature,
                                    const std::filesystem::path& fatbin = {}) {
  auto answers = std::make_shared<const Answers>(machine, lab_id, std::move(signature), fatbin);
  group.owned.push_back(answers);
  return answers;
}

void add_stages(Group& group, const Answers& answers, const Answers::Work& work,
                const std::vector<std::string>& figures = {}) {
  for (int number = 1; number <= answers.stage_count(); ++number) {
    Contestant stage = answers.stage(number, work);
    const auto index = static_cast<std::size_t>(number - 1);
    if (index < figures.size()) stage.seed_figure = figures[index];
    group.contestants.push_back(std::move(stage));
  }
}

/// The device's copies of the first `size_bytes` bytes of the first input.
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

/// Half of the numbers are kept; they are all 1, so that any order of them is the same.
Group compaction_group(const Machine& machine, int n) {
  constexpr int kStage = 3, kHead = 32;
  static constexpr int kLimit = 2;
  Group group;
  group.unit = "GB/s";
  group.timed_case.inputs = {buffer(harness::ElementType::kInt32, n)};
  group.timed_case.inputs[0].integers = harness::IntegerRange{1, 2};
  group.timed_case.output = buffer(harness::ElementType::kInt32, std::int64_t{n} + kHead);
  const auto arguments = [n](const Arrays& arrays) {
    return kernel_arguments(static_cast<int*>(arrays.d_output),
                            static_cast<const int*>(arrays.d_inputs[0]), static_cast<long long>(n),
                            kLimit);
  };
  const double amount = 1.5 * static_cast<double>(group.timed_case.inputs[0].size_bytes());
  const auto answers = keep(group, machine, "10-warp-primitives",
                            {.parameters = "(int*, int const*, long long, int)"});
  group.contestants.push_back(answers->stage(kStage, {"", {n, kLimit}, arguments, amount}));
  const auto cub = std::make_shared<CubSelect>(n);
  group.contestants.push_back(
      {"cub::DeviceSelect::If", Role::kLibrary, "", false, amount, [cub](const Arrays& arrays) {
         int* const d_out = static_cast<int*>(arrays.d_output);
         (*cub)(d_out + kHead, d_out, static_cast<const int*>(arrays.d_inputs[0]), kLimit);
       }});
  for (Contestant& contestant : group.contestants) contestant.zeroed_output = true;
  add_copies(group, machine.kernels, group.timed_case.inputs[0].size_bytes());
  return group;
}

/// Numbers whose sum fits an int, as the lab promises.
Group center_group(const Machine& machine, long long n) {
  constexpr int kStage = 5;
  static constexpr int kFactor = 3;
  Group group;
  group.unit = "GB/s";
  group.timed_case.inputs = {buffer(harness::ElementType::kInt32, n)};
  group.timed_case.inputs[0].integers = harness::IntegerRange{-4, 4};
  group.timed_case.output = group.timed_case.inputs[0];
  const double amount = 2.0 * static_cast<double>(group.timed_case.output.size_bytes());
  const auto arguments = [n](const Arrays& arrays) {
    return kernel_arguments(static_cast<int*>(arrays.d_output),
                            static_cast<const int*>(arrays.d_inputs[0]), n, kFactor);
  };
  const auto answers = keep(group, machine, "10-warp-primitives",
                            {.parameters = "(int*, int const*, long long, int)"});
  group.contestants.push_back(answers->stage(kStage, {"", {n, kFactor}, arguments, amount}));
  const auto groups = std::make_shared<GroupsCenter>();
  group.contestants.push_back({"cooperative_groups::this_grid().sync()", Role::kLibrary, "", false,
                               amount, [groups, n](const Arrays& arrays) {
                                 (*groups)(static_cast<int*>(arrays.d_output),
                                           static_cast<const int*>(arrays.d_inputs[0]), n, kFactor);
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
      {"compact 2^28 ints", [&machine] { return compaction_group(machine, 1 << 28); }},
      {"center 2^28 ints", [&machine] { return center_group(machine, kMany); }},
  };
}

namespace {

using harness::ElementType;

// Lab 09; whole numbers: nothing is rounded.
constexpr float kGain = 3;
constexpr float kOffset = 5;

/// One stage of a lab whose stages compute different things: its peer is the copy.
struct Solo {
  std::string lab_id;
  std::string parameters;  ///< of the kernel, as in the lab's test
  int stage = 0;
  ElementType type = ElementType::kInt32;
  std::int64_t count_in = 0, count_out = 0;
  std::vector<std::int64_t> sizes;
  std::function<harness::KernelArguments(const Arrays&)> arguments;
};

Group solo_group(const Machine& machine, const Solo& solo) {
  Group group;
  group.unit = "GB/s";
  group.timed_case.inputs = {buffer(solo.type, solo.count_in)};
  if (solo.type == ElementType::kInt32)
    group.timed_case.inputs[0].integers = harness::IntegerRange{-999, 999};
  group.timed_case.output = buffer(solo.type, solo.count_out);
  const std::size_t bytes_in = group.timed_case.inputs[0].size_bytes();
  const std::size_t bytes_out = group.timed_case.output.size_bytes();
  const auto answers = keep(group, machine, solo.lab_id, {.parameters = solo.parameters});
  group.contestants.push_back(answers->stage(
      solo.stage, {"", solo.sizes, solo.arguments, static_cast<double>(bytes_in + bytes_out)}));
  add_copies(group, machine.kernels, std::min(bytes_in, bytes_out));
  return group;
}

Group picture_group(const Machine& machine, int stage, int rows, int cols, int pitch) {
  const std::int64_t count = static_cast<std::int64_t>(rows) * pitch;
  return solo_group(machine, {"02-coalescing",
                              "(float*, float const*, int, int, int)",
                              stage,
                              ElementType::kFloat,
                              count,
                              count,
                              {rows, cols, pitch},
                              [rows, cols, pitch](const Arrays& arrays) {
                                return kernel_arguments(
                                    static_cast<float*>(arrays.d_output),
                                    static_cast<const float*>(arrays.d_inputs[0]), rows, cols,
                                    pitch);
                              }});
}

/// `n` items of work with the parameter `k`; words of `in` and `out` as the lab's contract says.
Group banks_group(const Machine& machine, int stage, int n, int k, std::int64_t count_in,
                  std::int64_t count_out) {
  return solo_group(machine, {"05-bank-conflicts",
                              "(int*, int const*, int, int)",
                              stage,
                              ElementType::kInt32,
                              count_in,
                              count_out,
                              {n, k},
                              [n, k](const Arrays& arrays) {
                                return kernel_arguments(static_cast<int*>(arrays.d_output),
                                                        static_cast<const int*>(arrays.d_inputs[0]),
                                                        n, k);
                              }});
}

/// `n` series of `m` samples, `rows_out` rows of results.
Group local_group(const Machine& machine, int stage, long long n, int m, int rows_out) {
  return solo_group(machine, {"08-local-memory",
                              "(int*, int const*, long long, int)",
                              stage,
                              ElementType::kInt32,
                              n * m,
                              n * rows_out,
                              {n, m},
                              [n, m](const Arrays& arrays) {
                                return kernel_arguments(static_cast<int*>(arrays.d_output),
                                                        static_cast<const int*>(arrays.d_inputs[0]),
                                                        n, m);
                              }});
}

Group latency_group(const Machine& machine, long long n) {
  Group group;
  group.unit = "GB/s";
  group.timed_case.inputs = {buffer(ElementType::kFloat, n)};
  group.timed_case.inputs[0].integers = harness::IntegerRange{-999, 999};
  group.timed_case.output = buffer(ElementType::kFloat, n);
  const std::size_t size_bytes = group.timed_case.output.size_bytes();
  const auto arguments = [n](const Arrays& arrays) {
    return kernel_arguments(static_cast<float*>(arrays.d_output),
                            static_cast<const float*>(arrays.d_inputs[0]), n, kGain, kOffset);
  };
  const auto answers = keep(group, machine, "09-latency-hiding",
                            {.parameters = "(float*, float const*, long long, float, float)"});
  const double amount = 2.0 * static_cast<double>(size_bytes);
  add_stages(group, *answers, {"", {n}, arguments, amount});
  group.contestants.push_back(
      {"thrust::transform", Role::kLibrary, "", false, amount, [n](const Arrays& arrays) {
         calibrate_with_thrust(static_cast<float*>(arrays.d_output),
                               static_cast<const float*>(arrays.d_inputs[0]), n, kGain, kOffset);
       }});
  add_copies(group, machine.kernels, size_bytes);
  return group;
}

}  // namespace

std::vector<GroupMaker> copy_groups(const Machine& machine) {
  constexpr int kMi = 1 << 20;
  constexpr std::int64_t kTableWords = 64;
  const auto picture = [&machine](int stage, int rows, int cols, int pitch) {
    return [&machine, stage, rows, cols, pitch] {
      return picture_group(machine, stage, rows, cols, pitch);
    };
  };
  const auto banks = [&machine](int stage, int n, int k, std::int64_t in, std::int64_t out) {
    return [&machine, stage, n, k, in, out] { return banks_group(machine, stage, n, k, in, out); };
  };
  const auto local = [&machine](int stage, int rows_out) {
    return
        [&machine, stage, rows_out] { return local_group(machine, stage, 4 * kMi, 64, rows_out); };
  };
  constexpr std::int64_t kPixels = 64LL * kMi;
  return {
      {"coalescing 1, 16384 x 16384", picture(1, 16384, 16384, 16384)},
      {"coalescing 2, 16384 x 16381, no gap", picture(2, 16384, 16381, 16381)},
      {"coalescing 2, 16384 x 16381, pitch 16384", picture(2, 16384, 16381, 16384)},
      {"coalescing 3, 8192 x 10240", picture(3, 8192, 10240, 3 * 10240)},
      {"coalescing 4, 8192 x 8192", picture(4, 8192, 8192, 4 * 8192)},
      {"banks 1, signals of 32", banks(1, 4 * kMi, 32, 128LL * kMi, 128LL * kMi)},
      {"banks 1, signals of 24", banks(1, 4 * kMi, 24, 96LL * kMi, 96LL * kMi)},
      {"banks 2, 8 replacements", banks(2, 64 * kMi, 8, kPixels + kTableWords, kPixels)},
      {"banks 3, structs of 2", banks(3, 32 * kMi, 2, 64LL * kMi, 32LL * kMi)},
      {"banks 3, structs of 3", banks(3, 32 * kMi, 3, 96LL * kMi, 32LL * kMi)},
      {"banks 4, 32 echoes", banks(4, 64 * kMi, 32, kPixels, kPixels)},
      {"banks 5, tiles of 32", banks(5, 131072, 32, 128LL * kMi, 8LL * kMi)},
      {"local 1, 2^22 series of 64", local(1, 64)},
      {"local 2, 2^22 series of 64", local(2, 64)},
      {"local 3, 2^22 series of 64", local(3, 8)},
      {"latency 2^28 floats", [&machine] { return latency_group(machine, 1LL << 28); }},
  };
}

namespace {

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
    experiment.name += ", + instead of min";
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

/// Stages [first, last] of lab 14 on one product beside cuBLAS. Sums of such whole numbers are
/// exact in any order.
Group product_group(const Machine& machine, int first, int last, int m, int n, int k) {
  constexpr std::int64_t kExact = 1 << 24;
  const bool vectors = m == 1 || n == 1;
  const auto count = [](int rows, int cols) { return static_cast<std::int64_t>(rows) * cols; };
  Group group;
  group.unit = vectors ? "GB/s" : "Tops/s";
  group.timed_case.inputs = {buffer(ElementType::kFloat, count(m, k)),
                             buffer(ElementType::kFloat, count(k, n))};
  const std::int64_t most = (kExact - 1) / k;
  group.timed_case.inputs[0].integers = harness::IntegerRange{-most, most};
  group.timed_case.inputs[1].integers = harness::IntegerRange{-1, 1};
  group.timed_case.output = buffer(ElementType::kFloat, count(m, n));
  const auto elements = static_cast<double>(count(m, k) + count(k, n) + count(m, n));
  const double thousands = 2.0 * static_cast<double>(count(m, n)) * k / 1000;
  const double amount = vectors ? elements * sizeof(float) : thousands;
  const auto arguments = [m, n, k](const Arrays& arrays) {
    return kernel_arguments(static_cast<float*>(arrays.d_output),
                            static_cast<const float*>(arrays.d_inputs[0]),
                            static_cast<const float*>(arrays.d_inputs[1]), m, n, k, k, n, n);
  };
  const auto answers =
      keep(group, machine, "14-arithmetic-intensity",
           {.parameters = "(float*, float const*, float const*, int, int, int, int, int, int)"});
  for (int stage = first; stage <= last; ++stage)
    group.contestants.push_back(answers->stage(stage, {"", {m, n, k, k, n, n}, arguments, amount}));
  const auto cublas = std::make_shared<Cublas>();
  group.contestants.push_back({vectors ? "cublasSgemv" : "cublasSgemm, pedantic", Role::kLibrary,
                               "", false, amount, [=](const Arrays& arrays) {
                                 const auto in = [&](int i) {
                                   return static_cast<const float*>(
                                       arrays.d_inputs[static_cast<std::size_t>(i)]);
                                 };
                                 auto* const d_c = static_cast<float*>(arrays.d_output);
                                 if (vectors)
                                   cublas->gemv(d_c, in(0), in(1), m, n, k);
                                 else
                                   cublas->gemm(d_c, in(0), in(1), m, n, k);
                               }});
  return group;
}

}  // namespace

std::vector<GroupMaker> arithmetic_groups(const Machine& machine) {
  return {
      {"shortcut, 6272 places", [&machine] { return shortcut_group(machine, 6272); }},
      {"shortcut, 6300 places", [&machine] { return shortcut_group(machine, 6300); }},
      {"product 1, 16384 x 16384 by a column",
       [&machine] { return product_group(machine, 1, 1, 16384, 1, 16384); }},
      {"product 2, a row by 16384 x 16384",
       [&machine] { return product_group(machine, 2, 2, 1, 16384, 16384); }},
      {"product 3 to 6, 4096 x 4096 x 4096",
       [&machine] { return product_group(machine, 3, 6, 4096, 4096, 4096); }},
      {"product 6, 8192 x 8192 x 4096",
       [&machine] { return product_group(machine, 6, 6, 8192, 8192, 4096); }},
      {"product 6, 8189 x 8191 x 4093",
       [&machine] { return product_group(machine, 6, 6, 8189, 8191, 4093); }},
  };
}

namespace {

constexpr const char* kOfKeys = "(unsigned int*, unsigned int const*, int, int)";

/// One stage of lab 11 beside a call of CUB: n ints or keys in `range`, and the stage's second
/// size.
struct CollaboratingWork {
  int stage = 0;
  CubCall::Kind peer = CubCall::Kind::kScan;
  int k = 0;
  harness::IntegerRange range;
  harness::TimedBuffer output;
  double bytes_each = 0;  ///< that any solution moves for an element
};

Group collaborating_group(const Machine& machine, int n, const CollaboratingWork& what) {
  Group group;
  group.unit = "GB/s";
  group.timed_case.inputs = {buffer(ElementType::kInt32, n)};
  group.timed_case.inputs[0].integers = what.range;
  group.timed_case.output = what.output;
  const double amount = what.bytes_each * n;
  const bool is_scan = what.peer == CubCall::Kind::kScan;
  const auto arguments = [n, k = what.k, is_scan](const Arrays& arrays) {
    if (is_scan)
      return kernel_arguments(static_cast<long long*>(arrays.d_output),
                              static_cast<const int*>(arrays.d_inputs[0]), n, k);
    return kernel_arguments(static_cast<unsigned*>(arrays.d_output),
                            static_cast<const unsigned*>(arrays.d_inputs[0]), n, k);
  };
  const auto answers = keep(group, machine, "11-scan-and-sort",
                            {.parameters = "(long long*, int const*, int, int)",
                             .of_kernel = {{"histogram", kOfKeys}, {"radix_pass", kOfKeys}}});
  group.contestants = {answers->stage(what.stage, {"", {n, what.k}, arguments, amount})};
  group.contestants[0].zeroed_output = what.peer == CubCall::Kind::kHistogram;
  const auto cub = std::make_shared<CubCall>(what.peer, n);
  const char* const names[] = {"cub::DeviceScan", "cub::DeviceHistogram", "cub::DeviceRadixSort"};
  group.contestants.push_back(
      {names[static_cast<int>(what.peer)], Role::kLibrary, "", false, amount,
       [cub](const Arrays& arrays) { (*cub)(arrays.d_output, arrays.d_inputs[0]); }});
  return group;
}

}  // namespace

std::vector<GroupMaker> collaborating_groups(const Machine& machine) {
  constexpr int kElements = 1 << 28;
  constexpr harness::IntegerRange kAllBits = {-(1LL << 31), (1LL << 31) - 1};
  const auto maker = [&machine](const CollaboratingWork& what) {
    return [&machine, what] { return collaborating_group(machine, kElements, what); };
  };
  const harness::TimedBuffer sums = buffer(ElementType::kInt64, kElements);
  const harness::TimedBuffer keys = buffer(ElementType::kInt32, kElements);
  const harness::TimedBuffer counts = buffer(ElementType::kInt32, 256);
  using enum CubCall::Kind;
  return {
      {"scan 2^28 ints", maker({3, kScan, 1, kAllBits, sums, 12})},
      {"histogram of 2^28 keys, 256 values", maker({4, kHistogram, 0, {0, 255}, counts, 4})},
      {"histogram of 2^28 keys, 2 values", maker({4, kHistogram, 0, {0, 1}, counts, 4})},
      {"radix pass of 2^28 keys", maker({5, kRadixPass, 8, kAllBits, keys, 8})},
  };
}

std::vector<GroupMaker> all_groups(const Machine& machine) {
  std::vector<GroupMaker> all = library_groups(machine);
  for (auto more : {copy_groups, arithmetic_groups, collaborating_groups})
    for (GroupMaker& maker : more(machine)) all.push_back(std::move(maker));
  return all;
}

}  // namespace membound::authoring
