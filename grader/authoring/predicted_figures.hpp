// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Figures in the pages that a virtual GPU predicts, and the runs of experiments and programs
/// that they quote. Pages hold the figures; handouts/predicted.csv says, text by text, what
/// each of them is:
///
///     lab,device,run,page,text
///     00-hello-gpu,vgpu:h200,,handouts/00-hello-gpu/handout.md,{2.gbs} instead of {1.gbs}.
///
/// Between braces stands what figures_of() or lines_of_output() calls it, or a quotient: "2.gbs
/// / 1.gbs", in percent with " %" after it; nothing for a number that another row is about. A
/// figure may lie kNear from what is predicted, for each change of the clock moves all of them
/// a little; a count must be what its digits show.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/authoring/claims.hpp"
#include "grader/authoring/lab_check.hpp"
#include "grader/base/result.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/judge/check_request.hpp"

namespace membound::authoring {

/// How far a predicted figure may lie from the prediction, as a share of it.
inline constexpr double kNear = 0.03;

/// A row of handouts/predicted.csv.
struct PredictedText {
  int line = 0;
  std::string lab, device;
  std::string run;   ///< empty: checks of the lab; else what figures_of_run() starts
  std::string page;  ///< below the root
  std::string text;
};

/// All rows. None in a tree without the file.
[[nodiscard]] base::Result<std::vector<PredictedText>> read_predicted(
    const std::filesystem::path& root);

/// Something a run said.
struct SaidFigure {
  double value = 0;
  bool counted = false;  ///< no clock had a hand in it
};
using SaidFigures = std::map<std::string, SaidFigure>;

/// What a check of one stage said. `subject` is "2", the reference answer of stage 2, or a wrong
/// answer's name: "2.gbs" or "2.tops", "2.us", "2.answer" (to the stage's question), "2.ratio";
/// "2.gbs of 2^24 floats" of one timed case; "2.us of DRAM bandwidth", a bound; "2.sectors a store"
/// of a request, "2.wavefronts a shared load"; and "2 NOTE:3", the third number of the note that
/// begins so.
[[nodiscard]] SaidFigures figures_of(const std::string& subject, const course::StageResult& stage);

/// Of each line that ends its words before its first number, the numbers: "two events:2".
[[nodiscard]] SaidFigures lines_of_output(const std::string& output);

/// Whether every row's text stands on its page, and its figures are of a form that can be said.
[[nodiscard]] std::vector<Drift> check_predicted_texts(const std::string& lab,
                                                       const std::filesystem::path& root);

/// Which figures of `rows` are not what was said; with `fix`, writes those into the pages. A figure
/// that nothing said is a drift if `all` was run that the rows are about.
[[nodiscard]] std::vector<Drift> check_predicted(const std::vector<PredictedText>& rows,
                                                 const SaidFigures& said, bool all,
                                                 const std::string& command,
                                                 const std::filesystem::path& root, bool fix);

/// What a claim's check said; nothing of a skeleton's, which says nothing.
[[nodiscard]] SaidFigures figures_of(const Proof& proof);

/// What `run` of this lab's handout says. Either "experiment NAME": "LABEL.us" and "LABEL.gbs" of
/// each point, or what its program says as below. Or "[MEMBOUND_SMS=8] FILE.cu ARGUMENTS…", a
/// program of the handout's folder, which nvcc compiles: what it prints, see lines_of_output(), and
/// of each kernel's first launch, and last one, the counters and bounds,
/// "copy.global_load_sectors", "copy last.us of DRAM bandwidth".
[[nodiscard]] base::Result<SaidFigures> figures_of_run(const judge::Workplace& place,
                                                       const judge::Tools& tools,
                                                       const std::string& lab,
                                                       const std::string& run,
                                                       const std::atomic<bool>* stop);

}  // namespace membound::authoring
