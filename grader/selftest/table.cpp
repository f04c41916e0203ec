// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/selftest/table.hpp"

namespace membound::selftest {

std::string markdown_table(const std::vector<Case>& cases) {
  std::string text = "| case | tries | must come out as | met by |\n| --- | --- | --- | --- |\n";
  for (const Case& one : cases) {
    std::string expected;
    for (const std::string& word : one.expected) expected += (expected.empty() ? "" : ", ") + word;
    const std::string defence = one.defence.empty() ? "" : one.defence;
    text += "| " + one.id + " | " + one.title + " | " + expected + " | " + defence +
            (one.switch_off.empty() ? "" : " (switch: `" + one.switch_off + "`)") + " |\n";
  }
  return text;
}

}  // namespace membound::selftest
