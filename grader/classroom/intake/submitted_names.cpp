// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/submitted_names.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include <utf8proc.h>

#include "grader/base/failpoint.hpp"

namespace membound::intake {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::array<std::string_view, 11> kArchiveEndings = {
    ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst", ".zip", ".tar",
    ".tgz",    ".tbz2",    ".txz",    ".tzst",    ".tbz"};

using Byte = utf8proc_uint8_t;

/// The next code point and its length; -1 and 1 for a byte that is no UTF-8.
std::pair<utf8proc_int32_t, std::size_t> next_code_point(std::string_view text) {
  utf8proc_int32_t point = -1;
  const auto size = utf8proc_iterate(reinterpret_cast<const Byte*>(text.data()),
                                     static_cast<utf8proc_ssize_t>(text.size()), &point);
  if (size <= 0 || point < 0) return {-1, 1};
  return {point, static_cast<std::size_t>(size)};
}

std::string repaired(std::string_view text) {
  std::string good;
  while (!text.empty()) {
    const auto [point, size] = next_code_point(text);
    good += point < 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(size);
  }
  return good;
}

/// `valid` must be UTF-8.
std::string mapped(const std::string& valid, int options) {
  Byte* result = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const Byte*>(valid.data()),
                                 static_cast<utf8proc_ssize_t>(valid.size()), &result,
                                 static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<Byte, decltype(&std::free)> owner(result, &std::free);
  if (size < 0) return valid;
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(size)};
}

/// Characters that move the cursor, turn text around or cannot be seen.
bool is_unseen(utf8proc_int32_t point) {
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      return false;
  }
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view archive_ending(std::string_view name) {
  for (const std::string_view ending : kArchiveEndings)
    if (name.size() > ending.size() && has_ending(name, ending)) return ending;
  return {};
}

}  // namespace

std::string normal(std::string_view name) {
  return mapped(repaired(name), UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

std::string folded(std::string_view name) {
  std::string text = mapped(repaired(name), UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                                UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string squeezed(std::string_view name) {
  std::string all;
  for (const char c : folded(name)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) all += c;
  }
  return all;
}

std::string shown(std::string_view name, std::size_t most) {
  if (base::switched_off("intake.printable")) return std::string(name);
  const std::string whole = normal(name);
  std::string text;
  for (std::string_view rest = whole; !rest.empty();) {
    const auto [point, size] = next_code_point(rest);
    const std::string_view piece =
        point < 0 || is_unseen(point) ? kReplacement : rest.substr(0, size);
    if (text.size() + piece.size() > most) return text + "…";
    text += piece;
    rest.remove_prefix(size);
  }
  return text;
}

bool has_ending(std::string_view name, std::string_view ending) {
  return name.size() >= ending.size() &&
         std::equal(ending.begin(), ending.end(), name.end() - static_cast<long>(ending.size()),
                    [](char a, char b) { return lower(a) == lower(b); });
}

bool is_archive_name(std::string_view name) { return !archive_ending(name).empty(); }

std::string stem(std::string_view name) {
  if (const auto ending = archive_ending(name); !ending.empty())
    return std::string(name.substr(0, name.size() - ending.size()));
  for (const std::string_view ending : {".cuh", ".cu"})
    if (name.size() > ending.size() && has_ending(name, ending))
      return std::string(name.substr(0, name.size() - ending.size()));
  return std::string(name);
}

bool is_litter(std::string_view part) {
  return part == ".git" || part == "__MACOSX" || part == ".DS_Store" || part == ".svn" ||
         part.starts_with("._");
}

}  // namespace membound::intake
