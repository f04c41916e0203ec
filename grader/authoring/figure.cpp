// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/figure.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <set>

#include "grader/authoring/drawing.hpp"
#include "grader/authoring/figure_run.hpp"
#include "grader/authoring/figure_words.hpp"
#include "grader/base/text_files.hpp"
#include "grader/report/access_picture.hpp"
#include "grader/report/step_through.hpp"
#include "grader/report/text.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;
using course::KernelProfile;
using course::MemoryAccess;

/// The lines `wanted` means: a number, or all that hold the text.
std::set<int> wanted_lines(const Traced& traced, const std::string& wanted) {
  int number = 0;
  const auto [end, code] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (code == std::errc() && end == wanted.data() + wanted.size()) return {number};
  std::set<int> lines;
  const auto text = base::read_file(traced.source);
  if (!text) return lines;
  int line = 1;
  for (std::size_t at = 0; at < text->size(); ++line) {
    const std::size_t stop = std::min(text->find('\n', at), text->size());
    if (text->substr(at, stop - at).find(wanted) != std::string::npos) lines.insert(line);
    at = stop + 1;
  }
  return lines;
}

bool is_of(const Traced& traced, const MemoryAccess& access) {
  return traced.source.empty() || fs::path(access.file).filename() == traced.source.filename();
}

bool fits(const FigureOptions& options, const Traced& traced, const std::set<int>& lines,
          const MemoryAccess& access) {
  if (options.ptx_line > 0 && access.ptx_line != options.ptx_line) return false;
  if (!options.line.empty() && (!lines.contains(access.line) || !is_of(traced, access)))
    return false;
  if (!options.access.empty() && access.kind != options.access) return false;
  return options.kind.empty() || (options.kind == "banks") == access.is_shared();
}

/// "line 40: load, 4 sectors per request, ideal 4".
std::string access_text(const MemoryAccess& access) {
  const std::string place = access.line > 0 ? "line " + std::to_string(access.line)
                                            : "PTX line " + std::to_string(access.ptx_line);
  return place + ": " + (access.is_shared() ? "shared " : "") + access.kind + ", " +
         report::cost_in_words(access);
}

std::string list_accesses(const std::vector<const KernelProfile*>& kernels) {
  std::vector<std::string> rows;
  for (const KernelProfile* kernel : kernels)
    for (const MemoryAccess& access : kernel->accesses)
      if (std::find(rows.begin(), rows.end(), access_text(access)) == rows.end())
        rows.push_back(access_text(access));
  std::string text = rows.empty() ? "none at all by this warp: does it run?" : "";
  for (const std::string& row : rows) text += "\n    " + row;
  return text;
}

/// Those that `--kernel` means, at least one.
base::Result<std::vector<const KernelProfile*>> kernels_of(const FigureOptions& options,
                                                           const Traced& traced) {
  std::vector<const KernelProfile*> kernels;
  for (const KernelProfile& profile : traced.profiles)
    if (profile.name.find(options.kernel) != std::string::npos) kernels.push_back(&profile);
  if (!kernels.empty()) return kernels;
  std::vector<std::string> names;
  for (const KernelProfile& profile : traced.profiles) names.push_back(profile.name);
  return input_error("--kernel " + options.kernel, "no kernel that ran has this in its name",
                     report::listed(names), "");
}

/// The accesses of one kernel that are meant; those of different kinds are not mixed up.
base::Result<const MemoryAccess*> choose(const FigureOptions& options, const Traced& traced,
                                         const KernelProfile** chosen) {
  const auto meant = kernels_of(options, traced);
  if (!meant) return meant.error();
  const std::vector<const KernelProfile*>& kernels = *meant;
  const std::set<int> lines = wanted_lines(traced, options.line);
  std::vector<const MemoryAccess*> found;
  for (const KernelProfile* kernel : kernels) {
    for (const MemoryAccess& access : kernel->accesses)
      if (fits(options, traced, lines, access)) found.push_back(&access);
    *chosen = kernel;
    if (!found.empty()) break;
  }
  const std::string where = options.ptx_line > 0 ? "--ptx-line " + std::to_string(options.ptx_line)
                                                 : "--line " + options.line;
  if (found.empty()) {
    return input_error(where,
                       "block " + options.block + ", warp " + std::to_string(options.warp) +
                           " makes no such access",
                       "one of these:" + list_accesses(kernels), "");
  }
  for (const MemoryAccess* access : found) {
    if (access->kind == found.front()->kind && access->space == found.front()->space) continue;
    return input_error(
        where,
        "has different accesses: " + access_text(*found.front()) + "; " + access_text(*access),
        "one of them", "--access load|store, --kind sectors|banks");
  }
  if (static_cast<std::size_t>(options.occurrence) >= found.size()) {
    return input_error("--occurrence " + std::to_string(options.occurrence),
                       "the warp makes this access " + std::to_string(found.size()) + " times",
                       "a number below that; the first is 0", "");
  }
  return found[static_cast<std::size_t>(options.occurrence)];
}

