// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The sentences in which faults and findings are told; of a bad access also which array it was
/// meant for, how far it lies from it, and what may have led there: an index of 32 bits that
/// wrapped leads gigabytes away, where nothing or another array is nearer.
#pragma once

#include <cstdint>
#include <limits>
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

/// Whether an offset in shared memory is one below 0: an offset has 32 bits, so that such a one
/// wraps and is a large one.
[[nodiscard]] constexpr bool is_below_shared(std::uint64_t offset) {
  return offset > std::numeric_limits<std::uint32_t>::max() / 2;
}

/// "read of 4 bytes at 0x… is 8 bytes past the end of the 4096-byte allocation 3 (cudaMalloc)…"
[[nodiscard]] std::string describe_bad_access(const Warp& warp, const WarpAccess& access,
                                              FaultKind kind, std::uint32_t lane);
/// "the 4096 bytes at 0x… (allocation 3, cudaMalloc)"
[[nodiscard]] std::string describe(const memory::Allocation& allocation);
/// "offset 396 of tile (4224 bytes of shared memory)"
[[nodiscard]] std::string describe_shared(const Warp& warp, std::uint64_t offset);
/// Where that array begins, in bytes from the start of the block's shared memory.
[[nodiscard]] std::uint64_t begin_of_shared(const Warp& warp, std::uint64_t offset);
/// The variable in shared memory that an offset belongs to, or that it lies after.
[[nodiscard]] std::string name_of_shared(const Warp& warp, std::uint64_t offset);
/// "(5, 0, 0)"
[[nodiscard]] std::string triple(const Dim3& index);
/// "kernel.cu:16", or where in the PTX.
[[nodiscard]] std::string line_text(const Place& place);
/// "the loop of lines 12 to 15" around a step that runs, or around the call that led to it; "a
/// loop".
[[nodiscard]] std::string describe_loop(const Warp& warp, const Step* at);
/// What to do about findings: one sentence each.
[[nodiscard]] std::string sync_advice(std::string_view kind);
[[nodiscard]] std::string access_advice(const Warp& warp, const WarpAccess& access, FaultKind kind,
                                        std::uint32_t lane);
/// "0x7f00"
[[nodiscard]] std::string hex(std::uint64_t value);
/// What an instruction the virtual GPU cannot run would take.
[[nodiscard]] std::string describe_unsupported(const program::Instruction& in);

}  // namespace membound::vgpu::exec
