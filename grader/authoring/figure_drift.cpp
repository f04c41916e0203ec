// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/figure_drift.hpp"

#include <set>

#include "grader/authoring/figure.hpp"
#include "grader/base/text_files.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

/// The pictures of a folder: those that are there, and those that are described there.
std::set<fs::path> pictures_in(const fs::path& folder) {
  std::set<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    fs::path file = entry->path();
    if (file.extension() == ".txt") continue;  // in letters: handout_check looks at it
    files.insert(file.extension() == ".yml" ? file.replace_extension(".svg") : file);
  }
  return files;
}

/// Holds the picture against what was made of its source; with `fix`, writes it.
void compare(const fs::path& root, const fs::path& file, const base::Result<std::string>& made,
             const std::string& source, bool fix, FigureCheck& check) {
  const std::string shown = file.lexically_relative(root).generic_string();
  if (!made) {
    check.drifts.push_back({shown, 0, "cannot be made again: " + base::to_string(made.error()),
                            "a figure of kernels and descriptions as they are",
                            "membound dev figure --help"});
    return;
  }
  const auto old = base::read_file(file);
  if (old && *old == *made) return;
  if (fix && base::write_file(file, *made)) {
    ++check.rewritten;
    return;
  }
  check.drifts.push_back({shown, 0, source + " something else by now",
                          "the figure that its own command draws",
                          "membound dev check --fix, and look at it"});
}

bool is_described(const fs::path& file) {
  std::error_code error;
  return fs::exists(fs::path(file).replace_extension(".yml"), error);
}

}  // namespace

FigureCheck check_drawings(const judge::Workplace& place, const course::Lab& lab, bool fix) {
  FigureCheck check;
  for (const fs::path& file : pictures_in(place.root / "handouts" / lab.id / "figures")) {
    if (!is_described(file)) {
      const auto picture = base::read_file(file);
      if (!picture || figure_words(*picture).empty())
        check.drifts.push_back(
            {file.lexically_relative(place.root).generic_string(), 0,
             "it was drawn by hand: neither a description is beside it, nor does "
             "it name the run that drew it",
             "a generated figure", "docs/drawing_figures.md"});
      continue;
    }
    FigureOptions options;
    options.what =
        fs::path(file).replace_extension(".yml").lexically_relative(place.root).generic_string();
    compare(place.root, file, draw_figure(place, {}, options), "its description says", fix, check);
  }
  return check;
}

base::Result<FigureCheck> check_figures(const judge::Workplace& place, const course::Course& course,
                                        const course::Lab& lab, bool fix) {
  FigureCheck check;
  for (const fs::path& file : pictures_in(place.root / "handouts" / lab.id / "figures")) {
    if (is_described(file)) continue;
    const auto old = base::read_file(file);
    if (!old) return old.error();
    const std::vector<std::string> words = figure_words(*old);
    if (words.empty()) continue;
    const auto options = figure_options(words);
    const auto made =
        options ? draw_figure(place, course, *options) : base::Result<std::string>(options.error());
    if (!made && made.error().kind == base::ErrorKind::kMachine) return made.error();
    compare(place.root, file, made, "the kernels do", fix, check);
  }
  return check;
}

}  // namespace membound::authoring