std::string warp_in_words(const FigureOptions& options, const KernelProfile& kernel) {
  const auto& block = kernel.traced_block;
  std::string text = "block (" + std::to_string(block[0]) + ", " + std::to_string(block[1]) + ", " +
                     std::to_string(block[2]) + "), warp " + std::to_string(kernel.traced_warp);
  if (options.occurrence > 0)
    text += ", access " + std::to_string(options.occurrence + 1) + " of the line";
  return text;
}

/// `svg` with the command that made it behind the license.
std::string with_mark(std::string svg, const FigureOptions& options) {
  const std::string license = "<!-- SPDX-License-Identifier: Apache-2.0 -->\n";
  svg.insert(svg.find(license) + license.size(), figure_mark(options));
  return svg;
}

/// The warp's first accesses, one after the other.
base::Result<std::string> draw_first_steps(const FigureOptions& options, const Traced& traced) {
  const auto kernels = kernels_of(options, traced);
  if (!kernels) return kernels.error();
  const KernelProfile& kernel = *kernels->front();
  std::vector<MemoryAccess> accesses = kernel.accesses;
  accesses.resize(std::min(accesses.size(), static_cast<std::size_t>(options.steps)));
  if (accesses.empty())
    return input_error("--steps " + std::to_string(options.steps),
                       "block " + options.block + ", warp " + std::to_string(options.warp) +
                           " of " + kernel.name + " asks nothing of memory",
                       "a warp that does", "--block, --warp");
  return report::draw_steps(accesses, options.title.empty() ? traced.subject : options.title,
                            warp_in_words(options, kernel));
}

base::Result<std::string> draw_one_access(const FigureOptions& options, const Traced& traced) {
  const KernelProfile* kernel = nullptr;
  const auto access = choose(options, traced, &kernel);
  if (!access) return access.error();
  std::string title = options.title;
  if (title.empty())
    title =
        traced.subject + ": " + access_text(**access).substr(0, access_text(**access).find(','));
  return report::draw_access(**access, title, warp_in_words(options, *kernel));
}

/// The figure of a description, which is named from the course's root on or from here.
base::Result<std::string> draw_described(const judge::Workplace& place, FigureOptions options) {
  std::error_code error;
  fs::path file = place.root / options.what;
  if (!fs::exists(file, error)) file = fs::absolute(options.what, error);
  const auto text = base::read_file(file);
  if (!text) return text.error();
  options.what = file.lexically_normal().lexically_proximate(place.root).generic_string();
  auto svg = draw_description(*text, options.what, place.root);
  return svg ? base::Result<std::string>(with_mark(*std::move(svg), options)) : svg.error();
}

}  // namespace

void add_figure_options(CLI::App& app, FigureOptions& options) {
  const auto one_of = [](std::initializer_list<std::string> words) {
    return CLI::IsMember(std::vector<std::string>(words));
  };
  app.add_option("LAB", options.what)->required();
  app.add_option("--stage", options.stage)->check(CLI::NonNegativeNumber);
  app.add_option("--answer", options.answer);
  app.add_option("--line", options.line);
  app.add_option("--ptx-line", options.ptx_line)->check(CLI::NonNegativeNumber);
  app.add_option("--kernel", options.kernel);
  app.add_option("--access", options.access)->check(one_of({"load", "store"}));
  app.add_option("--kind", options.kind)->check(one_of({"sectors", "banks"}));
  app.add_option("--block", options.block);
  app.add_option("--warp", options.warp)->check(CLI::NonNegativeNumber);
  app.add_option("--occurrence", options.occurrence)->check(CLI::Range(0, 4000));
  app.add_option("--steps", options.steps)->check(CLI::Range(0, 64));
  app.add_option("--size", options.size);
  app.add_option("--title", options.title);
  app.add_option("--device", options.device);
  app.add_option("--compiler", options.compiler)->check(one_of({"nvcc", "clang"}));
}

base::Result<std::string> draw_figure(const judge::Workplace& place, const course::Course& course,
                                      const FigureOptions& asked) {
  if (asked.what.ends_with(".yml")) return draw_described(place, asked);
  FigureOptions options = asked;
  if (options.line.empty() && options.ptx_line == 0 && options.steps == 0) {
    return base::Error{base::ErrorKind::kUsage, "membound dev figure", "which access is not said",
                       "--line NUMBER, --line TEXT, --ptx-line NUMBER or --steps NUMBER",
                       "membound dev figure --help"};
  }
  while (std::count(options.block.begin(), options.block.end(), ',') < 2) options.block += ",0";
  const bool file = options.what.ends_with(".json");
  const auto traced = file ? read_counters(options) : run_lab(place, course, options);
  if (!traced) return traced.error();
  auto svg =
      options.steps > 0 ? draw_first_steps(options, *traced) : draw_one_access(options, *traced);
  return svg ? base::Result<std::string>(with_mark(*std::move(svg), asked)) : svg.error();
}

}  // namespace membound::authoring
