// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Figures of handouts: runs a kernel on the virtual GPU and draws what one access of one warp
/// does, or draws what a description says; and tells whether the figures that were once made so
/// are still true.
#pragma once

#include <string>
#include <vector>

#include "grader/authoring/lab_check.hpp"
#include "grader/base/result.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/judge/workplace.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace membound::authoring {

/// What is to be drawn, as the command line gives it.
struct FigureOptions {
  std::string what;  ///< a lab, a counters file (FILE.json), or a description (FILE.yml)
  int stage = 0;     ///< 0: the lab's first
  std::string answer = "reference";  ///< or "skeleton", or a file
  std::string line;                  ///< a number, or a part of the line's text
  int ptx_line = 0;                  ///< instead of `line`
  std::string kernel;                ///< a part of its readable name: "<double>"
  std::string access;                ///< load, store or atomic
  std::string kind;                  ///< sectors or banks
  std::string block = "0,0,0";
  int warp = 0;
  int occurrence = 0;        ///< of this line's accesses, in the order they are made
  int steps = 0;             ///< not 0: so many instead of one access, from the warp's first on
  bool moving = false;       ///< the steps below each other, in a picture that moves by itself
  bool schedulings = false;  ///< the steps under both schedulings of a warp, side by side
  std::string size;          ///< of the problem: "256x256"; empty: the lab's
  std::string title;
  std::string device = "vgpu:h200";
  std::string compiler;
};

/// Adds everything but where to write.
void add_figure_options(CLI::App& app, FigureOptions& options);

/// The SVG picture; it names the command that made it.
[[nodiscard]] base::Result<std::string> draw_figure(const judge::Workplace& place,
                                                    const course::Course& course,
                                                    const FigureOptions& options);

/// The words of the command that made `svg`; empty if it was not made by one.
[[nodiscard]] std::vector<std::string> figure_words(const std::string& svg);
/// The options that such words stand for.
[[nodiscard]] base::Result<FigureOptions> figure_options(const std::vector<std::string>& words);

// A figure names the command that made it, as an XML processing instruction after the license:
//   <?membound-figure 03-transpose --stage 1 --line "out[at(" --size 256x256?>
// so that `membound dev check` can make it again and see whether it is still true.

/// The instruction's line. Options that have their default are left out, and so are machine
/// matters: --compiler.
[[nodiscard]] std::string figure_mark(const FigureOptions& options);

/// What came of a lab's figures.
struct FigureCheck {
  std::vector<Drift> drifts;
  int rewritten = 0;
};

/// Draws each described figure of the lab's handout again and compares. With `fix` the new one
/// stays. A figure that is neither described nor made by a run is a drift. Needs no device.
[[nodiscard]] FigureCheck check_drawings(const judge::Workplace& place, const course::Lab& lab,
                                         bool fix);

/// The same for each figure that a run made; an error where nothing can be run.
[[nodiscard]] base::Result<FigureCheck> check_figures(const judge::Workplace& place,
                                                      const course::Course& course,
                                                      const course::Lab& lab, bool fix);

// A figure from its description, `handouts/LAB/figures/NAME.yml`: shapes with sums for places,
// repeated where they repeat, in the colours of drawing_looks.def. docs/drawing_figures.md is the
// reference; drawing.cpp makes it.

/// The SVG picture of the description `text`. `name` stands before the line in messages; tables of
/// its facts are below `root`.
[[nodiscard]] base::Result<std::string> draw_description(const std::string& text,
                                                         const std::string& name,
                                                         const std::filesystem::path& root);

}  // namespace membound::authoring
