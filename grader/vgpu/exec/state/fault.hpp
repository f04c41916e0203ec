// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What can end a launch, and what a checker can find: both with the place it happened.
/// Place in the chain: exec makes them, runtime turns them into error codes and messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "grader/vgpu/memory/dim3.hpp"

namespace membound::vgpu::exec {

/// Why a launch ended early.
enum class FaultKind {
  kIllegalAddress,
  kMisalignedAddress,
  kAssert,
  kTrap,
  kDeadlock,
  kStepLimit,
  kUnsupportedInstruction,
  kStackOverflow,
  kStopped
};

/// "illegal address", "misaligned address", …
[[nodiscard]] std::string_view to_string(FaultKind kind);

/// Where in program and grid. File and line are empty and 0 without -lineinfo.
struct Place {
  std::string kernel;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t ptx_line = 0;
  std::string instruction;  ///< the PTX instruction as text
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
};

/// The event that ended a launch.
struct Fault {
  FaultKind kind = FaultKind::kTrap;
  Place place;
  std::uint64_t address = 0;
  std::string text;  ///< one or two plain sentences
};

/// The other side of a race.
struct OtherAccess {
  Place place;
  bool wrote = false;
};

/// One finding of a checker; equal findings of other lanes are counted, not repeated.
struct CheckReport {
  std::string checker;  ///< memcheck, initcheck, racecheck, synccheck, leakcheck
  std::string kind;     ///< "out of bounds read", "data race", …
  Place place;
  std::uint64_t address = 0;
  std::uint32_t size_bytes = 0;
  std::uint64_t count = 1;
  std::string text;                       ///< what happened, and in which memory
  std::string advice = {};                ///< what to do about it
  std::optional<OtherAccess> other = {};  ///< of a data race
  /// Of findings with one cause that of the most weight is told.
  std::uint32_t weight = 0;
  /// Worth knowing, and no fault: CUDA defines what happens here.
  bool is_remark = false;
  /// Which memory, where that is known: two findings of one line and one array have one cause.
  std::string array = {};
};

}  // namespace membound::vgpu::exec
