// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/kernel_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace membound::intake {
namespace {

constexpr std::array<bool, 256> kIsLetter = [] {
  std::array<bool, 256> is_letter{};
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_"))
    is_letter[static_cast<unsigned char>(c)] = true;
  return is_letter;
}();

bool is_letter(char c) { return kIsLetter[static_cast<unsigned char>(c)]; }

/// Where the comment, literal or single character that begins at `at` ends.
std::size_t end_of_other(std::string_view source, std::size_t at) {
  const char first = source[at], second = at + 1 < source.size() ? source[at + 1] : '\0';
  if (first == '/' && second == '/') return std::min(source.find('\n', at), source.size());
  if (first == '/' && second == '*') {
    const auto end = source.find("*/", at + 2);
    return end == std::string_view::npos ? source.size() : end + 2;
  }
  if (first != '"' && first != '\'') return at + 1;
  std::size_t end = at + 1;
  while (end < source.size() && source[end] != first && source[end] != '\n')
    end += source[end] == '\\' ? 2 : 1;
  return std::min(end + 1, source.size());
}

/// Calls `take` with each identifier outside of comments and string or character literals.
template <typename Take>
void for_each_identifier(std::string_view source, Take take) {
  for (std::size_t i = 0; i < source.size();) {
    if (!is_letter(source[i])) {
      i = end_of_other(source, i);
      continue;
    }
    const std::size_t begin = i;
    while (i < source.size() && is_letter(source[i])) ++i;
    take(source.substr(begin, i - begin));
  }
}

}  // namespace

KernelNames::KernelNames(const std::vector<course::Lab>& labs) : labs_(labs) {
  for (std::size_t lab = 0; lab < labs.size(); ++lab)
    for (const course::Stage& stage : labs[lab].stages)
      if (!stage.kernel.empty()) labs_of_[stage.kernel].push_back(lab);
}

std::vector<std::string> KernelNames::labs_in(std::string_view source) const {
  std::vector<const std::vector<std::size_t>*> found;
  for_each_identifier(source, [&](std::string_view word) {
    if (const auto kernel = labs_of_.find(word); kernel != labs_of_.end())
      found.push_back(&kernel->second);
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<int> kernels(labs_.size());
  for (const auto* labs : found)
    for (const std::size_t lab : *labs) ++kernels[lab];
  std::vector<std::size_t> order;
  for (std::size_t lab = 0; lab < labs_.size(); ++lab)
    if (kernels[lab] > 0) order.push_back(lab);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return kernels[a] > kernels[b]; });
  std::vector<std::string> ids;
  for (const std::size_t lab : order) ids.push_back(labs_[lab].id);
  return ids;
}

}  // namespace membound::intake
