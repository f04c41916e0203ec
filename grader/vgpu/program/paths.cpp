// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/paths.hpp"

#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/shapes.hpp"

namespace membound::vgpu::program {
namespace {

bool falls_on(const Instruction& in) {
  const Shape shape = shape_of(in);
  const bool leaves = shape == Shape::kBra || shape == Shape::kBrx || shape == Shape::kEnd;
  return !leaves || static_cast<bool>(in.guard);
}

}  // namespace

std::vector<bool> reached_from(const Function& function, std::uint32_t from, const PathEnd& ends) {
  const auto& code = function.code;
  std::vector<bool> reached(code.size(), false);
  std::vector<std::uint32_t> open;
  const auto follow = [&](std::uint32_t at) {
    const auto reach = [&](std::uint32_t next) {
      if (next >= code.size() || reached[next]) return;
      reached[next] = true;
      if (!ends || !ends(code[next])) open.push_back(next);
    };
    for (const std::uint32_t target : targets_of(function, code[at])) reach(target);
    if (falls_on(code[at])) reach(at + 1);
  };
  follow(from);
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    follow(at);
  }
  return reached;
}

}  // namespace membound::vgpu::program
