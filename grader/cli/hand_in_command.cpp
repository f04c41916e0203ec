// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound hand-in LAB, membound report-bug: one file that a learning platform takes, and one that
/// a person can send who asks for help. Both say what is in them; neither sends anything.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <regex>
#include <set>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/build_info.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

/// CRC-32 as zip files have it: polynomial 0xEDB88320, bits reflected.
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

/// A zip file with these files in it, by name, stored as they are; source: PKWARE's APPNOTE 6.3.10,
/// 4.3. libarchive would be one more package for every student.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& files) {
  const auto number = [](std::uint32_t value, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) text += static_cast<char>((value >> (8 * i)) & 0xFF);
    return text;
  };
  std::string local, central;
  for (const auto& [name, bytes] : files) {
    const auto size = static_cast<std::uint32_t>(bytes.size());
    constexpr std::uint32_t kNewYear1980 = 0x0021'0000;  // no time: one text makes one archive
    const std::string common = number(0, 2) + number(0, 2) + number(kNewYear1980, 4) +
                               number(crc32(bytes), 4) + number(size, 4) + number(size, 4) +
                               number(static_cast<std::uint32_t>(name.size()), 2) + number(0, 2);
    constexpr std::uint32_t kRegularFile0644 = 0100644u << 16;
    central += number(0x02014B50, 4) + number(0x0314, 2) + number(20, 2) + common + number(0, 2) +
               number(0, 2) + number(0, 2) + number(kRegularFile0644, 4) +
               number(static_cast<std::uint32_t>(local.size()), 4) + name;
    local += number(0x04034B50, 4) + number(20, 2) + common + name + bytes;
  }
  const auto count = static_cast<std::uint32_t>(files.size());
  return local + central + number(0x06054B50, 4) + number(0, 4) + number(count, 2) +
         number(count, 2) + number(static_cast<std::uint32_t>(central.size()), 4) +
         number(static_cast<std::uint32_t>(local.size()), 4) + number(0, 2);
}

struct HandInOptions : judge::CheckOptions {
  std::string lab;
  std::string out;
  bool no_check = false;
};

/// Checks every stage of the lab; false where that could not be done.
base::Result<Checked> check_whole(const Context& context, const judge::CheckOptions& options,
                                  const course::Lab& lab) {
  const auto tools = chosen_tools(context.place, options);
  if (!tools) return tools.error();
  std::vector<int> stages;
  for (const course::Stage& stage : lab.stages) stages.push_back(stage.number);
  const std::set<int> untouched = untouched_stages(context, lab);
  return check_labs(
      context, *tools, options, {{&lab, stages}}, catch_interrupts(),
      [&](const course::Result& result) {
        for (const course::StageResult& stage : result.stages)
          std::fputs(
              report::render_line(stage, context.out, untouched.contains(stage.stage)).c_str(),
              stdout);
        std::printf("  %s of %s points by this check\n", report::points(result.points()).c_str(),
                    report::points(result.max_points()).c_str());
      });
}

int run_hand_in(const HandInOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab* lab = lab_here(*context);
  if (!options.lab.empty()) {
    const auto found = context->course.find(options.lab);
    if (!found) return report_error(found.error());
    lab = *found;
  }
  if (lab == nullptr)
    return report_error({base::ErrorKind::kUsage, "membound hand-in", "LAB is missing",
                         "membound hand-in LAB, or a call in a lab's own folder",
                         "membound hand-in " + current_lab(*context).id});
  const auto whole = course::read_submission(context->kernel_of(*lab), *lab);
  if (!whole) return report_error(whole.error());
  const auto skeleton = judge::find_skeleton(context->place, *lab);
  if (skeleton && *skeleton == *whole)
    return report_error({base::ErrorKind::kUsage, context->shown_kernel_of(*lab),
                         "is the untouched skeleton", "your answer to at least one stage",
                         "./membound next " + lab->id});
  if (!options.no_check) {
    const auto checked = check_whole(*context, options, *lab);
    if (!checked) return report_error(checked.error());
    if (checked->stopped) {
      report_note("stopped; nothing was written");
      return kExitInterrupted;
    }
  }
  const course::SplitSubmission split = course::split_submission(*whole);
  std::vector<std::pair<std::string, std::string>> files;
  std::string inside, folder = lab->id + "/";
  std::size_t bytes = 0;
  for (const std::string& name : lab->files) {
    const auto beside = split.beside.find(name);
    if (name != course::kKernelFile && beside == split.beside.end()) {
      report_note(name + " is not beside " + context->shown_kernel_of(*lab) +
                  "; what is graded of it earns nothing");
      continue;
    }
    files.emplace_back(folder + name, name == course::kKernelFile ? split.kernel : beside->second);
    base::add_word(inside, files.back().first, " and ");
    bytes += files.back().second.size();
  }
  const fs::path file = options.out.empty() ? fs::path(lab->id + ".zip") : fs::path(options.out);
  const auto written = base::write_file(file, zip_of(files));
  if (!written) return report_error(written.error());
  std::printf("%s holds %s, %zu bytes, and nothing else.\n", file.c_str(), inside.c_str(), bytes);
  const std::string pushed = files.size() > 1 ? folder + " with these files" : inside;
  std::fputs(
      report::wrapped("Upload it as it is: Canvas, Moodle, Gradescope and membound grade take "
                      "it; a GitHub assignment takes labs/" +
                          pushed +
                          " by a push. Nothing was "
                          "sent. What the grader finds counts, not this check.",
                      context->out.width, 0)
          .c_str(),
      stdout);
  return kExitPassed;
}

