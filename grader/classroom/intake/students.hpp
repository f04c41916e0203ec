// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which student each item belongs to, and which items claim somebody else's name.
/// Place in the chain: layout, roster -> [students] -> intake. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/classroom/intake/layout.hpp"
#include "grader/classroom/intake/roster.hpp"

namespace membound::intake {

/// The owner of one item.
struct Owner {
  std::string student, name, email;
  std::optional<std::string> refused;  ///< two different names that mean one student
  std::string note;                    ///< "not in the roster"
};

/// One owner for each item, in their order. With a roster its id is the identity; a name that is
/// exactly an id, login or email goes before one that only looks like it. Without a roster names
/// that differ only in case or in forms of letters are refused, all of them.
[[nodiscard]] std::vector<Owner> owners_of(const std::vector<Item>& items, const Roster& roster);

}  // namespace membound::intake
