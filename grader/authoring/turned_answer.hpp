// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A lab's reference answer with its stages' kernels under each other's names: what one gets who
/// hands in the answer of one stage for another. Place in the chain: solutions/ -> [turned_answer]
/// -> `membound dev verdicts`. Left out: whether the two stages do the same work.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace membound::authoring {

/// `kernel` with names[(i + by) % names.size()] wherever the word names[i] stands: the function
/// that was called names[i] now answers for the other. So each text asks every name once.
[[nodiscard]] std::string with_names_turned(std::string_view kernel,
                                            const std::vector<std::string>& names, std::size_t by);

}  // namespace membound::authoring
