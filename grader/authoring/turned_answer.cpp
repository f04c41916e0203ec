// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/turned_answer.hpp"

#include <algorithm>
#include <cctype>

namespace membound::authoring {
namespace {

bool is_of_a_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

}  // namespace

std::string with_names_turned(std::string_view kernel, const std::vector<std::string>& names,
                              std::size_t by) {
  std::string text;
  for (auto at = kernel.begin(); at != kernel.end();) {
    const auto end = std::find_if_not(at, kernel.end(), is_of_a_word);
    const std::string_view word(at, end);
    const auto name = std::find(names.begin(), names.end(), word);
    if (name == names.end()) {
      text += word;
    } else {
      const auto place = static_cast<std::size_t>(name - names.begin());
      text += names[(place + by) % names.size()];
    }
    at = end;
    if (at != kernel.end()) text += *at++;
  }
  return text;
}

}  // namespace membound::authoring
