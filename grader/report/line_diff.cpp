// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/line_diff.hpp"

#include <algorithm>
#include <vector>

#include "grader/base/text_lines.hpp"

namespace membound::report {

std::string line_diff(std::string_view mine, std::string_view other, const Style& style) {
  const auto a = base::lines_of(mine), b = base::lines_of(other);
  // common[i][j]: the longest common row of lines of a from i on and b from j on. A stage has some
  // hundred lines, so the table is small.
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string text;
  const auto add = [&](const char* sign, std::string_view line, Tone tone) {
    text += style.paint(sign + std::string(line), tone) + "\n";
  };
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      add("  ", a[i], Tone::kPlain);
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      add("- ", a[i++], Tone::kBad);
    } else {
      add("+ ", b[j++], Tone::kGood);
    }
  }
  return text;
}

}  // namespace membound::report
