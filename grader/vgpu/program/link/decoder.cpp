// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The course of decoding: instruction by instruction, guards made branches, labels made indices.
#include "grader/vgpu/program/link/decoder.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {
namespace {

/// Instructions whose guard becomes a branch around them: they change who runs, or wait.
bool branches_around(const Instruction& in) {
  switch (shape_of(in)) {
    case Shape::kCall:
    case Shape::kEnd:
    case Shape::kBrx:
    case Shape::kBar:
    case Shape::kShfl:
    case Shape::kVote:
    case Shape::kMatch:
    case Shape::kRedux:
    case Shape::kElect:
      return true;
    default:
      return false;
  }
}

Unit unit_of(const OpcodeInfo& info, ptx::ScalarType type) {
  if (info.unit != Unit::kByType) return info.unit;
  switch (type) {
    case ptx::ScalarType::kF32:
      return Unit::kFloat32;
    case ptx::ScalarType::kF64:
      return Unit::kFloat64;
    case ptx::ScalarType::kF16:
    case ptx::ScalarType::kF16x2:
    case ptx::ScalarType::kBf16:
    case ptx::ScalarType::kBf16x2:
      return Unit::kHalf;
    default:
      return Unit::kInteger;
  }
}

/// The instruction faults when it is executed; its operands name no place any more.
void refuse(Instruction& in) {
  in.flags |= kUnsupportedForm;
  in.guard = {};
  in.d = {};
  in.s = {};
}

}  // namespace

std::uint8_t slots_of(ptx::ScalarType type) {
  if (type == ptx::ScalarType::kPred) return 0;
  const std::uint32_t bytes = ptx::size_bytes(type);
  return static_cast<std::uint8_t>(bytes <= 4 ? 1 : bytes / 4);
}

Decoder::Decoder(const ptx::Module& module, const ptx::Function& source,
                 const ModuleSymbols& symbols,
                 std::span<const ptx::Function* const> program_functions, SharedRoom shared)
    : module_(module),
      source_(source),
      symbols_(symbols),
      program_functions_(program_functions),
      shared_(shared) {}

base::Status Decoder::decode(Function& out, FunctionFacts& facts) {
  out_ = &out;
  facts_ = &facts;
  out.name = std::string(source_.name);
  out.has_body = source_.has_body;
  out.is_entry = source_.is_entry;
  if (auto status = lay_out_frame(); !status) return status;
  if (auto status = lay_out_shared(); !status) return status;
  find_callers();
  for (const ptx::Instruction& in : source_.instructions) {
    if (find_opcode(in.opcode) == nullptr) {
      return base::Error{
          .kind = base::ErrorKind::kInput,
          .where = std::string(ptx::file_name_of(module_)) + ":" + std::to_string(in.position.line),
          .found = "unknown instruction '" + std::string(in.mnemonic) + "'",
          .expected = "an instruction of PTX ISA 9.0",
          .advice = "check the spelling, or compile with nvcc 13 or older"};
    }
    place_instruction(in);
  }
  code_index_.push_back(static_cast<std::uint32_t>(out.code.size()));
  Instruction end;
  end.opcode = Opcode::kRet;
  end.flags = kHidden;
  emit(end);
  // A place of a register or constant has 30 bits: see exec's Ref.
  constexpr std::uint32_t kMostSlots = 1u << 22;
  if (out.constant_slot_count > kMostSlots) return too_large("constants", kMostSlots);
  fix_targets();
  mark_pragmas();
  annotate_branches(out);
  mark_waiting_loads(out);
  mark_deciding_loads(out);
  mark_compared_loads(out);
  return base::Done{};
}

base::Error Decoder::too_large(std::string_view what, std::uint64_t most) const {
  return base::Error{
      .kind = base::ErrorKind::kInput,
      .where =
          std::string(ptx::file_name_of(module_)) + ":" + std::to_string(source_.position.line),
      .found = "function '" + std::string(source_.name) + "' has too much " + std::string(what),
      .expected = "at most " + std::to_string(most),
      .advice = "make its arrays smaller"};
}

/// Predicates stand where handlers look for predicates, data where they look for data: the two have
/// different places, and a number of the one is no number of the other.
void Decoder::emit(const Instruction& instruction) {
  const auto& [d, s] = std::tie(instruction.d, instruction.s);
  bool in_place = !instruction.guard || instruction.guard.kind == ValueKind::kPredicate;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const ValueKind wanted =
        writes_predicate(instruction, i) ? ValueKind::kPredicate : ValueKind::kRegister;
    in_place = in_place && (!d[i] || d[i].kind == wanted);
  }
  for (std::size_t i = 0; i < s.size(); ++i) {
    const bool predicate = s[i].kind == ValueKind::kPredicate || s[i].kind == ValueKind::kTrue;
    in_place = in_place && (!s[i] || predicate == reads_predicate(instruction, i));
  }
  out_->code.push_back(instruction);
  if (!in_place) refuse(out_->code.back());
  out_->lines.push_back(line_);
  out_->call_sites.push_back(call_site_);
}

void Decoder::emit_guard_branch(const Value& guard) {
  Instruction branch;
  branch.opcode = Opcode::kBra;
  branch.flags = kHidden;
  branch.guard = guard;
  branch.guard.negated = !guard.negated;
  branch.make<Branch>().target = static_cast<std::uint32_t>(out_->code.size()) + 2;
  emit(branch);
}

