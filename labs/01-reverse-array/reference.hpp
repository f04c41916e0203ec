// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 01: what "reversed" means, in a plain loop on the CPU. The tests compare every element of
/// every small run with it. Timed runs are compared with the reference kernel; where a class is
/// graded without running that for everybody, with this.
#pragma once

#include <vector>

namespace membound::labs::reverse_array {

/// The numbers of `in`, last one first.
[[nodiscard]] std::vector<int> reversed(const std::vector<int>& in);

}  // namespace membound::labs::reverse_array
