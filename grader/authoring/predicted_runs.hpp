// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs what the handouts tell to run, experiments and ordinary programs, for the figures that they
/// quote of it.
/// Place in the chain: handouts/predicted.csv -> [predicted_runs] -> predicted_figures. Left out:
/// running checks of a lab, whose figures come with their proofs.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "grader/authoring/predicted_figures.hpp"
#include "grader/authoring/proof.hpp"
#include "grader/judge/tools.hpp"

namespace membound::authoring {

/// What a claim's check said; nothing of a skeleton's, which says nothing.
[[nodiscard]] SaidFigures figures_of(const Proof& proof);

/// What `run` of this lab's handout says. Either "experiment NAME": "LABEL.us" and "LABEL.gbs" of
/// each point. Or "[MEMBOUND_SMS=8] FILE.cu ARGUMENTS…", a program of the handout's folder, which
/// nvcc compiles: what it prints, see lines_of_output(), and of each kernel's first launch, and
/// last one, the counters and bounds, "copy.global_load_sectors", "copy last.us of DRAM bandwidth".
[[nodiscard]] base::Result<SaidFigures> figures_of_run(const judge::Workplace& place,
                                                       const judge::Tools& tools,
                                                       const std::string& lab,
                                                       const std::string& run,
                                                       const std::atomic<bool>* stop);

}  // namespace membound::authoring
