// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "grader/authoring/bench/group_parts.hpp"
#include "grader/authoring/bench/groups.hpp"

namespace membound::authoring {
namespace {

using harness::ElementType;
using harness::kernel_arguments;

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

/// `n` pieces of work with the parameter `k`; words of `in` and `out` as the lab's contract says.
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
  add_stages(group, *answers, {"", {n}, arguments, 2.0 * static_cast<double>(size_bytes)});
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

}  // namespace membound::authoring
