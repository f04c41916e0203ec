// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which bits of a warp's registers hold nothing that was ever computed, and what makes use of
/// them. A value that is loaded and dropped harms nobody; one that decides a branch, an address or
/// what is written to global memory does. The way of Valgrind's memcheck (Seward and Nethercote,
/// "Using Valgrind to detect undefined value errors with bit-precision", 2005).
///
/// Costs nothing until a first undefined value is loaded: from then on the warp tells every step.
/// Arguments and results of real calls count as defined.
/// Place in the chain: initcheck -> [undefined_values]. Left out: what memory holds.
#pragma once

#include <array>
#include <bit>
#include <functional>
#include <unordered_map>
#include <vector>

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// The instruction that an undefined value came from, when it ran last.
struct UndefinedSource {
  const Step* step = nullptr;
  ptx::StateSpace space = ptx::StateSpace::kNone;  ///< kNone: a shuffle
  std::uint32_t bytes = 0;                         ///< a lane
  std::uint32_t lanes = 0;                         ///< that got one
  /// By lane: address, or offset; of a shuffle the lane that was asked.
  std::array<std::uint64_t, 32> addresses{};
  /// Threads of the block read it, stored it in shared or local memory, and it was read again
  /// there; by lane, who did.
  bool was_stored = false;
  std::array<std::uint32_t, 32> threads{};

  /// The lane whose value `lane` has: its own, or one that a shuffle moved.
  [[nodiscard]] std::uint32_t lane_of(std::uint32_t lane) const {
    return ((lanes >> lane) & 1) != 0 ? lane : static_cast<std::uint32_t>(std::countr_zero(lanes));
  }
};

/// How a value is made use of, as the end of a sentence.
enum class Use : std::uint8_t { kBranch, kAddress, kOutput, kAtomic };

/// The undefined values of one warp.
class UndefinedValues {
 public:
  /// Told of each use, for each lane.
  using Used =
      std::function<void(Warp&, const UndefinedSource&, const Step*, std::uint32_t lane, Use)>;

  void clear();
  /// A call made the warp's frame anew.
  void forget(const Frame* frame) { frames_.erase(frame); }
  [[nodiscard]] bool any() const { return !frames_.empty(); }

  /// Lane `lane` of the running frame got a value of which `bits` are undefined, by an instruction
  /// that is number `source`.
  void taint(Warp& warp, const program::Value& to, std::uint32_t lane, std::uint64_t bits,
             std::uint32_t source);
  /// The number of an instruction from which undefined values come.
  std::uint32_t add_source(const UndefinedSource& source);
  /// The undefined bits of an operand.
  [[nodiscard]] std::uint64_t bits(const Warp& warp, const program::Value& of,
                                   std::uint32_t lane) const;
  /// Whether arithmetic made an undefined operand: a result, which no struct has for padding.
  [[nodiscard]] bool is_computed(const Warp& warp, const program::Value& of,
                                 std::uint32_t lane) const;
  /// Where an undefined operand came from.
  [[nodiscard]] const UndefinedSource& source(const Warp& warp, const program::Value& of) const;
  /// The running lanes are about to execute `step`: its results become as undefined as its operands
  /// make them, and what decides something is told to `used`, after which it counts as defined.
  void step(Warp& warp, const Step* step, const Used& used);

 private:
  struct Register {
    std::uint32_t lanes = 0;     ///< with some undefined bit
    std::uint32_t computed = 0;  ///< of these, what arithmetic made
    std::uint32_t source = 0;    ///< index into `sources_`
    std::array<std::uint64_t, 32> bits{};
  };
  /// Predicates have one bit.
  struct FrameValues {
    std::unordered_map<std::uint32_t, Register> registers, predicates;
    std::uint32_t carry = 0;  ///< lanes
  };
  [[nodiscard]] const Register* find(const Warp& warp, const program::Value& value) const;
  [[nodiscard]] Register* find(const Warp& warp, const program::Value& value);
  [[nodiscard]] std::uint32_t lanes(const Warp& warp, const program::Value& value) const;
  void put(Warp& warp, const program::Value& to, std::uint32_t mask,
           const std::array<std::uint64_t, 32>& bits, std::uint32_t source,
           std::uint32_t computed = 0);
  void use(Warp& warp, const Step* step, const program::Value& value, Use how, const Used& used);
  void propagate(Warp& warp, const Step* step);
  void across_lanes(Warp& warp, const Step* step);

  std::unordered_map<const Frame*, FrameValues> frames_;
  std::vector<UndefinedSource> sources_;
};

}  // namespace membound::vgpu::exec
