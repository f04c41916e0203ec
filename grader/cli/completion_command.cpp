// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound completion bash|zsh|fish. The scripts are made from the command line itself, so that
/// they know every command and option; lab names are asked for when they are needed.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "grader/base/strings.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"

namespace membound::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return is_offered(*command); });
}

std::string options_of(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) base::add_word(text, "--" + name, " ");
  return text;
}

std::string command_names(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : commands_of(app)) base::add_word(text, command->get_name(), " ");
  return text;
}

/// What stands after a command beside its options: lab names for most.
std::string words_of(const CLI::App& command) {
  if (command.get_name() == "completion") return "bash zsh fish";
  const std::string inner = command_names(command);
  if (!inner.empty()) return inner;
  return command.get_option_no_throw("LAB") != nullptr ? "$(\"$1\" list --names 2>/dev/null)" : "";
}

std::string bash(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* command : commands_of(app)) {
    std::string words = options_of(*command) + " " + words_of(*command);
    for (const CLI::App* inner : commands_of(*command)) words += " " + options_of(*inner);
    cases += "    " + command->get_name() + ") words=\"" + words + "\" ;;\n";
  }
  return "# bash completion for membound; use: source <(./membound completion bash)\n"
         "_membound() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} words\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases + "    *) words=\"" + command_names(app) +
         " --help --version\" ;;\n"
         "  esac\n"
         "  [ \"$COMP_CWORD\" -gt 1 ] || words=\"" +
         command_names(app) +
         " --help --version\"\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "}\n"
         "complete -F _membound membound ./membound\n";
}

std::string zsh(const CLI::App& app) {
  return "# zsh completion for membound; use: source <(./membound completion zsh)\n"
         "autoload -Uz bashcompinit && bashcompinit\n" +
         bash(app);
}

std::string fish(const CLI::App& app) {
  std::string text =
      "# fish completion for membound; use: ./membound completion fish | source\n"
      "complete -c membound -f\n";
  for (const CLI::App* command : commands_of(app)) {
    const std::string name = command->get_name();
    const std::string seen = "-n '__fish_seen_subcommand_from " + name + "'";
    text += "complete -c membound -n __fish_use_subcommand -a " + name + "\n";
    for (const CLI::Option* option : command->get_options())
      for (const std::string& word : option->get_lnames())
        text += "complete -c membound " + seen + " -l " + word + "\n";
    std::string words = words_of(*command);
    if (words.starts_with("$("))
      words = "(set -l words (commandline -opc); $words[1] list --names 2>/dev/null)";
    if (!words.empty()) text += "complete -c membound " + seen + " -a '" + words + "'\n";
  }
  return text;
}

int run_completion(const CLI::App& app, const std::string& shell) {
  // Where instructors' commands are built, that program knows their options, too.
  std::error_code ignored;
  if (std::filesystem::read_symlink("/proc/self/exe", ignored).filename() == "membound-student")
    become_whole_program({"completion", shell});
  const std::string text = shell == "bash" ? bash(app) : shell == "zsh" ? zsh(app) : fish(app);
  std::fputs(text.c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_completion(CLI::App& app, Action& chosen) {
  auto shell = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("completion", "");
  takes_one_of(*command->add_option("SHELL", *shell)->required(), {"bash", "zsh", "fish"});
  command->callback(
      [shell, &app, &chosen] { chosen = [shell, &app] { return run_completion(app, *shell); }; });
}

}  // namespace membound::cli
