// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An experiment as text, as a page that needs nothing beside it, and as JSON: what was found,
/// a document's figures in a column beside it, and both as curves.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "grader/course/experiment.hpp"
#include "grader/report/text.hpp"

namespace membound::report {

/// The table, at most as wide as `style`. Its last column is the curve: each rate as a share of the
/// largest, and a mark where the printed one stands as a share of its own largest.
[[nodiscard]] std::string render_experiment(const course::ExperimentRun& run, const Style& style);

/// One line an experiment.
[[nodiscard]] std::string render_experiments(const std::vector<course::Experiment>& all,
                                             const Style& style);

/// The curves as a picture.
[[nodiscard]] std::string experiment_picture(const course::ExperimentRun& run);

/// A whole page.
[[nodiscard]] std::string experiment_page(const course::ExperimentRun& run);

/// name, title, lab, device, predicted, size, axis, unit, document_unit, document and rows of x,
/// label, time_ns, rate and printed (null where there is none).
[[nodiscard]] nlohmann::json experiment_json(const course::ExperimentRun& run);

}  // namespace membound::report
