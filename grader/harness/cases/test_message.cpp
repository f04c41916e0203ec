// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/test_message.hpp"

#include <algorithm>
#include <string_view>

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
  if (!gtest_message.starts_with("Value of: ")) return trimmed(gtest_message);
  const std::size_t begin = gtest_message.find(kBegin);
  const std::size_t end = gtest_message.rfind(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin + kBegin.size())
    return trimmed(gtest_message);
  const std::size_t inner = begin + kBegin.size();
  std::string text = trimmed(gtest_message.substr(inner, end - inner));
  const std::string streamed = without_leading_newlines(gtest_message.substr(end + kEnd.size()));
  return streamed.empty() ? text : text + "\n" + streamed;
}

std::string choose_tag(const std::string& lab_tag, course::Cause cause) {
  const bool lab_first = cause == course::Cause::kNone || cause == course::Cause::kGuardZone ||
                         cause == course::Cause::kInputChanged;
  return lab_first && !lab_tag.empty() ? lab_tag : std::string(to_string(cause));
}

}  // namespace membound::harness
