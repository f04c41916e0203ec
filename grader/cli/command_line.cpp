// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/command_line.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "grader/base/nearest.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/help.hpp"
#include "grader/cli/option_values.hpp"
#include "grader/cli/usage_error.hpp"
#include "grader/judge/build_info.hpp"
#include "grader/report/markdown.hpp"

namespace membound::cli {
namespace {

/// The help page of the command in place of what CLI11 would make up.
class HelpPages : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    return report::render_markdown(help_text(help_page_name(*app)),
                                   report::Style::for_stream(STDOUT_FILENO));
  }
};

/// The command that the words lead to, as far as they are right: "dev check".
const CLI::App* deepest_parsed(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) current = current->get_subcommands().back();
  return current;
}

std::vector<std::string> known_words(const CLI::App& app, bool options) {
  std::vector<std::string> words;
  if (!options) {
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      words.push_back(command->get_name());
    return words;
  }
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

}  // namespace

std::string help_page_name(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "membound";
  if (app.get_parent()->get_parent() == nullptr) return app.get_name();
  return app.get_parent()->get_name() + "-" + app.get_name();
}

CommandLine::CommandLine() : app_(std::make_unique<CLI::App>("", "membound")) {
  app_->formatter(std::make_shared<HelpPages>());
  app_->set_help_flag("-h,--help");
  app_->set_version_flag("--version", std::string("membound ") + judge::kVersion);
  app_->require_subcommand(0, 1);
  CLI::App* const help = app_->add_subcommand("help", "")->prefix_command();
  help->callback(
      [this, help] { chosen_ = [this, words = help->remaining()] { return show_help(words); }; });
}

CommandLine::~CommandLine() = default;

int CommandLine::run(int argc, const char* const* argv) {
  const int code = run_words(argc, argv);
  const auto written = finish_output();
  return written ? code : report_error(written.error());
}

int CommandLine::show_help(const std::vector<std::string>& words) {
  std::vector<const char*> arguments = {"membound"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  arguments.push_back("--help");
  app_->clear();  // of what led here
  return run_words(static_cast<int>(arguments.size()), arguments.data());
}

int CommandLine::run_words(int argc, const char* const* argv) {
  if (argc <= 1) {
    std::fputs(app_->help().c_str(), stdout);
    return kExitPassed;
  }
  const std::string first = argv[1];
  const auto commands = known_words(*app_, false);
  const bool is_command = std::find(commands.begin(), commands.end(), first) != commands.end();
  if (!is_command && !first.starts_with('-'))
    return complain("there is no command \"" + first + "\"", first);
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(deepest_parsed(*app_)->help().c_str(), stdout);
    return kExitPassed;
  } catch (const CLI::CallForVersion& version) {
    std::printf("%s\n", version.what());
    return kExitPassed;
  } catch (const CLI::ExtrasError&) {
    const auto extras = app_->remaining(true);
    const std::string word = extras.empty() ? "" : extras.front();
    return complain("\"" + word + "\" is not expected here", word);
  } catch (const CLI::RequiredError& error) {
    const auto extras = app_->remaining(true);
    const CLI::App& where = *deepest_parsed(*app_);
    if (!extras.empty() && !known_words(where, false).empty())
      return complain("there is no command \"" + extras.front() + "\"", extras.front());
    return report_error(usage_error(where, error));
  } catch (const CLI::ParseError& error) {
    return report_error(usage_error(*deepest_parsed(*app_), error));
  } catch (const WrongValue& wrong) {
    return report_error({base::ErrorKind::kUsage, wrong.option, "\"" + wrong.value + "\"",
                         wrong.expected, path_of(*deepest_parsed(*app_)) + " --help"});
  }
  // Help reads another command line, which may choose anew.
  const Action chosen = std::move(chosen_);
  return chosen ? chosen() : complain("a command is missing", "");
}

int CommandLine::complain(const std::string& found, const std::string& word) const {
  const CLI::App* const where = deepest_parsed(*app_);
  const bool is_option = word.starts_with('-');
  const auto known = known_words(*where, is_option);
  base::Error error{base::ErrorKind::kUsage, "", found, "", ""};
  if (!known.empty() && !word.empty()) {
    std::string list;
    for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
    error.expected = "one of " + list;
  }
  const auto suggestion = word.empty() ? std::nullopt : base::nearest(word, known);
  error.advice = suggestion ? "did you mean \"" + *suggestion + "\"?" : path_of(*where) + " --help";
  return report_error(error);
}

}  // namespace membound::cli
