// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Experiments: one kernel at several points, beside what a document of the course printed, or a
/// whole program where no launch of one kernel shows it. A row each of
/// handouts/LAB/experiments.json; membound_experiment runs the kernels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::course {

/// One row of an experiment's table.
struct ExperimentPoint {
  int x = 0;                      ///< what the kernel's template and its launch are given
  std::string label;              ///< as the table shows it; x itself unless the row says otherwise
  int spread = 1;                 ///< arrays have so many times the usual number of words
  std::optional<double> printed;  ///< in the document's unit
};

/// What a program of a handout is started with: "67108864 2000".
struct ProgramArguments {
  std::vector<std::string> gpu, vgpu;
  int vgpu_multiprocessors = 0;  ///< of the virtual GPU, so that it takes seconds; 0: all
};

/// A row of a table.
struct Experiment {
  std::string name, title, lab;
  std::string section;         ///< of the lab's handout
  std::filesystem::path file;  ///< with the kernel
  std::string kernel;          ///< a template over x of the file, see docs/writing_a_lab.md
  std::string axis;            ///< what x is
  std::string unit;            ///< "GB/s" or "Gops/s"
  std::int64_t gpu_size = 0, vgpu_size = 0;  ///< n
  std::int64_t multiple_of = 1;              ///< every n is, so that the kernel needs no guards
  bool power_of_two = false;                 ///< every n is
  int array_power = 1;                       ///< arrays have n to this power words
  double amount_each = 0;                    ///< bytes or operations of n to the next power
  int amount_power = 1;
  std::string document_unit, document;  ///< empty where no document has figures
  std::vector<ExperimentPoint> points;
  /// Of an experiment that is a program: it prints its own table, and all from `kernel` to `points`
  /// is empty.
  std::optional<ProgramArguments> program = {};

  /// Bytes of each of the two arrays at this point; a word has four.
  [[nodiscard]] double array_bytes(std::int64_t n, const ExperimentPoint& point) const;
  /// Bytes or operations of one launch.
  [[nodiscard]] double amount(std::int64_t n) const;
  /// "a multiple of 256 and a power of two, at most 2147483647".
  [[nodiscard]] std::string size_rule() const;
  [[nodiscard]] bool takes_size(std::int64_t n) const;
};

/// One point, timed.
struct ExperimentTime {
  ExperimentPoint point;
  double time_ns = 0;
  double rate = 0;  ///< in the experiment's unit
};

/// An experiment that was run.
struct ExperimentRun {
  Experiment experiment;
  std::string device;
  bool predicted = false;
  std::int64_t size = 0;
  std::vector<ExperimentTime> times;
};

/// Adds those of one lab's handout; none where it has no experiments.json.
[[nodiscard]] base::Status read_experiments_of(const std::filesystem::path& handout_folder,
                                               std::vector<Experiment>& all);

/// All of root/handouts/*/experiments.json, by lab.
[[nodiscard]] base::Result<std::vector<Experiment>> read_experiments(
    const std::filesystem::path& root);

/// The one of this name; the error names the nearest, and how to list all.
[[nodiscard]] base::Result<Experiment> find_experiment(const std::vector<Experiment>& all,
                                                       const std::string& name);

}  // namespace membound::course
