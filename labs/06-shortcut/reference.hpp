// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 06: what a "shortcut" is, in plain loops on the CPU. The tests compare every element of
/// every small run with it, and what is timed where the reference kernel does not run beside it.
#pragma once

#include <cstdint>
#include <vector>

namespace membound::labs::shortcut {

/// The n x n matrix whose element (from, to) is the least d(from, via) + d(via, to) over all via.
/// `d` is n x n, row after row; +infinity stands for "no road".
[[nodiscard]] std::vector<float> shortcuts(const std::vector<float>& d, std::int64_t n);

}  // namespace membound::labs::shortcut
