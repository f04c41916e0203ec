// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/bench/groups.hpp"

#include <utility>

namespace membound::authoring {

std::vector<GroupMaker> all_groups(const Machine& machine) {
  std::vector<GroupMaker> all = library_groups(machine);
  for (auto more : {copy_groups, arithmetic_groups})
    for (GroupMaker& maker : more(machine)) all.push_back(std::move(maker));
  return all;
}

}  // namespace membound::authoring
