// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The plan of one call: from what is handed in and what earlier calls planned.
/// Place in the chain: batch -> [batch_plan] -> intake, plan, plan_merge, ledger.
#pragma once

#include "grader/classroom/queue/batch.hpp"

namespace membound::queue {

[[nodiscard]] base::Error no_batch(const std::filesystem::path& out);

/// Takes in what `request` names; without sources, the earlier plan by the rules of now. `notes`:
/// what the instructor should know.
[[nodiscard]] base::Result<Plan> plan_for(const BatchRequest& request,
                                          const std::optional<Plan>& earlier,
                                          std::vector<std::string>& notes);

/// Writes the plan where it changed, and makes the ledger know it.
[[nodiscard]] base::Status keep_plan(const std::filesystem::path& out, const Plan& plan,
                                     const std::optional<Plan>& earlier, ledger::Ledger& ledger);

}  // namespace membound::queue
