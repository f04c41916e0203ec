// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which file of an item is the submission, for which lab, and why others are refused.
/// Place in the chain: layout, students -> [item_submissions] -> intake.
#pragma once

#include <string>

#include "grader/classroom/intake/intake.hpp"
#include "grader/classroom/intake/students.hpp"

namespace membound::intake {

/// Where an item was found.
struct Origin {
  std::string name, path;  ///< of the source: for people, and absolute
  Layout layout = Layout::kPlain;
};

/// Adds what `item`, which is `owner`'s, holds: a submission or a refusal for each lab, or an
/// absence.
void add_submissions(const Item& item, const Owner& owner, const Origin& from,
                     const IntakeRequest& request, Intake& intake);

}  // namespace membound::intake
