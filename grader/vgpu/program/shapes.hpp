// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The columns of opcodes.def that decoder and executor read, and the rows as data.
/// Place in the chain: program's own vocabulary; documentation and tests read the table too.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "grader/vgpu/program/costs.hpp"
#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::program {

/// How operands are laid out: D destination, A B C sources of the instruction's type, n a 32-bit
/// number whatever the type, P predicate; the others name their instruction.
enum class Shape : std::uint8_t {
  kDA,
  kDAB,
  kDABC,
  kDABP,
  kDAn,
  kDAnn,
  kDABnn,
  kDnn,
  kDnnn,
  kDAddress,
  kDest,
  kSourceOnly,
  kSlct,
  kSet,
  kSetp,
  kLop3,
  kMov,
  kCvt,
  kCvta,
  kLoad,
  kStore,
  kIgnored,
  kPolicy,
  kShfl,
  kCpAsync,
  kTex,
  kTxq,
  kSuld,
  kSust,
  kBra,
  kBrx,
  kCall,
  kEnd,  ///< ret, exit
  kNothing,
  kBar,
  kAtom,
  kRed,
  kVote,
  kMatch,
  kRedux,
  kElect,
  kMbarrier,
  kSleep,
  kAlloca,
  kMade,        ///< by the decoder; never written
  kUnsupported  ///< faults when executed
};

/// Which dotted words an opcode knows besides those common to all: see suffixes.cpp.
enum class Suffixes : std::uint8_t {
  kCommon,  ///< no others
  kFree,    ///< any: they change nothing here, or the decoder of the shape reads them
  kHalves,
  kComparison,
  kAtomic,
  kJoined,
  kBarrier,
  kPacking,
  kPermutation,
  kProperty,
  kShuffle,
  kVote,
  kMatch,
  kTexture,
  kGather,
  kSurface,
  kSurfaceReduction,
  kVideo
};

/// Who chooses the handler: see exec/lanes/select.hpp.
enum class Family : std::uint8_t {
  kNone,     ///< nobody: faults
  kNothing,  ///< does nothing
  kArithmetic,
  kBits,
  kCompare,
  kConvert,
  kMove,
  kMemory,
  kControl,
  kVideo,
  kAtomic,
  kCollective,
  kSync,
  kCall,
  kAsync,
  kTexture
};

/// One row of opcodes.def.
struct OpcodeInfo {
  Opcode opcode;
  std::string_view name;
  Shape shape;
  Suffixes suffixes;
  Family family;
  std::uint8_t results;  ///< at most
  Unit unit;
  Cost cost;
  std::string_view section;
  std::string_view doc;
};

/// Every row, indexed by Opcode.
[[nodiscard]] std::span<const OpcodeInfo> all_opcodes();
/// The row of a base opcode ("ld"), or null.
[[nodiscard]] const OpcodeInfo* find_opcode(std::string_view name);
[[nodiscard]] const OpcodeInfo& info_of(Opcode opcode);
[[nodiscard]] inline Shape shape_of(const Instruction& in) { return info_of(in.opcode).shape; }
/// Is destination or source `index` of the instruction a predicate? Else it is data.
[[nodiscard]] bool writes_predicate(const Instruction& in, std::size_t index);
[[nodiscard]] bool reads_predicate(const Instruction& in, std::size_t index);
/// Does the instruction read or write global, shared or local memory at an address?
[[nodiscard]] bool accesses_memory(const Instruction& in);
/// Is it a barrier of the block's threads, not of a warp's lanes?
[[nodiscard]] inline bool is_block_barrier(const Instruction& in) {
  return (in.opcode == Opcode::kBar || in.opcode == Opcode::kBarrier) &&
         in.as<BlockBarrier>().mode != BarrierMode::kWarp;
}

}  // namespace membound::vgpu::program
