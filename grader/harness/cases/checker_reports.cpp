// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/checker_reports.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace membound::harness {
namespace {

using nlohmann::json;

constexpr std::size_t kMostChecks = 20;

json field(const json& entry, const char* key) {
  return entry.is_object() ? entry.value(key, json()) : json();
}

/// Of one barrier one thing is told, though at one size single lanes do not come, at another whole
/// warps.
bool is_about_a_barrier(const json& kind) {
  return kind == "divergent barrier" || kind == "barrier after exit" ||
         kind == "return before a barrier";
}

bool is_remark(const json& entry) { return field(entry, "remark") == true; }

/// What makes two findings one. Without line information: the instruction. Two lines that race do
/// so from both sides.
auto identity(const json& entry) {
  const auto place = [](const json& of) {
    const json line = field(of, "line");
    return line.is_number() && line != 0 ? line : field(of, "ptx_line");
  };
  json first = place(entry), second = place(field(entry, "other"));
  if (second.is_number() && second < first) std::swap(first, second);
  const json kind = field(entry, "kind");
  return std::tuple(is_about_a_barrier(kind) ? json("barrier") : kind, field(entry, "file"), first,
                    second);
}

}  // namespace

void add_checks(const json& report, const std::string& test, json& all) {
  const json found = field(report, "reports");
  if (!found.is_array()) return;
  if (all.is_null()) all = json::array();
  for (json entry : found) {
    if (!entry.is_object() || field(entry, "checker") == "fault") continue;
    entry["test"] = test;
    const auto known = std::find_if(all.begin(), all.end(), [&](const json& other) {
      return identity(other) == identity(entry);
    });
    if (known == all.end()) {
      if (all.size() < kMostChecks) all.push_back(std::move(entry));
    } else if (is_remark(*known) && !is_remark(entry)) {
      *known = std::move(entry);
    }
  }
}

}  // namespace membound::harness
