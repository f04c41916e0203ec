// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/usage_error.hpp"

#include <CLI/CLI.hpp>

#include "grader/cli/command_line.hpp"
#include "grader/cli/help.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

/// The call on the command's help page: "membound check LAB[/STAGE]… [options]".
std::string usage_of(std::string_view page) {
  constexpr std::string_view kCall = "\n    membound ";
  const auto at = page.find(kCall);
  if (at == std::string_view::npos) return "";
  return std::string(page.substr(at + 5, page.find('\n', at + 1) - at - 5));
}

/// The option as its help page writes it: "--json FILE".
std::string written_in(std::string_view page, const std::string& option) {
  const auto at = page.find("`" + option + " ");
  if (at == std::string_view::npos) return option + " and a value";
  return std::string(page.substr(at + 1, page.find('`', at + 1) - at - 1));
}

/// The option that CLI11 speaks of: the longest name in its text.
const CLI::Option* option_in(const CLI::App& command, const std::string& text) {
  const CLI::Option* found = nullptr;
  for (const CLI::Option* option : command.get_options()) {
    if (text.find(option->get_name()) == std::string::npos) continue;
    if (found == nullptr || found->get_name().size() < option->get_name().size()) found = option;
  }
  return found;
}

}  // namespace

std::string path_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "membound";
  return path_of(*command.get_parent()) + " " + command.get_name();
}

base::Error usage_error(const CLI::App& command, const CLI::ParseError& error) {
  const std::string path = path_of(command);
  const std::string_view page = help_text(help_page_name(command));
  base::Error told{base::ErrorKind::kUsage, path, "", usage_of(page), path + " --help"};
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    std::vector<std::string> missing;
    for (const CLI::Option* option : command.get_options())
      if (option->get_required() && option->count() == 0) missing.push_back(option->get_name());
    if (missing.empty()) missing.emplace_back("a command");
    told.found = report::listed(missing) + (missing.size() == 1 ? " is missing" : " are missing");
    return told;
  }
  const CLI::Option* const option = option_in(command, error.what());
  if (option == nullptr) {
    told.found = "cannot be read";
    return told;
  }
  told.where = option->get_name();
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    told.found = "\"" + option->results().back() + "\"";
    told.expected = written_in(page, option->get_name());
  } else if (option->get_expected_max() == 0) {
    told.found = "something stands behind it";
    told.expected = option->get_name() + " alone";
  } else if (option->count() > 1) {
    told.found = "is given " + std::to_string(option->count()) + " times";
    told.expected = option->get_name() + " once";
  } else {
    told.found = "nothing stands behind it";
    told.expected = written_in(page, option->get_name());
  }
  return told;
}

}  // namespace membound::cli
