// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/figure_drift.hpp"

#include <algorithm>

#include "grader/authoring/figure.hpp"
#include "grader/base/text_files.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> pictures_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".svg") files.push_back(entry->path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

base::Result<FigureCheck> check_figures(const judge::Workplace& place, const course::Course& course,
                                        const course::Lab& lab, bool fix) {
  FigureCheck check;
  for (const fs::path& file : pictures_in(place.root / "handouts" / lab.id / "figures")) {
    const auto old = base::read_file(file);
    if (!old) return old.error();
    const std::vector<std::string> words = figure_words(*old);
    if (words.empty()) continue;
    const std::string shown = file.lexically_relative(place.root).generic_string();
    const auto options = figure_options(words);
    const auto made =
        options ? draw_figure(place, course, *options) : base::Result<std::string>(options.error());
    if (!made) {
      if (made.error().kind == base::ErrorKind::kMachine) return made.error();
      check.drifts.push_back({shown, 0, "cannot be made again: " + base::to_string(made.error()),
                              "a figure of the kernels as they are", "membound dev figure --help"});
      continue;
    }
    ++check.checked;
    if (*made == *old) continue;
    if (fix) {
      const auto written = base::write_file(file, *made);
      if (!written) return written.error();
      ++check.rewritten;
      continue;
    }
    check.drifts.push_back({shown, 0, "the kernels do something else by now",
                            "the figure that its own command draws",
                            "membound dev check " + lab.id + " --fix, and look at it"});
  }
  return check;
}

}  // namespace membound::authoring
