// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/gpu_generation.hpp"

#include <charconv>

namespace membound::course {
namespace {

/// A generation has its compute capability and those up to the next row's.
struct Generation {
  int major, minor;
  const char* name;
};

// Source: CUDA programming guide, compute capabilities.
constexpr Generation kGenerations[] = {
    {3, 0, "Kepler"}, {5, 0, "Maxwell"}, {6, 0, "Pascal"}, {7, 0, "Volta"},      {7, 5, "Turing"},
    {8, 0, "Ampere"}, {8, 9, "Ada"},     {9, 0, "Hopper"}, {10, 0, "Blackwell"}, {13, 0, nullptr},
};

}  // namespace

std::string gpu_generation(int major, int minor) {
  const char* name = nullptr;
  for (const Generation& row : kGenerations)
    if (major > row.major || (major == row.major && minor >= row.minor)) name = row.name;
  if (name != nullptr) return name;
  return "compute " + std::to_string(major) + "." + std::to_string(minor);
}

std::string gpu_generation(std::string_view compute_capability) {
  int major = 0, minor = 0;
  const char* const end = compute_capability.data() + compute_capability.size();
  const auto [dot, bad] = std::from_chars(compute_capability.data(), end, major);
  if (bad != std::errc() || dot == end || *dot != '.') return "";
  if (std::from_chars(dot + 1, end, minor).ec != std::errc()) return "";
  return gpu_generation(major, minor);
}

}  // namespace membound::course
