// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound export DIR --format FORMAT: grades for a learning platform.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/base/files.hpp"
#include "grader/classroom/exchange/exchange.hpp"
#include "grader/classroom/queue/class_grades.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/staff/platform_table.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

struct ExportOptions {
  std::string batch, out, key, format, lab, sheet, assignment, context;
  std::optional<double> maximum;
};

base::Result<exchange::Settings> settings_of(const ExportOptions& options) {
  exchange::Settings settings;
  settings.assignment = options.assignment;
  settings.maximum = options.maximum;
  if (!options.sheet.empty()) {
    const auto text = base::read_file(options.sheet);
    if (!text) return text.error();
    auto table = base::read_csv(*text, options.sheet);
    if (!table) return table.error();
    settings.sheet = *std::move(table);
    settings.sheet_name = options.sheet;
  }
  if (!options.context.empty()) {
    const auto text = base::read_file(options.context);
    if (!text) return text.error();
    settings.context = nlohmann::json::parse(*text, nullptr, false);
    if (!settings.context.is_object())
      return base::Error{base::ErrorKind::kInput,
                         options.context,
                         "is no JSON object",
                         R"({"classroom": …, "students": {"ID": {…}}})",
                         {}};
  }
  return settings;
}

/// The grades of one lab, or all.
base::Result<std::vector<course::Grade>> grades_of(const ExportOptions& options,
                                                   exchange::Settings& settings) {
  auto batch = queue::read_class(options.batch, options.key, queue::Detail::kShown);
  if (!batch) return batch.error();
  if (!batch->open.empty())
    report_note(std::to_string(batch->open.size()) + " rows are not graded yet and left out");
  settings.worth = batch->worth;
  if (options.lab.empty()) return std::move(batch->grades);
  const auto context = make_context();
  if (!context) return context.error();
  const auto lab = context->course.find(options.lab);
  if (!lab) return lab.error();
  std::erase_if(batch->grades,
                [&lab](const course::Grade& grade) { return grade.lab != (*lab)->id; });
  return std::move(batch->grades);
}

int run_export(const ExportOptions& options) {
  auto settings = settings_of(options);
  if (!settings) return report_error(settings.error());
  const auto grades = grades_of(options, *settings);
  if (!grades) return report_error(grades.error());
  if (grades->empty())
    return report_error({base::ErrorKind::kInput, options.batch, "no grades to export",
                         "a batch with grades", "membound grade … --out " + options.batch});
  const auto files = exchange::write(options.format, *grades, *settings);
  if (!files) return report_error(files.error());
  const fs::path out = options.out.empty() ? fs::path(options.batch) / "export" / options.format
                                           : fs::path(options.out);
  for (const exchange::Document& document : files->documents) {
    const auto written = base::write_file(out / document.name, document.text);
    if (!written) return report_error(written.error());
  }
  for (const std::string& text : files->left_out) report_note(text);
  for (const std::string& text : files->notes) report_note(text);
  std::printf("%zu files in %s\n", files->documents.size(), out.c_str());
  return kExitPassed;
}

}  // namespace

authoring::WrittenPart platform_table() {
  std::string table = "| format | what comes out |\n| --- | --- |\n";
  for (const exchange::Format& format : exchange::formats())
    table += "| " + std::string(format.name) + " | " + std::string(format.what) + " |\n";
  return {"grader/cli/help/export.md", "platforms", table,
          "grader/classroom/exchange/platforms.def"};
}

void add_export(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* const command = app.add_subcommand("export", "");
  command->add_option("DIR", options->batch)->required();
  command->add_option("--format", options->format)->required();
  command->add_option("--out", options->out);
  command->add_option("--lab", options->lab);
  command->add_option("--sheet", options->sheet);
  command->add_option("--assignment", options->assignment);
  takes_number(*command->add_option("--maximum", options->maximum), 0.01, 1e6);
  command->add_option("--context", options->context);
  command->add_option("--key", options->key);
  command->callback([options, &chosen] { chosen = [options] { return run_export(*options); }; });
}

}  // namespace membound::cli
