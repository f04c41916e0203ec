// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One PTX function to decoded instructions: suffixes read, labels and symbols resolved, operands
/// placed, registers in slots. Whether the virtual GPU can execute an instruction is not asked
/// here; exec answers that when it must.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "grader/device_code/ptx/ast.hpp"
#include "grader/vgpu/program/instruction.hpp"
#include "grader/vgpu/program/link/linker.hpp"
#include "grader/vgpu/program/module.hpp"
#include "grader/vgpu/program/opcode_table.hpp"
#include "grader/vgpu/program/ptxas/passes.hpp"

namespace membound::vgpu::program {

/// Results first, then parameters, each aligned by itself: both sides of a call compute the same.
/// Nothing where they need more than kMostBytes.
[[nodiscard]] std::optional<Signature> lay_out_call(std::span<const ptx::Variable> returns,
                                                    std::span<const ptx::Variable> parameters);
/// The end of the last field.
[[nodiscard]] std::uint64_t end_of(const Signature& signature);

/// 128-byte slots a register of this type takes; 0 for a predicate.
[[nodiscard]] std::uint8_t slots_of(ptx::ScalarType type);

/// Has an element of the instruction's type a size in memory?
[[nodiscard]] inline bool has_size(const Instruction& in) {
  return ptx::size_bytes(in.type) != 0 && in.type != ptx::ScalarType::kPred;
}

/// Where a function's shared variables go.
struct SharedRoom {
  std::uint32_t base_bytes = 0;      ///< the first of them
  std::uint32_t red_zone_bytes = 0;  ///< kept free after each
};

/// Decodes one function. Register operands still carry virtual numbers; assign_registers() turns
/// them into slots.
class Decoder {
 public:
  Decoder(const ptx::Module& module, const ptx::Function& source, const ModuleSymbols& symbols,
          std::span<const ptx::Function* const> program_functions, SharedRoom shared);

  /// Fills `out` and `facts`. An error is a program that cannot be right (an unknown opcode).
  base::Status decode(Function& out, FunctionFacts& facts);

 private:
  using Operands = std::span<const ptx::Operand>;

  base::Status lay_out_frame();
  base::Status lay_out_shared();
  [[nodiscard]] base::Error too_large(std::string_view what, std::uint64_t most) const;
  void find_callers();
  void place_instruction(const ptx::Instruction& in);
  void emit(const Instruction& instruction);
  void emit_guard_branch(const Value& guard);
  void fix_targets();
  void mark_pragmas();

  Instruction start(const ptx::Instruction& in, const OpcodeInfo& info);
  bool read_operands(const ptx::Instruction& in, const OpcodeInfo& info, Instruction& out);
  bool read_plain(Operands ops, Shape shape, Instruction& out);
  bool read_move(Operands ops, Instruction& out);
  bool read_load(Operands ops, Instruction& out);
  bool read_store(Operands ops, Instruction& out);
  bool read_atomic(Operands ops, Instruction& out, bool gives_result);
  bool read_barrier(Operands ops, Instruction& out);
  bool read_collective(Operands ops, Shape shape, Instruction& out);
  bool read_branch(Operands ops, Instruction& out);
  bool read_call(Operands ops, Instruction& out);
  bool read_async(const ptx::Instruction& in, Instruction& out);
  bool read_bulk(const ptx::Instruction& in, Instruction& out);
  bool read_mbarrier(const ptx::Instruction& in, Instruction& out);
  bool read_texture(const ptx::Instruction& in, Shape shape, Instruction& out);
  bool read_level(Operands ops, const Fetch& fetch, Instruction& out);
  bool read_query(const ptx::Instruction& in, Instruction& out);
  bool load_parameter(Operands ops, Instruction& out);

  Value value(const ptx::Operand& operand, ptx::ScalarType type);
  /// False where the operand has no value of that type.
  bool source(const ptx::Operand& operand, ptx::ScalarType type, Value& to);
  /// Of a vector its elements, else the operand alone.
  static Operands elements(Operands operands, std::size_t index);
  Value destination(const ptx::Operand& operand);
  bool takes_vector(Operands elements, Instruction& out);
  bool lay_out_site(const ptx::Reference& shape, Signature& out);
  bool copies_of(Operands list, std::span<const FrameField> fields, bool reading,
                 std::vector<ArgumentCopy>& out);
  Value register_value(const ptx::Operand& operand);
  Value special_value(std::string_view name, ptx::ScalarType type);
  Value symbol_value(const ptx::Operand& operand, ptx::ScalarType type, bool generic);
  bool address(const ptx::Operand& operand, ptx::StateSpace space, Value& base, Access& access);
  Value constant(Constant::Kind kind, std::uint64_t bits, std::uint8_t slots,
                 std::uint32_t index = 0, ptx::ScalarType type = ptx::ScalarType::kB64);
  [[nodiscard]] std::optional<FrameField> frame_field(const ptx::Reference& reference) const;
  [[nodiscard]] std::uint8_t operand_slots(const ptx::Operand& operand, ptx::ScalarType type) const;

  const ptx::Module& module_;
  const ptx::Function& source_;
  const ModuleSymbols& symbols_;
  std::span<const ptx::Function* const> program_functions_;
  SharedRoom shared_;
  Function* out_ = nullptr;
  FunctionFacts* facts_ = nullptr;
  std::vector<std::uint32_t> code_index_;       // of each ptx instruction
  std::vector<std::uint32_t> variable_offset_;  // frame or shared offset of each variable
  std::map<std::tuple<int, int, int, std::uint32_t, std::uint64_t>, std::uint32_t> constants_;
  std::vector<SourceLine> callers_;  // of each location: see find_callers
  SourceLine line_ = {}, call_site_ = {};
  bool refused_ = false;  // an operand is not what the instruction takes: data for a predicate, …
};

/// Fills type, rounding, flags, space and the like of `out`. Returns the first suffix nobody knows
/// for this opcode, or "".
[[nodiscard]] std::string_view read_suffixes(const ptx::Instruction& in, const OpcodeInfo& info,
                                             Instruction& out);

// What is found out of decoded code. Operands still carry virtual registers.

/// Spin loops: sets Instruction::only_decides of atomics, and of loads that are volatile, relaxed
/// or acquiring, whose value ends in branches and guards alone: a look at a flag, whose answer may
/// come late.
void mark_deciding_loads(Function& function);

/// Spin loops: sets kWaits on the volatile loads by which threads wait for each other, and on
/// others of the same place (the look before the loop). A flag is read in a loop that writes
/// nothing and ends by what it reads; a sum by the lanes of a warp through volatile words does
/// neither. Branches are annotated.
void mark_waiting_loads(Function& function);

/// Compare-and-swap loops: sets kCompared on plain loads whose value comes, by moves alone, to be
/// what an atom.cas of the same place expects: `old = *word; do { … old = atomicCAS(word, old, …) }
/// while (…)`, as the CUDA programming guide writes an atomic operation of one's own. What such a
/// load gives may be out of date, and then nothing is swapped.
void mark_compared_loads(Function& function);

// From PTX's unlimited registers to few slots.

/// Replaces uses of registers that only ever hold one launch-time value by that value; the moves
/// become kNop.
void propagate_constants(Function& function, RegisterSizes sizes);

/// Marks atomics nobody reads, then gives every register a slot (or a predicate number). Registers
/// that are never alive together share one, so that a warp's registers stay in the host's L1.
void assign_registers(Function& function, RegisterSizes sizes);

}  // namespace membound::vgpu::program
