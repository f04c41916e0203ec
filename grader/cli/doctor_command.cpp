// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound doctor: what this machine can do, and how to mend what it cannot.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <system_error>
#include <vector>

#include "grader/base/strings.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/build_info.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

enum class Health { kOk, kWarning, kBad };

/// One line of the report.
struct Row {
  Health health;
  std::string what;
  std::string found;
  std::string fix;  ///< what to do unless all is well
};

constexpr double kGigabyte = 1e9;
constexpr double kLittleSpace = 0.2 * kGigabyte;
constexpr double kSomeSpace = 2 * kGigabyte;

std::vector<Row> course_rows(const fs::path& build) {
  const auto root = course_root();
  if (!root) return {{Health::kBad, "course", root.error().found, root.error().advice}};
  const auto course = course::read_course(*root, course::other_trees());
  if (!course)
    return {
        {Health::kBad, "course", base::to_string(course.error()), "mend the file that is named"}};
  std::vector<Row> rows = {{Health::kOk, "course",
                            root->string() + ", " + std::to_string(course->labs.size()) + " labs",
                            ""}};
  for (const course::Course::Broken& one : course->broken)
    rows.push_back({Health::kBad, "lab " + one.id, base::to_string(one.why),
                    "mend the file that is named; the other labs go on"});
  std::string missing;
  for (const course::Lab& lab : course->labs) {
    const auto kinds = lab.kinds();
    std::error_code error;
    if (!std::all_of(kinds.begin(), kinds.end(), [&](const course::StageKind* kind) {
          return fs::exists(judge::test_program({*root, build, {}}, lab, *kind), error);
        }))
      base::add_word(missing, lab.id);
  }
  if (missing.empty()) {
    rows.push_back({Health::kOk, "test programs", "built in " + (build / "labs").string(), ""});
  } else {
    rows.push_back({Health::kBad, "test programs", "not built: " + missing,
                    "start with ./membound, which builds them once a compiler is there"});
  }
  return rows;
}

Row compiler_row(const base::Result<compilers::CompilerInfo>& nvcc,
                 const base::Result<compilers::CompilerInfo>& clang, bool has_virtual) {
  if (nvcc) return {Health::kOk, "compiler", nvcc->name() + ", " + nvcc->program.string(), ""};
  const std::string problem = "nvcc " + nvcc.error().found;
  if (clang && has_virtual) {
    return {Health::kWarning, "compiler",
            problem + "; " + clang->name() +
                " compiles kernels, and whole programs for the virtual GPU",
            nvcc.error().advice};
  }
  return {Health::kBad, "compiler", problem, nvcc.error().advice};
}

/// A row for what each needs that the GPU may not have.
void add_needs(const judge::GpuFacts& gpu, const judge::GpuAnswer& answer, bool has_virtual,
               std::vector<Row>& rows) {
  for (const judge::GpuNeed& need : judge::needs_of(gpu, answer)) {
    Row row{Health::kOk, "GPU " + need.what, need.found, ""};
    if (!need.is_met) {
      row.health = has_virtual ? Health::kWarning : Health::kBad;
      row.found += ", and " + need.needed + " is needed";
      row.fix = need.mend;
      if (has_virtual) row.fix += "; until then checks run on vgpu:" + judge::nearest_model(gpu);
    }
    rows.push_back(std::move(row));
  }
}

/// What makes code for a GPU that serves.
Row code_row(const judge::GpuFacts& gpu, const judge::GpuAnswer& answer,
             const compilers::CompilerPlaces& places) {
  const auto compiler = compilers::find_any_compiler(places, {gpu.capability, answer.cuda});
  if (!compiler) return {Health::kBad, "GPU code", compiler.error().found, compiler.error().advice};
  std::string found = compiler->name();
  if (!compiler->passed_over.empty()) found += ", because " + compiler->passed_over;
  return {Health::kOk, "GPU code", found, ""};
}

