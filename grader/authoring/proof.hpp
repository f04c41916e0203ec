// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs what a lab's author claims.
/// Place in the chain: claims -> [proof] -> judge. Left out: what can be seen without
/// running, which grader/authoring checks.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "grader/authoring/claims.hpp"
#include "grader/base/result.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/judge/tools.hpp"

namespace membound::authoring {

/// What running it showed.
struct Proof {
  Claim claim;
  bool holds = false;
  std::string shown;                             ///< "as claimed", or what happened instead
  std::vector<course::StageResult> stages = {};  ///< by the first compiler
};

/// Whether a result is what was claimed. Pure.
[[nodiscard]] Proof compare(const Claim& claim, const course::Result& result);

/// Adds what the checkers of the virtual GPU found: first what is claimed, or nothing. Pure.
void add_findings(Proof& proof, const course::Result& result);

/// Adds what the same submission showed with another compiler: the claim must hold there as well,
/// and every stage must have the same verdict for the same reason. Pure.
void add_second(Proof& proof, const course::Result& first, const course::Result& second);

/// Runs all claims, with judge::Tools::second_compiler too where there is one, several at once on
/// the virtual GPU; `on_proof` hears of each when it is there. The proofs come in the order of the
/// claims; fewer when stopped.
[[nodiscard]] base::Result<std::vector<Proof>> prove(
    const judge::Workplace& place, const judge::Tools& tools, const judge::CheckOptions& options,
    const std::vector<Claim>& claims, const std::atomic<bool>* stop,
    const std::function<void(const Proof&)>& on_proof);

}  // namespace membound::authoring
