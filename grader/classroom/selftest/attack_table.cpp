// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/selftest/attack_table.hpp"

namespace membound::selftest {

namespace {

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

std::string markdown_table(const std::vector<Case>& cases) {
  std::string text = "| case | tries | must come out as | met by |\n| --- | --- | --- | --- |\n";
  for (const Case& one : cases) {
    std::string expected = list_of(one.expected);
    for (const auto& [compiler, words] : one.expected_with)
      expected += "; with " + compiler + " " + list_of(words);
    const std::string defence = one.defence.empty() ? "" : one.defence;
    text += "| " + one.id + " | " + one.title + " | " + expected + " | " + defence +
            (one.switch_off.empty() ? "" : " (switch: `" + one.switch_off + "`)") + " |\n";
  }
  return text;
}

}  // namespace membound::selftest
