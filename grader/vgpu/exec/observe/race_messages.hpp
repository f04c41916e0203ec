// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The sentences in which races are told.
#pragma once

#include <string>

#include "grader/vgpu/exec/observe/race_checker.hpp"
#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::exec {

/// The other side of a race. `step` may be null: too many instructions to tell them apart.
[[nodiscard]] OtherAccess other_access(const Warp& warp, const Race& race, const Step* step);
/// "reads 4 bytes at … that thread (1, 3, 0) of the same block wrote at kernel.cu:16; …"
[[nodiscard]] std::string describe_race(const Warp& warp, const WarpAccess& access,
                                        const Race& race, const Place& place,
                                        const OtherAccess& other);
/// "reads 4 bytes at …, to which thread (3, 0, 0) copies at kernel.cu:12; nobody has waited …"
[[nodiscard]] std::string describe_flight(const Warp& warp, const WarpAccess& access,
                                          std::uint32_t lane, const Place& place,
                                          const OtherAccess& copy);
/// What a race's two threads have in common; who is further apart needs more to be ordered.
enum class Relation : std::uint8_t { kWarp, kBlock, kGrid };
[[nodiscard]] Relation relation(const Warp& warp, const Race& race);

/// What to do about a race: one sentence.
struct RaceAdvice {
  std::string text;
  bool is_of_next_iteration =
      false;  ///< what is missing stands where a loop begins its next iteration
};
[[nodiscard]] RaceAdvice race_advice(const Warp& warp, const WarpAccess& access, const Race& race,
                                     const Place& place, const OtherAccess& other);

}  // namespace membound::vgpu::exec
