// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the values of options must be. CLI11 would say it in words of its own.
/// Place in the chain: commands -> [option_values] -> command_line, which tells what was wrong.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace membound::cli {

/// A value that an option does not take; thrown while CLI11 reads the command line.
struct WrongValue {
  std::string option;  ///< "--seed"
  std::string value;
  std::string expected;
};

/// The option's value must be one of `words`.
void takes_one_of(CLI::Option& option, std::vector<std::string> words);

/// It must be digits alone that make a number from `low` to `high`.
void takes_whole(CLI::Option& option, std::uint64_t low = 0,
                 std::uint64_t high = std::numeric_limits<std::uint64_t>::max());

/// It must be a number from `low` to `high`.
void takes_number(CLI::Option& option, double low, double high);

}  // namespace membound::cli
