// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The scalar types and state spaces of PTX, with their sizes and spellings.
/// Place in the chain: PTX text -> [ptx] -> program. Left out: which instruction takes which type;
/// program/ knows that. Source: PTX ISA 9.0, "Types" and "State Spaces".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace membound::ptx {

/// A fundamental PTX type, or one of the packed and opaque ones a declaration may name.
enum class ScalarType : std::uint8_t {
  kNone,  ///< no type given
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kTf32,
  kE4m3x2,  ///< two floats of 1+4+3 bits
  kE5m2x2,  ///< two floats of 1+5+2 bits
  kF32,
  kF64,
  kPred,
  kTexref,
  kSamplerref,
  kSurfref
};

/// Where a variable lives.
enum class StateSpace : std::uint8_t {
  kNone,  ///< generic, or not given
  kReg,
  kConst,
  kGlobal,
  kLocal,
  kParam,
  kShared
};

/// Bytes one value takes in memory; 8 for the opaque reference types, 1 for a predicate, 0 for
/// none.
[[nodiscard]] std::uint32_t size_bytes(ScalarType type);

/// Whether it is a floating-point type, packed pairs included.
[[nodiscard]] bool is_float(ScalarType type);

/// The spelling with its dot: ".u32"; "" for none.
[[nodiscard]] std::string_view to_string(ScalarType type);

/// The spelling with its dot: ".shared"; "" for none.
[[nodiscard]] std::string_view to_string(StateSpace space);

/// The type spelled `text` (with its dot), or nothing.
[[nodiscard]] std::optional<ScalarType> scalar_type_of(std::string_view text);

/// The state space spelled `text` (with its dot; ".const[2]" is not one word), or nothing.
[[nodiscard]] std::optional<StateSpace> state_space_of(std::string_view text);

}  // namespace membound::ptx
