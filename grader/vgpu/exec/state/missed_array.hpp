// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which array an address outside of all arrays was meant for, how far it lies from it, and what
/// may have led there: an index of 32 bits that wrapped leads gigabytes away, where nothing or
/// another array is nearer. Place in the chain: memory/address_space -> [missed_array] ->
/// fault_messages, memcheck.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {

/// What lies below is a null pointer and an index.
inline constexpr std::uint64_t kNullPage = 1 << 16;

/// How an index came to be so wrong.
enum class Miss : std::uint8_t {
  kNear,       ///< no more is known
  kWrapped,    ///< in 64 bits it would have been inside: in 32 bits it passed 2^31
  kBelowZero,  ///< it went below 0 and was unsigned
  kFar         ///< by a gigabyte or more
};

struct MissedArray {
  memory::Allocation array;
  Miss miss = Miss::kNear;
};

/// The array of a bad address of global memory. Nothing where no array is a likely one: a null
/// pointer, a pointer of the host, one that was never set.
[[nodiscard]] std::optional<MissedArray> missed_array(const Warp& warp, const WarpAccess& access,
                                                      std::uint32_t lane);
/// "right after ", "8 bytes past the end of ", "4 bytes before ", "across the end of "
[[nodiscard]] std::string where_from(const memory::Allocation& array, std::uint64_t address);
/// What is bad about an access: arrays with equal names are one. Empty where none is known.
[[nodiscard]] std::string name_of_array(const Warp& warp, const WarpAccess& access,
                                        std::uint32_t lane);

}  // namespace membound::vgpu::exec
