// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/staff/grade_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/classroom/slurm/slurm.hpp"
#include "grader/cli/command_context.hpp"

namespace membound::cli {
namespace {

/// How a task of a job array is called; the chunk's number comes after.
std::vector<std::string> task_command(const TaskCall& call, const queue::Settings& settings) {
  std::error_code error;
  std::vector<std::string> command = {
      std::filesystem::read_symlink("/proc/self/exe", error).string(), "grade",
      "--out=" + std::filesystem::absolute(call.out).string(), "--device=" + settings.device.name,
      "--compiler=" + std::string(compilers::to_string(settings.compiler.kind))};
  if (!call.key.empty()) command.push_back("--key=" + std::filesystem::absolute(call.key).string());
  if (call.trust) command.emplace_back("--trust-submissions");
  command.push_back("--device-seconds=" +
                    std::to_string(static_cast<int>(settings.device_seconds)));
  command.emplace_back("--task");
  return command;
}

/// What a task needs of this machine's environment; a site may hand none of it on.
std::map<std::string, std::string> task_environment(const Context& context) {
  std::map<std::string, std::string> environment = {
      {"MEMBOUND_ROOT", std::filesystem::absolute(context.course.root).string()}};
  for (const char* name :
       {"PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "SOURCE_DATE_EPOCH", "MEMBOUND_LABS"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  return environment;
}

/// A cluster's GPU that is asked for and not used would be a class graded on another device.
base::Status check_device(const std::vector<std::string>& options,
                          const queue::Settings& settings) {
  if (!course::is_virtual_device(settings.device.name)) return base::Done{};
  for (const std::string& option : options) {
    if (option.find("gres") == std::string::npos && option.find("gpu") == std::string::npos)
      continue;
    return base::Error{base::ErrorKind::kUsage, option,
                       "asks for a GPU, and the class would be graded on " + settings.device.name,
                       "one device", "give --device gpu, or leave the option out"};
  }
  return base::Done{};
}

base::Result<slurm::Site> site_of(const std::string& file) {
  if (file.empty()) return slurm::Site{};
  const auto text = base::read_file(file);
  if (!text) return text.error();
  return slurm::read_site(*text, file);
}

}  // namespace

base::Result<queue::SlurmSettings> slurm_settings(const ClusterOptions& options,
                                                  const TaskCall& call,
                                                  const queue::Settings& settings,
                                                  const Context& context) {
  auto site = site_of(options.file);
  if (!site) return site.error();
  queue::SlurmSettings slurm;
  // Of two options of one name sbatch takes the last.
  slurm.options = std::move(site->options);
  slurm.options.insert(slurm.options.end(), options.options.begin(), options.options.end());
  if (const auto fits = check_device(slurm.options, settings); !fits) return fits.error();
  slurm.prolog = std::move(site->prolog);
  slurm.modules = std::move(site->modules);
  slurm.container = std::move(site->container);
  if (site->chunk) slurm.chunk = static_cast<std::size_t>(*site->chunk);
  if (options.chunk) slurm.chunk = *options.chunk;
  slurm.at_once = options.at_once.value_or(site->at_once.value_or(slurm.at_once));
  slurm.minutes_per_task = options.minutes.value_or(site->minutes.value_or(slurm.minutes_per_task));
  if (site->start_seconds) slurm.start_timeout_seconds = *site->start_seconds;
  slurm.task_command = task_command(call, settings);
  slurm.environment = task_environment(context);
  slurm.call = call_to_repeat();
  slurm.report_trouble = [](const std::string& text) { report_note(text); };
  return slurm;
}

std::string call_to_repeat() {
  const auto line = base::read_file("/proc/self/cmdline");
  return line ? call_to_repeat(*line) : "give the same command again";
}

std::string call_to_repeat(const std::string& line) {
  std::string call;
  bool skips = false, is_first = true;
  for (std::size_t start = 0; start < line.size();) {
    const auto end = std::min(line.find('\0', start), line.size());
    const std::string word = line.substr(start, end - start);
    start = end + 1;
    const bool is_regrade = word == "--regrade" || word == "--regrade-requests";
    if (!skips && !is_regrade && !word.starts_with("--regrade")) {
      const bool plain = word.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "-_./=:,+@%") == std::string::npos;
      std::string quoted;
      for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      call += (is_first ? "" : " ") + (plain && !word.empty() ? word : "'" + quoted + "'");
      is_first = false;
    } else if (!skips && call.find(" --resume") == std::string::npos) {
      call += " --resume";
    }
    skips = is_regrade;
  }
  return call;
}

namespace {

/// Adds what a table of a platform says of who is who.
base::Status add_people(const std::string& text, const std::string& file,
                        intake::IntakeRequest& intake) {
  auto table = intake::read_people_table(text, file);
  if (!table) return table.error();
  intake.people.push_back(*std::move(table));
  return base::Done{};
}

/// Adds what a file with the platform's record says; `lab`: the only one it can be of.
base::Status add_times(const std::filesystem::path& file, const std::optional<std::string>& lab,
                       const Context& context, intake::IntakeRequest& intake) {
  const auto text = base::read_file(file);
  if (!text) return text.error();
  const auto records =
      intake::read_time_records(*text, file.string(), lab, context.course.labs, intake.zone);
  if (!records) return records.error();
  intake.times.insert(intake.times.end(), records->begin(), records->end());
  return add_people(*text, file.string(), intake);
}

/// The course's time zone, of earlier calls where this one names no rules.
base::Result<intake::Zone> zone_of(const GradeOptions& options,
                                   const queue::BatchRequest& request) {
  if (request.rules) return request.rules->zone;
  const auto plan = queue::read_plan(options.out);
  if (!plan) return plan.error();
  return *plan ? (*plan)->rules.zone : intake::Zone();
}

}  // namespace

base::Error wrong_use(const std::string& where, const std::string& found,
                      const std::string& expected, const std::string& advice) {
  return {base::ErrorKind::kUsage, where, found, expected, advice};
}

base::Status read_intake(const GradeOptions& options, const Context& context,
                         queue::BatchRequest& request) {
  intake::IntakeRequest& intake = request.intake;
  for (const std::string& source : options.submissions) intake.sources.emplace_back(source);
  if (!options.lab.empty()) {
    const auto lab = context.course.find(options.lab);
    if (!lab) return lab.error();
    intake.lab = (*lab)->id;
  }
  const std::filesystem::path kept = queue::kept_roster(options.out);
  std::error_code ignored;
  const bool as_before = options.roster.empty() && std::filesystem::exists(kept, ignored);
  if (as_before || !options.roster.empty()) {
    const std::string file = as_before ? kept.string() : options.roster;
    auto text = base::read_file(file);
    if (!text) return text.error();
    auto roster = intake::Roster::from_text(*text, file);
    if (!roster) return roster.error();
    intake.roster = std::move(*roster);
    if (as_before && !options.submissions.empty())
      report_note("the roster is the one of an earlier call, " + file);
    if (!as_before) request.roster_text = *std::move(text);
  }
  if (!options.layout.empty()) intake.layout = intake::layout_from_string(options.layout);
  if (!options.attempt.empty())
    intake.attempts =
        options.attempt == "best" ? intake::AttemptPolicy::kBest : intake::AttemptPolicy::kLatest;
  return base::Done{};
}

base::Status read_rules(const GradeOptions& options, const Context& context,
                        queue::BatchRequest& request) {
  const auto& labs = context.course.labs;
  if (!options.course.empty()) {
    const auto text = base::read_file(options.course);
    if (!text) return text.error();
    auto rules = intake::read_course_rules(*text, options.course, labs);
    if (!rules) return rules.error();
    request.intake.zone = rules->zone;
    const auto folder = std::filesystem::path(options.course).parent_path();
    for (const auto& [lab, own] : rules->labs) {
      if (!own.times || (request.intake.lab && *request.intake.lab != lab)) continue;
      const auto added = add_times(folder / *own.times, lab, context, request.intake);
      if (!added) return added;
    }
    request.rules = *std::move(rules);
  }
  const auto zone = zone_of(options, request);
  if (!zone) return zone.error();
  request.intake.zone = *zone;
  if (!options.extensions.empty()) {
    const auto text = base::read_file(options.extensions);
    if (!text) return text.error();
    auto extensions = intake::read_extensions(*text, options.extensions, labs, *zone);
    if (!extensions) return extensions.error();
    request.extensions = *std::move(extensions);
  }
  for (const std::string& file : options.times) {
    const auto added = add_times(file, request.intake.lab, context, request.intake);
    if (!added) return added;
  }
  for (const std::string& file : options.sheets) {
    const auto text = base::read_file(file);
    if (!text) return text.error();
    const auto added = add_people(*text, file, request.intake);
    if (!added) return added;
  }
  if (!options.due.empty()) {
    const auto due = intake::read_deadline(options.due, *zone, "--due");
    if (!due) return due.error();
    request.rules_now.due = *due;
  }
  request.rules_now.percent_per_day = options.late_percent;
  request.rules_now.grace_minutes = options.grace_minutes;
  return base::Done{};
}

}  // namespace membound::cli
