// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "docs/site/page_rules.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/report/access_picture.hpp"
#include "grader/report/experiment_text.hpp"
#include "grader/report/handout.hpp"
#include "grader/report/program_profile.hpp"
#include "grader/report/progress_page.hpp"
#include "grader/report/result_page.hpp"

namespace membound::site {
namespace {

constexpr double kEnough = 4.5;  // WCAG 2.1, level AA, text of any size

/// A colour on a ground, by the names that a style sheet gives them.
struct Pair {
  std::string text, ground;
};

const std::vector<Pair> kReading = {
    {"ink", "page"},         {"faint", "page"},      {"link", "page"},
    {"sector", "page"},      {"shared", "page"},     {"ink", "code"},
    {"word", "code"},        {"remark", "code"},     {"text", "code"},
    {"sector", "code"},      {"faint", "code"},      {"ink", "sector-soft"},
    {"link", "sector-soft"}, {"ink", "shared-soft"}, {"faint", "shared-soft"},
    {"link", "shared-soft"}};
const std::vector<Pair> kCheck = {{"ink", "page"},  {"faint", "page"}, {"good", "page"},
                                  {"link", "page"}, {"bad", "page"},   {"ink", "hot"},
                                  {"bad", "hot"},   {"ink", "code"},   {"faint", "code"}};
const std::vector<Pair> kPictures = {{"mb-ink", "mb-page"},    {"mb-faint", "mb-page"},
                                     {"mb-strong", "mb-page"}, {"mb-ink", "mb-lane"},
                                     {"mb-ink", "mb-bank"},    {"mb-ink", "mb-hatch"}};

/// The colours that follow `before` and a name, and `between` and a "#"; the second of a name is
/// that of the dark look.
using Colours = std::map<std::string, std::vector<std::string>>;

Colours colours_of(std::string_view css, std::string_view before, std::string_view between) {
  Colours colours;
  for (auto at = css.find(before); at != css.npos; at = css.find(before, at)) {
    at += before.size();
    const auto end = css.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
    if (end == css.npos) break;
    const std::string name(css.substr(at, end - at));
    std::string_view rest = css.substr(end);
    if (!rest.starts_with(between)) continue;
    rest.remove_prefix(between.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.starts_with('#')) colours[name].emplace_back(rest.substr(0, 7));
  }
  return colours;
}

void hold(const std::string& sheet, const Colours& colours, const std::vector<Pair>& pairs,
          const std::string& cut, Problems& problems) {
  for (const auto& [text, ground] : pairs)
    for (const std::size_t look : {0, 1}) {
      const auto one = colours.find(text.substr(cut.size()));
      const auto other = colours.find(ground.substr(cut.size()));
      if (one == colours.end() || other == colours.end() || one->second.size() <= look ||
          other->second.size() <= look) {
        problems.push_back(sheet + ": no colours for " + text + " on " + ground);
        break;
      }
      const double reached = contrast(one->second[look], other->second[look]);
      if (reached >= kEnough) continue;
      char number[32];
      std::snprintf(number, sizeof number, "%.2f", reached);
      problems.push_back(sheet + ": " + text + " on " + ground + ", " +
                         (look == 0 ? "light" : "dark") + ", has a contrast of " + number +
                         "; 4.5 is enough");
    }
}

course::MemoryAccess sample_access() {
  course::MemoryAccess access;
  access.line = 7;
  access.mask = 0xFFFFFFFF;
  access.bytes = 4;
  for (std::size_t lane = 0; lane < 32; ++lane) access.offsets[lane] = 4 * lane;
  access.units = access.ideal = 4;
  return access;
}

course::KernelProfile sample_kernel() {
  course::KernelProfile kernel;
  kernel.name = "transpose_a_tile_with_a_name_that_is_long<float, double>";
  kernel.predicted_ns = 10;
  kernel.bounds = {{"DRAM bandwidth", 10}};
  kernel.accesses = {sample_access(), sample_access()};
  for (course::MemoryAccess& access : kernel.accesses) access.file = "kernel.cu";
  return kernel;
}

/// A page with all that a page of a check can have.
std::string check_page() {
  course::Result result;
  result.title = "Transpose a matrix";
  result.compiler_output = "kernel.cu(7): error: expected a \";\"";
  course::StageResult stage;
  stage.stage = 1;
  stage.title = "A tile";
  stage.verdict = course::Verdict::kSlow;
  stage.speed = 1e12;
  stage.reference_speed = 2e12;
  stage.ratio = 0.5;
  stage.tests = {{.name = "First", .message = "7, not 8"}};
  stage.findings = {{"racecheck", "data race", "", "", "/x/kernel.cu", 7, "a barrier"}};
  stage.profiles = {sample_kernel()};
  result.stages = {stage};
  return report::render_html(result, {});
}

std::string profile_page() {
  return report::program_page({.program = "./a.out 1048576",
                               .device = "NVIDIA H200 (virtual)",
                               .kernels = {sample_kernel(), sample_kernel()}},
                              {});
}

std::string progress_page() {
  return report::progress_page(
      {{"00-hello", "Hello", {{1, "One", "passed", report::Tone::kGood, 20, 20}}},
       {"03-transpose",
        "Transpose a matrix",
        {{1, "A title as long as some", "too slow, 0.67 of 0.75", report::Tone::kBad, 5, 45, true},
         {2, "Two", "not started", report::Tone::kFaint, 0, 30}}}},
      "Next: 03-transpose/1\n  ./membound check 03-transpose/1");
}

std::string experiment_page() {
  course::ExperimentRun run;
  run.experiment.name = "strides";
  run.experiment.title = "A copy, lanes 1, 2, 4, … words apart";
  run.experiment.axis = "words apart";
  run.experiment.unit = run.experiment.document_unit = "GB/s";
  run.experiment.document = "a document";
  run.times = {{{1, "in order", 1, 256.0}, 10, 800}, {{121, "121", 1, 8.0}, 100, 80}};
  return report::experiment_page(run);
}

}  // namespace

double contrast(std::string_view one, std::string_view other) {
  const auto luminance = [](std::string_view colour) {
    constexpr std::array<double, 3> kShare = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double part =
          std::strtol(std::string(colour.substr(1 + 2 * i, 2)).c_str(), nullptr, 16) / 255.0;
      sum += kShare[i] * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
  };
  const double a = luminance(one), b = luminance(other);
  return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

Problems contrast_problems(const std::filesystem::path& root) {
  Problems problems;
  for (const auto& [sheet, pairs] : {std::pair("grader/report/templates/reading.css", &kReading),
                                     std::pair("grader/report/templates/style.css", &kCheck)}) {
    const auto css = base::read_file(root / sheet);
    if (css)
      hold(sheet, colours_of(*css, "--", ":"), *pairs, "", problems);
    else
      problems.push_back(base::to_string(css.error()));
  }
  const std::string svg = report::draw_steps({sample_access()}, "t", "w");
  hold("pictures", colours_of(svg, ".mb-", "{fill:"), kPictures, "mb-", problems);
  return problems;
}

Problems check_rules(const course::Course& course) {
  Problems problems = contrast_problems(course.root);
  std::map<std::string, std::string> pages = {{"check", check_page()},
                                              {"profile", profile_page()},
                                              {"experiment", experiment_page()},
                                              {"progress", progress_page()}};
  for (const course::Lab& lab : course.labs) {
    const auto text = base::read_file(course.root / lab.handout);
    if (!text) {
      problems.push_back(base::to_string(text.error()));
      continue;
    }
    report::HandoutView view{.lab = lab.id};
    view.addresses.link = [](std::string_view) { return std::string(); };
    view.addresses.figure = [&](std::string_view target) -> report::FigureSource {
      const auto svg = base::read_file((course.root / lab.handout).parent_path() / target);
      return svg ? report::figure_source(*svg, report::inlined_address(*svg))
                 : report::FigureSource{std::string(target)};
    };
    view.unlocked = [](int) { return true; };
    if (const auto glossary = base::read_file(course.root / "docs/glossary.md"))
      view.terms = report::gpu_terms(*glossary);
    const auto body = report::handout_body(*text, lab.handout.generic_string(), view);
    if (body)
      pages["handout_" + lab.id] = report::standalone_page(*body);
    else
      problems.push_back(base::to_string(body.error()));
  }
  for (const auto& [name, html] : pages)
    for (std::string& problem : page_problems(html, name, true)) problems.push_back(problem);
  const base::ScratchFolder folder("membound-pages");
  std::vector<std::filesystem::path> files;
  for (const auto& [name, html] : pages) {
    files.push_back(folder.path() / (name + ".html"));
    if (const auto written = base::write_file(files.back(), html); !written)
      problems.push_back(base::to_string(written.error()));
  }
  for (std::string& problem : browser_problems(course.root, files))
    problems.push_back(std::move(problem));
  return problems;
}

}  // namespace membound::site
