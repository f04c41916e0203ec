// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a warp asks of memory, access after access: a picture that holds every step, and a script
/// that plays it. Without the script, and on paper, it shows the dearest step.
/// Place in the chain: course/kernel_profile -> [step_through] -> dev figure, handouts, HTML page.
/// Left out: how an access costs what it costs, which came counted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/course/kernel_profile.hpp"

namespace membound::report {

/// The picture, 700 pixels wide: the sectors of global memory above a row of lanes, the banks
/// of shared memory below it, and a line for each word. Steps are the accesses in their order;
/// those of shared memory have a turn for each wavefront. At least one access is needed. `title`,
/// `where` and `standalone` as for draw_access().
[[nodiscard]] std::string draw_steps(const std::vector<course::MemoryAccess>& accesses,
                                     const std::string& title, const std::string& where,
                                     bool standalone = true);

/// Whether `svg` was made by draw_steps().
[[nodiscard]] bool has_steps(std::string_view svg);

/// An element that gives every such picture of its page the buttons back, play, step and loop.
[[nodiscard]] std::string steps_script();

}  // namespace membound::report
