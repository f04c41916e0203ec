// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/option_values.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>

#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

void must_be(CLI::Option& option, const std::string& expected,
             std::function<bool(const std::string&)> fits) {
  const auto check = [&option, expected, fits = std::move(fits)](std::string& value) {
    if (!fits(value)) throw WrongValue{option.get_name(), value, expected};
    return std::string();
  };
  option.check(CLI::Validator(check, ""));
}

/// The whole of `text` as a number; false if anything else stands in it.
template <typename Number>
bool read_number(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

}  // namespace

void takes_one_of(CLI::Option& option, std::vector<std::string> words) {
  const std::string expected = "one of " + report::listed(words);
  must_be(option, expected, [words = std::move(words)](const std::string& value) {
    return std::find(words.begin(), words.end(), value) != words.end();
  });
}

void takes_whole(CLI::Option& option, std::uint64_t low, std::uint64_t high) {
  must_be(option, "a whole number from " + std::to_string(low) + " to " + std::to_string(high),
          [low, high](const std::string& value) {
            std::uint64_t number = 0;
            return read_number(value, number) && low <= number && number <= high;
          });
}

void takes_number(CLI::Option& option, double low, double high) {
  must_be(option, "a number from " + report::amount(low) + " to " + report::amount(high),
          [low, high](const std::string& value) {
            double number = 0;
            return read_number(value, number) && low <= number && number <= high;
          });
}

}  // namespace membound::cli
