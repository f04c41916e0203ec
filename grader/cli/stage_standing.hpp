// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How far a student is with a stage. It never goes back: a stage that passed once stays passed,
/// and one whose skeleton is untouched has not been started, whatever a check of it said. Place in
/// the chain: state, kernel.cu -> [stage_standing] -> list, progress, next.
#pragma once

#include <set>
#include <string>

#include "grader/cli/command_context.hpp"

namespace membound::cli {

/// Of one stage.
struct Standing {
  judge::StageState state;
  bool started = false;

  [[nodiscard]] bool passed() const { return state.ever_passed; }
  [[nodiscard]] report::Tone tone() const;
  /// "passed", "too slow", "not started", "not checked yet".
  [[nodiscard]] std::string words() const;
};

/// Stages of `lab` whose skeleton is untouched and that have not passed.
[[nodiscard]] std::set<int> untouched_stages(const Context& context, const course::Lab& lab);

/// The standings of a lab's stages, in their order.
[[nodiscard]] std::vector<Standing> standings_of(const Context& context, const course::Lab& lab);

/// `result` as the terminal shows it: where all compiles, the compiler's words are its warnings,
/// and none about the lab's own skeleton in an untouched stage.
[[nodiscard]] course::Result with_own_warnings(const Context& context, const course::Lab& lab,
                                               course::Result result);

}  // namespace membound::cli