/// The GPU that checks use, or the first that cannot serve, and what each of them lacks.
std::vector<Row> gpu_rows(const judge::GpuAnswer& answer, bool has_virtual,
                          const compilers::CompilerPlaces& places) {
  if (!answer.answers)
    return {{has_virtual ? Health::kWarning : Health::kBad, "GPU", answer.problem,
             has_virtual ? "nothing: checks run on the virtual GPU, whose times are predicted"
                         : "install NVIDIA's driver, or build the virtual GPU with ./membound"}};
  const std::size_t count = answer.gpus.size();
  std::vector<Row> rows = {
      {Health::kOk, "GPU",
       (count > 1 ? std::to_string(count) + " GPUs, the first " : "") + answer.gpus.front().name,
       ""}};
  for (std::size_t i = 0; i < count; ++i) {
    const judge::GpuFacts& gpu = answer.gpus[i];
    const bool lacks_something = judge::unmet_need(gpu, answer).has_value();
    if (i > 0 && !lacks_something) continue;  // as the first
    if (i > 0) rows.push_back({Health::kOk, "GPU " + std::to_string(i), gpu.name, ""});
    add_needs(gpu, answer, has_virtual, rows);
    if (!lacks_something) rows.push_back(code_row(gpu, answer, places));
  }
  return rows;
}

Row vgpu_row(const fs::path& build) {
  if (judge::has_vgpu(build))
    return {Health::kOk, "virtual GPU", judge::vgpu_folder(build).string(), ""};
  return {Health::kWarning, "virtual GPU", "not built", "start with ./membound"};
}

Row sandbox_row() {
  const jail::Enforcement& here = jail::probe();
  if (here.untrusted_ok()) return {Health::kOk, "sandbox", here.describe(), ""};
  return {Health::kWarning, "sandbox", here.describe(),
          "sudo apt-get install bubblewrap, and allow user namespaces; needed only to grade other "
          "people's work, see docs/security.md"};
}

Row disk_row(const fs::path& folder) {
  std::error_code error;
  const auto space = fs::space(folder, error);
  const auto free_bytes = static_cast<double>(space.available);
  if (error)
    return {Health::kBad, "disk", folder.string() + ": " + error.message(), "make it writable"};
  const std::string found =
      report::number(free_bytes / kGigabyte) + " GB free for " + folder.string();
  if (free_bytes < kLittleSpace) return {Health::kBad, "disk", found, "make room"};
  if (free_bytes < kSomeSpace)
    return {Health::kWarning, "disk", found, "make room before building"};
  return {Health::kOk, "disk", found, ""};
}

std::string text_of(const Row& row, const report::Style& style) {
  static constexpr std::pair<const char*, report::Tone> kWords[] = {
      {"ok  ", report::Tone::kGood},
      {"warn", report::Tone::kWarning},
      {"bad ", report::Tone::kBad}};
  const auto& [word, tone] = kWords[static_cast<int>(row.health)];
  const int indent = 20;
  std::string text = style.paint(word, tone) + "  " + report::padded(row.what, 14);
  text += report::wrapped(row.found, style.width, indent).substr(indent);
  if (row.health != Health::kOk && !row.fix.empty())
    text += report::wrapped("fix: " + row.fix, style.width, indent);
  return text;
}

int run_doctor() {
  const fs::path build = build_folder();
  std::vector<Row> rows = course_rows(build);
  const auto root = course_root();
  const auto places = compilers::compiler_places(root ? *root : fs::path());
  const bool has_virtual = judge::has_vgpu(build);
  std::ranges::move(gpu_rows(judge::ask_gpu(), has_virtual, places), std::back_inserter(rows));
  rows.push_back(vgpu_row(build));
  rows.push_back(compiler_row(compilers::find_compiler(compilers::DeviceCompiler::kNvcc, places),
                              compilers::find_compiler(compilers::DeviceCompiler::kClang, places),
                              has_virtual));
  rows.push_back(sandbox_row());
  rows.push_back(disk_row(root ? state_folder(*root) : fs::current_path()));
  const report::Style style = report::Style::for_stream(STDOUT_FILENO);
  std::printf("membound %s\n", judge::kVersion);
  bool bad = false;
  for (const Row& row : rows) {
    std::fputs(text_of(row, style).c_str(), stdout);
    bad = bad || row.health == Health::kBad;
  }
  return bad ? kExitNotPassed : kExitPassed;
}

}  // namespace

void add_doctor(CLI::App& app, Action& chosen) {
  app.add_subcommand("doctor", "")->callback([&chosen] { chosen = run_doctor; });
}

}  // namespace membound::cli
