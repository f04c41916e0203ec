// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which contests are held: one group per lab, type and size, with the stages, the libraries,
/// the ceilings, and the figures of the documents the course follows.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "grader/authoring/bench/contest.hpp"

namespace membound::authoring {

/// A group that is made when its turn comes: its peers hold device memory.
struct GroupMaker {
  std::string title;
  std::function<Group()> make;
};

/// Labs 00, 01, 03 and 04: a library computes the same. `machine` must outlive the groups.
[[nodiscard]] std::vector<GroupMaker> library_groups(const Machine& machine);
/// Labs 02, 05, 08 and 09: beside a copy of as many bytes.
[[nodiscard]] std::vector<GroupMaker> copy_groups(const Machine& machine);
/// Lab 06: beside additions and minima alone.
[[nodiscard]] std::vector<GroupMaker> arithmetic_groups(const Machine& machine);
/// Lab 11, stages 3 to 5: beside CUB.
[[nodiscard]] std::vector<GroupMaker> collaborating_groups(const Machine& machine);

/// All of them.
[[nodiscard]] std::vector<GroupMaker> all_groups(const Machine& machine);

}  // namespace membound::authoring
