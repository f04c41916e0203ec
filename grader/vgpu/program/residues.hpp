// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the code shows of the lowest bits of each register's value: whether an address is a
/// multiple of 16 bytes, or lies 8 behind one.
/// Place in the chain: decoder -> [residues] -> vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

inline constexpr std::uint64_t kWidest = 16;  ///< bytes of a load; nothing better aligned is of use

/// What is known of a value's lowest bits: what it leaves when divided by `modulus`, a power of
/// two.
struct Residue {
  std::uint64_t modulus = 1;  ///< at most kWidest; 0 where no value was seen yet
  std::uint64_t rest = 0;

  friend bool operator==(const Residue&, const Residue&) = default;
};

/// Starts from nothing and holds only what is true of all that a register is given, until nothing
/// changes. Of a value that goes on from round to round only what divides it, as ptxas has it,
/// unless the loop's count is in the code: of such a loop ptxas repeats the body.
class Residues {
 public:
  Residues(const Function& function, std::size_t registers);

  [[nodiscard]] Residue of(const Value& value) const;
  /// A Value names the first slot of a constant, not its number.
  [[nodiscard]] const Constant& constant_at(std::uint32_t slot) const;

 private:
  [[nodiscard]] const Constant* literal(const Value& value) const;
  [[nodiscard]] std::vector<bool> counters(std::size_t registers) const;
  [[nodiscard]] std::vector<bool> spread_out(std::size_t registers) const;
  [[nodiscard]] Residue result_of(const Instruction& in) const;

  const Function& function_;
  std::vector<Residue> known_;
};

}  // namespace membound::vgpu::program
