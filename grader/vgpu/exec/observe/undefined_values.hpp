// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which bits of a warp's registers hold nothing that was ever computed, where they came from, what
/// makes use of them, and what is said of it. A value that is loaded and dropped harms nobody; one
/// that decides a branch, an address or what is written to global memory does. The way of
/// Valgrind's memcheck (Seward and Nethercote, "Using Valgrind to detect undefined value errors
/// with bit-precision", 2005).
///
/// Costs nothing until a first undefined value is loaded: from then on the warp tells every step.
/// Arguments and results of real calls count as defined. Left out: what memory holds.
#pragma once

#include <algorithm>
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

inline constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

/// The undefined bits of each source.
using OperandBits = std::array<std::uint64_t, 8>;

/// Of destination `result` of the step that this lane is about to execute.
[[nodiscard]] std::uint64_t undefined_bits(const Warp& w, const Step* s, std::size_t result,
                                           std::uint32_t lane, const OperandBits& bits);

/// One thread's read of what nobody has written.
struct UndefinedOrigin {
  const Step* step = nullptr;
  ptx::StateSpace space = ptx::StateSpace::kNone;
  std::uint32_t bytes = 0;
  std::uint32_t thread = 0;  ///< its number in the block
  std::uint64_t address = 0;
};

/// Of a lane's value, which need not be its own: a shuffle may have moved it.
[[nodiscard]] inline UndefinedOrigin origin_of(const Warp& warp, const UndefinedSource& source,
                                               std::uint32_t lane) {
  const std::uint32_t from = source.lane_of(lane);
  const std::uint32_t thread = source.was_stored ? source.threads[from] : warp.index * 32 + from;
  return {source.step, source.space, source.bytes, thread, source.addresses[from]};
}

class UndefinedOrigins {
 public:
  void clear() { words_.clear(); }
  /// Undefined bytes were stored at `place`.
  void stored(std::uint64_t place, std::uint32_t bytes, const UndefinedOrigin& origin) {
    for (std::uint64_t word = place / 4; word * 4 < place + bytes; ++word) words_[word] = origin;
  }
  /// Where undefined bytes at `place` came from; null: nobody has stored any there.
  [[nodiscard]] const UndefinedOrigin* find(std::uint64_t place, std::uint32_t bytes) const {
    if (words_.empty()) return nullptr;
    for (std::uint64_t word = place / 4; word * 4 < place + bytes; ++word)
      if (const auto found = words_.find(word); found != words_.end()) return &found->second;
    return nullptr;
  }

 private:
  std::unordered_map<std::uint64_t, UndefinedOrigin> words_;
};

/// "uninitialised read", or that of a shuffle.
[[nodiscard]] const char* kind_of(const UndefinedSource& from);

/// Told at the place where the value came from; where it is used, in the text.
[[nodiscard]] CheckReport describe_use(const Warp& w, const UndefinedSource& from, const Step* at,
                                       std::uint32_t lane, Use use);

}  // namespace membound::vgpu::exec