Instruction Decoder::start(const ptx::Instruction& in, const OpcodeInfo& info) {
  Instruction out;
  out.opcode = info.opcode;
  out.ptx_line = in.position.line;
  out.mnemonic = in.mnemonic;
  if (!read_suffixes(in, info, out).empty()) out.flags |= kUnsupportedForm;
  if (info.shape == Shape::kUnsupported) out.flags |= kUnsupportedForm;
  if (out.space == ptx::StateSpace::kConst && info.opcode != Opcode::kCvta)
    out.flags |= kConstantMemory;
  if (info.shape == Shape::kCvta) out.make<SpaceConversion>().to_space = in.has_suffix(".to");
  out.unit = unit_of(info, out.type);
  if (in.guard != ptx::kNoIndex) {
    if (source_.group_of(in.guard).type == ptx::ScalarType::kPred)
      out.guard = {ValueKind::kPredicate, in.guard_negated, in.guard};
    else
      refused_ = true;
  }
  return out;
}

/// The callers' places, by index of a location: the innermost call that stands in a file of the
/// user's own, else the outermost that is known. What is inlined into what is inlined names only
/// its own caller; that caller's place is that of an earlier location (PTX ISA, ".loc").
void Decoder::find_callers() {
  std::map<std::array<std::uint32_t, 3>, SourceLine> callers;  // by file, line, column
  callers_.assign(source_.locations.size(), {});
  for (std::size_t i = 0; i < source_.locations.size(); ++i) {
    const ptx::SourceLocation& at = source_.locations[i];
    SourceLine caller{at.inlined_at_file, at.inlined_at_line};
    if (at.inlined_at_file != 0 && is_foreign_header(module_.file_name(at.inlined_at_file))) {
      const auto outer =
          callers.find({at.inlined_at_file, at.inlined_at_line, at.inlined_at_column});
      if (outer != callers.end() && outer->second.line != 0) caller = outer->second;
    }
    callers_[i] = caller;
    callers[{at.file, at.line, at.column}] = caller;
  }
}

void Decoder::place_instruction(const ptx::Instruction& in) {
  const OpcodeInfo& info = *find_opcode(in.opcode);
  code_index_.push_back(static_cast<std::uint32_t>(out_->code.size()));
  line_ = call_site_ = {};
  if (in.location != ptx::kNoIndex) {
    const ptx::SourceLocation& location = source_.locations[in.location];
    line_ = {location.file, location.line};
    call_site_ = callers_[in.location];
  }
  refused_ = false;
  Instruction out = start(in, info);
  if (!out.has(kUnsupportedForm) && !read_operands(in, info, out)) out.flags |= kUnsupportedForm;
  const auto results =
      std::count_if(out.d.begin(), out.d.end(), [](const Value& d) { return !!d; });
  if (results > info.results) out.flags |= kUnsupportedForm;
  if (refused_) refuse(out);
  if (out.guard && branches_around(out)) {
    emit_guard_branch(out.guard);
    out.guard = {};
  }
  emit(out);
}

bool Decoder::read_operands(const ptx::Instruction& in, const OpcodeInfo& info, Instruction& out) {
  const Operands ops = in.operands;
  switch (info.shape) {
    case Shape::kMov:
      return read_move(ops, out);
    case Shape::kLoad:
      return read_load(ops, out);
    case Shape::kStore:
      return read_store(ops, out);
    case Shape::kAtom:
      return read_atomic(ops, out, true);
    case Shape::kRed:
      return read_atomic(ops, out, false);
    case Shape::kBar:
      return read_barrier(ops, out);
    case Shape::kShfl:
    case Shape::kVote:
    case Shape::kMatch:
    case Shape::kRedux:
    case Shape::kElect:
      return read_collective(ops, info.shape, out);
    case Shape::kBra:
    case Shape::kBrx:
      return read_branch(ops, out);
    case Shape::kCall:
      return read_call(ops, out);
    case Shape::kCpAsync:
      return read_async(in, out);
    case Shape::kMbarrier:
      return read_mbarrier(in, out);
    case Shape::kTex:
    case Shape::kSuld:
    case Shape::kSust:
      return read_texture(in, info.shape, out);
    case Shape::kTxq:
      return read_query(in, out);
    case Shape::kEnd:
    case Shape::kNothing:
    case Shape::kIgnored:
      return true;
    case Shape::kAlloca:
      if (ops.size() < 2 || out.type == ptx::ScalarType::kPred) return false;
      out.d[0] = destination(ops[0]);
      out.d_slots = operand_slots(ops[0], out.type);
      out.s[0] = value(ops[1], out.type);
      out.s_slots = operand_slots(ops[1], out.type);
      return static_cast<bool>(out.s[0]) && out.d_slots == 2;
    case Shape::kMade:
    case Shape::kUnsupported:
      return false;
    default:
      return read_plain(ops, info.shape, out);
  }
}

void Decoder::mark_pragmas() {
  bool no_unroll = false;
  for (const ptx::Statement& statement : source_.body) {
    if (statement.kind == ptx::StatementKind::kPragma) {
      const auto& texts = source_.pragmas[statement.index].texts;
      no_unroll = std::find(texts.begin(), texts.end(), "nounroll") != texts.end();
    }
    if (!no_unroll || statement.kind != ptx::StatementKind::kInstruction) continue;
    out_->code[code_index_[statement.index]].flags |= kNoUnroll;
    no_unroll = false;
  }
}

void Decoder::fix_targets() {
  for (Instruction& in : out_->code) {
    auto* branch = std::get_if<Branch>(&in.detail);
    if (branch == nullptr || !branch->is_label) continue;
    branch->target = code_index_[source_.labels[branch->target].instruction];
    branch->is_label = false;
  }
  for (auto& list : out_->branch_lists) {
    for (std::uint32_t& target : list) target = code_index_[source_.labels[target].instruction];
  }
}

}  // namespace membound::vgpu::program
