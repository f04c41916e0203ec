// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/failure_text.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <utility>

#include "grader/base/strings.hpp"

namespace membound::harness {
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string without_leading_newlines(const std::string& text) {
  return trimmed(text.substr(std::min(text.find_first_not_of('\n'), text.size())));
}

}  // namespace

std::string unwrap_message(const std::string& gtest_message) {
  constexpr std::string_view kBegin = "\n  Actual: false (";
  constexpr std::string_view kEnd = ")\nExpected: true";
  constexpr std::string_view kTrace = "\nGoogle Test trace:\n";
  constexpr std::string_view kFollowed =
      "doesn't generate new fatal failures in the current thread.";
  const auto trace = std::min(gtest_message.find(kTrace), gtest_message.size());
  const std::string own = gtest_message.substr(0, trace);
  // What ASSERT_NO_FATAL_FAILURE adds to the failure that it stops at.
  if (own.find(kFollowed) != std::string::npos) return "";
  std::string text = trimmed(own);
  const std::size_t begin = own.find(kBegin);
  const std::size_t end = own.rfind(kEnd);
  if (own.starts_with("Value of: ") && begin != std::string::npos && end != std::string::npos &&
      end >= begin + kBegin.size()) {
    const std::size_t inner = begin + kBegin.size();
    text = trimmed(own.substr(inner, end - inner));
    const std::string streamed = without_leading_newlines(own.substr(end + kEnd.size()));
    if (!streamed.empty()) text += "\n" + streamed;
  }
  if (trace == gtest_message.size()) return text;
  // "file:line: words" of each SCOPED_TRACE, the innermost first.
  for (const std::string_view line :
       base::lines_of(std::string_view(gtest_message).substr(trace + kTrace.size()))) {
    const auto words = line.find(": ");
    if (words != std::string_view::npos) text += "\n" + std::string(line.substr(words + 2));
  }
  return text;
}

std::string choose_tag(const std::string& lab_tag, course::Cause cause) {
  const bool lab_first = cause == course::Cause::kNone || cause == course::Cause::kGuardZone ||
                         cause == course::Cause::kInputChanged;
  return lab_first && !lab_tag.empty() ? lab_tag : std::string(to_string(cause));
}

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
    if (!where.empty()) base::add_word(text, std::string(key) + " " + where);
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

namespace {

constexpr std::size_t kMostShownLines = 20, kLongestLine = 200;

}  // namespace

KernelOutput::KernelOutput(std::string& text)
    : text_(text), before_(dup(STDOUT_FILENO)), file_(memfd_create("kernel output", MFD_CLOEXEC)) {
  std::fflush(stdout);
  if (before_.open() && file_.open()) dup2(file_.get(), STDOUT_FILENO);
}

KernelOutput::~KernelOutput() {
  if (!before_.open() || !file_.open()) return;
  std::fflush(stdout);
  dup2(before_.get(), STDOUT_FILENO);
  std::array<char, 4096> buffer{};
  lseek(file_.get(), 0, SEEK_SET);
  for (ssize_t size = 0; (size = read(file_.get(), buffer.data(), buffer.size())) > 0;) {
    const auto bytes = static_cast<std::size_t>(size);
    text_.append(buffer.data(), std::min(bytes, kMostKernelOutput - text_.size()));
    std::fwrite(buffer.data(), 1, bytes, stdout);
  }
}

std::string shown_output(const std::string& text) {
  if (text.empty()) return "";
  std::string shown = "\nYour kernels printed:";
  std::size_t lines = 0, left_out = 0;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    if (lines++ < kMostShownLines)
      shown += "\n  " + base::printable(text.substr(start, std::min(end - start, kLongestLine))) +
               (end - start > kLongestLine ? " …" : "");
    else
      ++left_out;
    start = end + 1;
  }
  if (left_out > 0 || text.size() >= kMostKernelOutput)
    shown += "\n  … and " +
             (text.size() >= kMostKernelOutput ? std::string("more than ") : std::string()) +
             std::to_string(left_out) + (left_out == 1 ? " more line" : " more lines") +
             "; print from one thread only";
  return shown;
}

}  // namespace membound::harness
