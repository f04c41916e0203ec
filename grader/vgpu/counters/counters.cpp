// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/counters/counters.hpp"

#include <array>

namespace membound::vgpu::counters {
namespace {

constexpr std::array kRows = {
#define MEMBOUND_COUNTER(name, unit, certainty, meaning, formed, metric, source) \
  CounterInfo{#name, unit, certainty, meaning, formed, metric, &Counters::name},
#include "grader/vgpu/counters/counters.def"
};

}  // namespace

Counters& Counters::operator+=(const Counters& other) {
#define MEMBOUND_COUNTER(name, unit, certainty, meaning, formed, metric, source) name += other.name;
#include "grader/vgpu/counters/counters.def"
  return *this;
}

std::span<const CounterInfo> all_counters() { return kRows; }

const CounterInfo* find_counter(std::string_view name) {
  for (const CounterInfo& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string to_json(const Counters& counters, bool skip_zeros) {
  std::string text = "{";
  for (const CounterInfo& row : kRows) {
    const std::uint64_t value = counters.*row.member;
    if (skip_zeros && value == 0) continue;
    if (text.size() > 1) text += ", ";
    text += '"';
    text += row.name;
    text += "\": ";
    text += std::to_string(value);
  }
  return text + "}";
}

}  // namespace membound::vgpu::counters
