// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A results folder holds a course: what a call takes in joins what earlier calls did.
/// Place in the chain: plan -> [plan_merge] -> batch. Pure.
#pragma once

#include "grader/classroom/queue/plan.hpp"

namespace membound::queue {

/// The plan of this call with the rows of earlier ones that it does not replace. Replaced is what
/// came in the same folder or archive for the same labs, what names the same student and lab, and
/// who handed in nothing and now has. Where the best attempt counts, another text of the same
/// student and lab stays as an earlier attempt. Rows of this call's labs are graded with the lab as
/// it is now; other labs keep the jobs that they have.
[[nodiscard]] Plan merged(const Plan& earlier, Plan now, const Settings& settings);

}  // namespace membound::queue
