// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Every figure of one GPU that pages quote, made by one command (`membound dev figures`) and kept
/// in one file, handouts/measured_GPU.csv, a row a figure:
///
///     lab,run,figure,role,value,unit,size,date,driver
///     03-transpose,bench transpose float 16384 x 16384,6 transpose_fast.gbs,stage,4161,GB/s,…
///
/// `run` is empty for the reference answers' own check, else "wrong/NAME", "experiment NAME" or
/// "bench TITLE" (membound_bench: beside the libraries). Figures are called as in
/// predicted_figures.hpp. A page's tables are written from the file; a row of
/// handouts/predicted.csv whose device is the GPU's name holds any other text against it.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/authoring/lab_check.hpp"
#include "grader/authoring/predicted_figures.hpp"
#include "grader/authoring/written_parts.hpp"
#include "grader/base/result.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/judge/check_request.hpp"

namespace membound::authoring {

/// A row of the file.
struct MeasuredFigure {
  std::string lab, run, figure;
  std::string role;  ///< in a bench: "stage", "library", "ceiling", "experiment"; else empty
  double value = 0;
  std::string unit;  ///< "GB/s", "Tops/s", "µs", …; empty: as a program prints it
  std::string size;  ///< of the work, as the run calls it
  std::string date, driver;
};
using MeasuredFigures = std::vector<MeasuredFigure>;

/// The rows of one file; none where it is not there.
[[nodiscard]] base::Result<MeasuredFigures> read_measured(const std::filesystem::path& file);
/// Writes it whole, so that an interrupted call leaves the old one.
[[nodiscard]] base::Status write_measured(const std::filesystem::path& file,
                                          const MeasuredFigures& figures);

/// Of all GPUs, by name: "h200" of root/handouts/measured_h200.csv.
[[nodiscard]] base::Result<std::map<std::string, MeasuredFigures>> read_all_measured(
    const std::filesystem::path& root);

/// "h100" of "NVIDIA H100 80GB HBM3", "geforce-rtx-4090" of "NVIDIA GeForce RTX 4090".
[[nodiscard]] std::string gpu_name_in_files(const std::string& name);

/// What one run of a lab said, for check_predicted().
[[nodiscard]] SaidFigures said_by(const MeasuredFigures& figures, const std::string& lab,
                                  const std::string& run);

/// One thing to run. A bench's lab is known when it has run.
struct FigureRun {
  std::string lab, run;
  friend bool operator==(const FigureRun&, const FigureRun&) = default;
};

/// Everything that gives figures on this device, in the labs' order: reference answers, slow wrong
/// answers, experiments; and contests where membound_bench is built and the device is a GPU.
[[nodiscard]] base::Result<std::vector<FigureRun>> figure_runs(
    const judge::Workplace& place, const judge::Tools& tools,
    const std::vector<const course::Lab*>& labs);

/// Whether the file has its figures.
[[nodiscard]] bool is_done(const FigureRun& run, const MeasuredFigures& figures);

/// Runs it: its rows, with today's date. Empty where `stop` ended it.
[[nodiscard]] base::Result<MeasuredFigures> measure_figures(
    const judge::Workplace& place, const judge::Tools& tools,
    const std::vector<const course::Lab*>& labs, const FigureRun& run,
    const std::atomic<bool>* stop);

/// The tables of a lab's handout between "<!-- speeds of TITLE: written by … -->" and its end: all
/// contests whose titles begin so, or "stages" for the reference answers' own check. A column a
/// GPU.
[[nodiscard]] base::Result<std::vector<WrittenPart>> speed_parts(const course::Lab& lab,
                                                                 const std::filesystem::path& root);

/// Which texts of handouts/predicted.csv about a GPU do not show what its file has; with `fix`,
/// writes it into the pages.
[[nodiscard]] std::vector<Drift> check_measured_texts(const std::string& lab,
                                                      const std::filesystem::path& root, bool fix);

}  // namespace membound::authoring
