// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How the operands of an opcode are laid out in PTX, and the rows of opcodes.def as data.
/// Place in the chain: program's own vocabulary; documentation and tests read the table too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::program {

/// D destination, A B C E sources, P predicate; the others name their instruction.
enum class Shape : std::uint8_t {
  kDA,
  kDAB,
  kDABC,
  kDABCE,
  kDABP,
  kDest,
  kSourceOnly,
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
  kUnsupported
};

/// One row of opcodes.def.
struct OpcodeInfo {
  Opcode opcode;
  std::string_view name;
  Unit unit;
  Shape shape;
  std::string_view section;
  std::string_view doc;
};

/// Every row, indexed by Opcode.
[[nodiscard]] std::span<const OpcodeInfo> all_opcodes();
/// The row of a base opcode ("ld"), or null.
[[nodiscard]] const OpcodeInfo* find_opcode(std::string_view name);
[[nodiscard]] const OpcodeInfo& info_of(Opcode opcode);

}  // namespace membound::vgpu::program