/// The last lines of a file, with the home folder's name taken out.
std::string end_of(const fs::path& file, std::size_t most) {
  const auto text = base::read_file(file);
  if (!text) return "(there is none)\n";
  std::string_view rest = *text;
  std::size_t lines = 0, at = rest.size();
  while (at > 0 && lines <= most) {
    --at;
    lines += rest[at] == '\n' ? 1 : 0;
  }
  return std::string(rest.substr(at == 0 ? 0 : at + 1));
}

std::string without_home(std::string text) {
  const char* const home = std::getenv("HOME");
  if (home == nullptr || std::string_view(home).size() < 2) return text;
  const std::string name = home;
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at))
    text.replace(at, name.size(), "~");
  return text;
}

/// The newest result there is of any stage.
std::string last_result(const Context& context) {
  std::optional<judge::StageState> newest;
  for (const course::Lab& lab : context.course.labs)
    for (const course::Stage& stage : lab.stages) {
      judge::StageState state = context.states().read(lab.id, stage.number);
      if (state.last && (!newest || state.checked_at > newest->checked_at))
        newest = std::move(state);
    }
  if (!newest) return "(nothing was checked yet)\n";
  const course::StageResult& last = *newest->last;
  const std::string head = last.lab + ", checked " + newest->checked_at + "\n";
  const auto lab = context.course.find(last.lab);
  if (lab && untouched_stages(context, **lab).contains(last.stage))
    return head + "Stage " + std::to_string(last.stage) + ": not started\n";
  return head + report::render_detail(last, report::Style{});
}

/// What a command printed of itself; both streams.
std::string said_by(const std::vector<std::string>& arguments) {
  const auto ran = base::run_process({.arguments = arguments, .timeout_seconds = 20});
  return ran ? ran->output : base::to_string(ran.error()) + "\n";
}

int run_report_bug(const std::string& out) {
  constexpr std::size_t kLogLines = 60;
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"What happened", "(say here what you did, what you expected and what came instead)\n"},
      {"Version", "membound " + std::string(judge::kVersion) + "\n" + said_by({"uname", "-srm"})},
      {"Folders", "course: " + context->place.root.string() +
                      "\nprogress: " + context->place.state.string() + "\n"},
      {"Machine, device and compilers (membound doctor)",
       said_by({fs::read_symlink("/proc/self/exe").string(), "doctor"})},
      {"Last result", last_result(*context)},
      {"End of the build's log (.membound/build.log)",
       end_of(context->place.state / "build.log", kLogLines)}};
  std::string text = "# A report for the authors of Membound\n";
  for (const auto& [title, body] : parts) text += "\n## " + title + "\n\n" + body;
  text = without_home(std::move(text));
  const fs::path file =
      out.empty() ? context->place.state / "bug-report.md" : std::filesystem::path(out);
  std::fputs(text.c_str(), stdout);
  if (const auto written = base::write_file(file, text); !written)
    return report_error(written.error());
  std::printf("\n%s holds what stands above.\n", file.c_str());
  std::puts("Nothing was sent: read it, add what happened, and give it to whoever helps.");
  return kExitPassed;
}

}  // namespace

void add_hand_in(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<HandInOptions>();
  CLI::App* const command = app.add_subcommand("hand-in", "");
  command->add_option("LAB", options->lab);
  command->add_option("--out", options->out);
  command->add_flag("--no-check", options->no_check);
  add_check_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return run_hand_in(*options); }; });
}

void add_report_bug(CLI::App& app, Action& chosen) {
  auto out = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("report-bug", "");
  command->add_option("--out", *out);
  command->callback([out, &chosen] { chosen = [out] { return run_report_bug(*out); }; });
}

}  // namespace membound::cli
