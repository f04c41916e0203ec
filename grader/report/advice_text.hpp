// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The guided analysis of a kernel as text: what makes it slow, what each would gain, what to try.
/// Place in the chain: course/kernel_profile -> [advice_text] -> check, profile, run --profile.
#pragma once

#include <string>

#include "grader/course/lab_result.hpp"
#include "grader/report/style.hpp"

namespace membound::report {

/// The kernel that takes the most time of all a stage launched; null where none was counted.
[[nodiscard]] const course::KernelProfile* costliest(const course::StageResult& stage);

/// Whether `finding` stands in the table of the guided analysis already.
[[nodiscard]] bool is_advice(const course::Finding& finding, const course::StageResult& stage);

/// "line 26", or nothing where no line is to blame.
[[nodiscard]] std::string place_of(const course::SpeedAdvice& advice);

/// The counter that shows it: "shared_wavefronts 557,056", and by whom where two counted.
[[nodiscard]] std::string evidence_of(const course::SpeedAdvice& advice);

/// The handout that explains it: "05-bank-conflicts, When does it cost time?".
[[nodiscard]] std::string explained_in(const course::SpeedAdvice& advice);

/// The first few faults, the largest gain first; nothing where there are none.
[[nodiscard]] std::string render_advice(const course::KernelProfile& kernel, const Style& style);

}  // namespace membound::report
