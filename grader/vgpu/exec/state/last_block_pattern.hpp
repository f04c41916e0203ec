// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The last-block pattern, "the last block to arrive does the rest", where only some blocks run.
///
///   each block      leaves a partial result; fence; ticket = atomicInc(&arrived, blocks - 1)
///   the last block  sees by its ticket that all have arrived, and adds up what they have left
///
/// Each block finds in the counter what it would if blocks arrived in launch order, and the last
/// block of the grid, which runs last, leaves there what all of them leave. Then bytes of arrays
/// that blocks wrote to, and that no block that ran has written, are 0 for it: what a sum does not
/// notice. Of other kernels the result is wrong, which whoever compares it must take for a launch
/// that cannot be sampled.
///
/// Given up: more than one arrival of a block, or not as many of each; another word, operation or
/// operand; anything else by which blocks learn from each other (program::talks), other than by the
/// last one to arrive; inputs and outputs that this one then reads, and what it reads before of
/// what others have left: by that it knows which blocks ran, and could do what they have left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "grader/vgpu/exec/state/observer.hpp"
#include "grader/vgpu/memory/address_sets.hpp"
#include "grader/vgpu/memory/undo_log.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::exec {

/// Of one launch with one worker; it sees every block that runs.
class LastBlockPattern : public Observer {
 public:
  explicit LastBlockPattern(Launch& launch) : launch_(launch), undo_(*launch.request->memory) {}

  /// Is this atomic on global memory an arrival?
  [[nodiscard]] bool hears(const program::Instruction& in) const {
    return !last_arrived_ && program::counts_arrivals(in);
  }
  /// Does it for a lane, and returns what was there.
  std::uint64_t arrive(const Block& block, const program::Instruction& in, std::byte* place,
                       std::uint64_t operand);
  /// Why the blocks that ran say nothing of the others; empty: they do.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// Did the blocks arrive anywhere?
  [[nodiscard]] bool any() const { return counter_.has_value(); }
  /// Puts back what memory held before, outside inputs and outputs: what blocks have counted and
  /// added up so far, the next launch must not find.
  void take_back() { undo_.roll_back(); }

  void access(const WarpAccess& access) override;
  void block_begins(Block& block) override;
  void block_ends(Block&) override;

 private:
  /// What every block does.
  struct Counter {
    std::byte* place = nullptr;
    program::Atomic operation = program::Atomic::kNone;
    std::uint32_t bytes = 0;
    std::uint64_t operand = 0;
    friend bool operator==(const Counter&, const Counter&) = default;
  };
  [[nodiscard]] std::uint64_t word() const;
  [[nodiscard]] std::uint64_t after(std::uint64_t arrivals) const;
  [[nodiscard]] bool is_last(const Block& block) const;
  [[nodiscard]] bool is_lazy(std::uint64_t address) const;
  [[nodiscard]] bool reads_what_others_left(const WarpAccess& access) const;
  void keep_stored(const WarpAccess& access);
  void clear_what_others_leave();
  void give_up(std::string why);

  Launch& launch_;
  std::optional<Counter> counter_;
  std::uint64_t before_ = 0;  ///< the first arrival: what the counter held
  std::uint32_t of_block_ = 0;
  std::optional<std::uint32_t> of_each_;
  std::uint64_t ran_ = 0;  ///< blocks
  bool last_arrived_ = false;
  memory::AddressRanges stored_;               ///< outside inputs and outputs
  std::optional<memory::AddressRanges> left_;  ///< of that by the others, once the last one runs
  memory::UndoLog undo_;
  std::string why_not_;
};

}  // namespace membound::vgpu::exec
