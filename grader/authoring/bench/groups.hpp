// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which contests are held: one group per lab, type and size, with the stages, the libraries, the
/// ceilings, and the figures of the documents the course follows.
/// Place in the chain: main -> [groups] -> answers, peers. Left out: timing (contest).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grader/authoring/bench/answers.hpp"
#include "grader/authoring/bench/contest.hpp"

namespace membound::authoring {

/// A group that is made when its turn comes: its peers hold device memory.
struct GroupMaker {
  std::string title;
  std::function<Group()> make;
};

/// All groups, in the labs' order. `machine` must outlive them.
[[nodiscard]] std::vector<GroupMaker> all_groups(const Machine& machine);

}  // namespace membound::authoring
