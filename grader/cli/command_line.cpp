// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/command_line.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "grader/base/strings.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/judge/build_info.hpp"
#include "grader/report/markdown_html.hpp"
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

namespace {

/// A course that was handed out holds what builds instructors' commands and does not tell of them;
/// a wheel does not hold it.
bool has_staff_commands() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto root = course_root();
  if (root && fs::exists(*root / "released", ignored)) return false;
  return fs::exists(build_folder() / "bin" / "membound", ignored) ||
         (root && fs::exists(*root / "grader/cli/staff", ignored));
}

/// The program's contents page as far as its commands are offered: it has a chapter for each kind
/// of reader.
std::string offered_part(std::string_view page) {
  std::string text(page);
  if (has_staff_commands()) return text;
  const auto from = text.find("\n## For instructors\n");
  return text.erase(from, text.find("\n## Labs and stages\n", from) - from);
}

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

/// "membound dev check": how the command is called.
std::string path_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "membound";
  return path_of(*command.get_parent()) + " " + command.get_name();
}

/// Why CLI11 stopped at `command`, the last one of the line that it knew.
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
    told.found = "something stands after it";
    told.expected = option->get_name() + " alone";
  } else if (option->count() > 1) {
    told.found = "is given " + std::to_string(option->count()) + " times";
    told.expected = option->get_name() + " once";
  } else {
    told.found = "nothing stands after it";
    told.expected = written_in(page, option->get_name());
  }
  return told;
}

/// The help page of the command instead of what CLI11 would make up.
class HelpPages : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    const std::string_view page = help_text(help_page_name(*app));
    return report::render_markdown(app->get_parent() == nullptr ? offered_part(page) : page,
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
    for (const CLI::App* command :
         app.get_subcommands([](const CLI::App* each) { return is_offered(*each); }))
      if (!command->get_name().empty()) words.push_back(command->get_name());  // else: a group
    return words;
  }
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

}  // namespace

bool is_offered(const CLI::App& command) {
  static constexpr std::string_view kStaffCommands[] = {
#define STAFF_COMMAND(id, name) name,
#include "grader/cli/staff_commands.def"
  };
  const bool is_staff =
      std::ranges::find(kStaffCommands, command.get_name()) != std::end(kStaffCommands);
  return !is_staff || has_staff_commands();
}

void become_whole_program(std::vector<std::string> words) {
  std::string program = (build_folder() / "bin" / "membound").string();
  std::vector<char*> arguments = {program.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
}

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

namespace {

std::string& typed() {
  static std::string text;
  return text;
}

/// Takes "--labs DIR" out of the words, wherever it stands before a "--", and puts it into
/// MEMBOUND_LABS: programs that this one starts then know the same labs. An error where no folder
/// follows.
base::Status take_labs(std::vector<const char*>& words) {
  const char* const known = std::getenv("MEMBOUND_LABS");
  std::string all = known == nullptr ? "" : known;
  constexpr std::string_view kOption = "--labs";
  for (auto word = words.begin(); word != words.end() && std::string_view(*word) != "--";) {
    const std::string_view text = *word;
    const bool has_value = text.starts_with("--labs=");
    if (text != kOption && !has_value) {
      ++word;
      continue;
    }
    const auto value = has_value ? word : word + 1;
    const std::string folder =
        value == words.end() ? "" : *value + (has_value ? kOption.size() + 1 : 0);
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored))
      return base::Error{base::ErrorKind::kUsage, "--labs",
                         folder.empty() ? "no folder follows" : "\"" + folder + "\" is no folder",
                         "a folder with labs/, solutions/ and handouts/ of your own",
                         "mkdir it, then membound dev new NN-NAME --labs FOLDER"};
    typed() += " --labs " + folder;
    base::add_word(all, std::filesystem::absolute(folder, ignored).string(), ":");
    word = words.erase(word, value + 1);
  }
  // Before any thread: the command line is read first.
  if (!all.empty()) setenv("MEMBOUND_LABS", all.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  return base::Done{};
}

}  // namespace

const std::string& typed_labs() { return typed(); }

int CommandLine::run(int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  typed().clear();
  if (const auto taken = take_labs(words); !taken) return report_error(taken.error());
  const int code = run_words(static_cast<int>(words.size()), words.data());
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
    if (course_root()) return show_first_screen();
    std::fputs(app_->help().c_str(), stdout);
    return kExitPassed;
  }
  const std::string first = argv[1];
  const auto meant =
      app_->get_subcommands([&](const CLI::App* each) { return each->get_name() == first; });
  if (meant.empty() && !first.starts_with('-'))
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
    const std::string list = base::joined(known);
    error.expected = "one of " + list;
  }
  const auto suggestion = word.empty() ? std::nullopt : base::nearest(word, known);
  error.advice = suggestion ? "did you mean \"" + *suggestion + "\"?" : path_of(*where) + " --help";
  return report_error(error);
}

void add_student_commands(CommandLine& line) {
  line.add(add_start);       // the first lab, step by step
  line.add(add_list);        // labs, stages, progress
  line.add(add_progress);    // the course as a ladder
  line.add(add_next);        // what to do next
  line.add(add_handout);     // what to read first
  line.add(add_predict);     // what one thinks a stage will count
  line.add(add_check);       // is it right, how fast is it, what next
  line.add(add_watch);       // check on every save
  line.add(add_profile);     // what each line costs, what bounds the kernel
  line.add(add_ptx);         // the instructions that each line became
  line.add(add_compare);     // one kernel on GPUs of several generations
  line.add(add_experiment);  // the handouts' experiments, beside printed figures
  line.add(add_hint);        // a nudge that follows from the last check
  line.add(add_solution);    // our answer beside one's own
  line.add(add_reset);       // the skeleton back
  line.add(add_hand_in);     // one file to upload
  line.add(add_report_bug);  // one file for whoever helps
  line.add(add_completion);  // for bash, zsh, fish
  line.add(add_doctor);      // what this machine can do
  line.add(add_run);         // any CUDA program on the virtual GPU
}

}  // namespace membound::cli
