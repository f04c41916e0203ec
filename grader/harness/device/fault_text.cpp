// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/fault_text.hpp"

#include <filesystem>
#include <initializer_list>

namespace membound::harness {
namespace {

/// "(1, 2, 3)" of a list of numbers; empty for anything else.
std::string triple(const nlohmann::json& entry, const char* key) {
  if (!entry.contains(key) || !entry[key].is_array() || entry[key].empty()) return {};
  std::string text;
  for (const nlohmann::json& number : entry[key])
    text += (text.empty() ? "(" : ", ") + number.dump();
  return text + ")";
}

std::string source_line(const nlohmann::json& entry) {
  if (!entry.contains("file") || !entry["file"].is_string() || !entry.contains("line")) return {};
  const std::string file = std::filesystem::path(entry["file"].get<std::string>()).filename();
  if (file.empty() || !entry["line"].is_number_integer() || entry["line"] == 0) return {};
  return file + ":" + entry["line"].dump();
}

std::string place(const nlohmann::json& entry) {
  std::string text = source_line(entry);
  for (const char* key : {"block", "thread"}) {
    const std::string where = triple(entry, key);
    if (!where.empty()) text += (text.empty() ? "" : ", ") + std::string(key) + " " + where;
  }
  return text;
}

}  // namespace

std::string fault_text(const nlohmann::json& report) {
  if (!report.is_object() || !report.contains("reports") || !report["reports"].is_array())
    return {};
  for (const nlohmann::json& entry : report["reports"]) {
    if (!entry.is_object() || entry.value("checker", nlohmann::json()) != "fault") continue;
    const nlohmann::json text = entry.value("text", nlohmann::json());
    const std::string where = place(entry);
    const std::string what = text.is_string() ? text.get<std::string>() : std::string();
    return where.empty() || what.empty() ? where + what : where + ": " + what;
  }
  return {};
}

}  // namespace membound::harness
