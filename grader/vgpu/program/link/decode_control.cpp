// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Operands of what concerns more than one lane or place: branches, calls, barriers, collectives;
/// and how calls, frames and shared variables are laid out.
#include <algorithm>

#include "grader/vgpu/program/link/decoder.hpp"

namespace membound::vgpu::program {

using ptx::OperandKind;
using ptx::ReferenceKind;
using ptx::ScalarType;

namespace {

std::uint32_t alignment_of(const ptx::Variable& variable) {
  return std::max<std::uint32_t>(
      1, std::max(variable.alignment_bytes, std::min(16u, ptx::size_bytes(variable.type))));
}

}  // namespace

bool Decoder::read_collective(Operands ops, Shape shape, Instruction& out) {
  if (ops.empty()) return false;
  const bool pair = ops[0].kind == OperandKind::kPair;
  out.d[0] = destination(pair ? ops[0].children[0] : ops[0]);
  if (pair) out.d[1] = destination(ops[0].children[1]);
  out.d_slots = operand_slots(pair ? ops[0].children[0] : ops[0], out.type);
  const std::size_t wanted = shape == Shape::kShfl ? 4 : shape == Shape::kElect ? 1 : 2;
  if (ops.size() > wanted + 1) return false;
  for (std::size_t i = 0; i + 1 < ops.size(); ++i) {
    const bool predicate = shape == Shape::kVote && i == 0;
    const bool typed = i == 0 && shape != Shape::kElect;
    if (!source(ops[i + 1],
                predicate ? ScalarType::kPred
                : typed   ? out.type
                          : ScalarType::kB32,
                out.s[i]))
      return false;
  }
  if (ops.size() == wanted) {  // before .sync: every lane takes part
    out.s[wanted - 1] = constant(Constant::Kind::kLiteral, 0xFFFFFFFFu, 1);
  }
  return ops.size() >= wanted;
}

bool Decoder::read_barrier(Operands ops, Instruction& out) {
  if (out.scope == Scope::kCluster) return false;
  auto& barrier = out.make<BlockBarrier>();
  const ptx::ScalarType word = ScalarType::kB32;
  if (barrier.mode == BarrierMode::kWarp) {
    if (ops.size() != 1) return false;
    return source(ops[0], word, out.s[0]);
  }
  std::size_t next = 0;
  if (barrier.mode == BarrierMode::kRed) {
    if (ops.size() < 3) return false;
    out.d[0] = destination(ops[next++]);
    out.s[2] = value(ops.back(), ScalarType::kPred);
    ops = ops.first(ops.size() - 1);
  }
  if (next < ops.size()) out.s[0] = value(ops[next++], word);
  if (!out.s[0]) out.s[0] = constant(Constant::Kind::kLiteral, 0, 1);
  if (next < ops.size()) out.s[1] = value(ops[next++], word);
  barrier.counts_all = !out.s[1];
  return next == ops.size();
}

bool Decoder::read_branch(Operands ops, Instruction& out) {
  if (out.opcode == Opcode::kBra) {
    if (ops.size() != 1 || ops[0].reference.kind != ReferenceKind::kLabel) return false;
    out.make<Branch>() = {.target = ops[0].reference.index, .is_label = true};
    return true;
  }
  if (ops.size() != 2 || ops[1].reference.kind != ReferenceKind::kTargets) return false;
  if (!source(ops[0], ScalarType::kU32, out.s[0])) return false;
  std::vector<std::uint32_t> list;
  for (const ptx::Reference& reference : source_.targets[ops[1].reference.index].references) {
    if (reference.kind != ReferenceKind::kLabel) return false;
    list.push_back(reference.index);
  }
  out.make<BranchList>().list = static_cast<std::uint32_t>(out_->branch_lists.size());
  out_->branch_lists.push_back(std::move(list));
  return true;
}

/// The layout of a call through a pointer, from its prototype or the first function it may reach.
bool Decoder::lay_out_site(const ptx::Reference& shape, Signature& out) {
  std::optional<Signature> made;
  if (shape.kind == ReferenceKind::kPrototype) {
    const ptx::Prototype& prototype = source_.prototypes[shape.index];
    made = lay_out_call(prototype.returns, prototype.parameters);
  } else if (shape.kind == ReferenceKind::kTargets) {
    const auto& references = source_.targets[shape.index].references;
    if (references.empty() || references.front().kind != ReferenceKind::kFunction) return false;
    const ptx::Function& declared = module_.functions[references.front().index];
    made = lay_out_call(declared.returns, declared.parameters);
  }
  if (made) out = *std::move(made);
  return made.has_value();
}

/// Arguments (`reading`) or results beside the callee's fields.
bool Decoder::copies_of(Operands list, std::span<const FrameField> fields, bool reading,
                        std::vector<ArgumentCopy>& out) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    ArgumentCopy copy;
    copy.callee_offset = fields[i].offset_bytes;
    copy.size_bytes = fields[i].size_bytes;
    if (const auto field = frame_field(list[i].reference)) {
      if (field->size_bytes < copy.size_bytes) return false;
      copy.caller_offset = field->offset_bytes;
    } else if (!reading && list[i].kind == OperandKind::kSink) {
      copy.size_bytes = 0;
    } else {
      if (copy.size_bytes > 8) return false;
      const ScalarType type = copy.size_bytes > 4 ? ScalarType::kB64 : ScalarType::kB32;
      copy.value = reading ? value(list[i], type) : destination(list[i]);
      if (!copy.value || copy.value.kind == ValueKind::kPredicate) return false;
    }
    out.push_back(copy);
  }
  return true;
}

bool Decoder::read_call(Operands ops, Instruction& out) {
  std::size_t next = 0;
  Operands results, arguments;
  if (next < ops.size() && ops[next].kind == OperandKind::kList) results = ops[next++].children;
  if (next >= ops.size()) return false;
  const ptx::Operand& callee = ops[next++];
  if (next < ops.size() && ops[next].kind == OperandKind::kList) arguments = ops[next++].children;
  Call call;
  CallSite site;
  if (callee.reference.kind == ReferenceKind::kFunction) {
    const ptx::Function& declared = module_.functions[callee.reference.index];
    site.callee = symbols_.functions[callee.reference.index];
    call.callee = std::string(declared.name);
    auto made = lay_out_call(declared.returns, declared.parameters);
    if (!made) return false;
    call.signature = *std::move(made);
    facts_->callees.push_back(site.callee);
    if (!program_functions_[site.callee]->has_body) {
      call.builtin = declared.name == "vprintf"               ? Builtin::kPrintf
                     : declared.name == "malloc"              ? Builtin::kMalloc
                     : declared.name == "free"                ? Builtin::kFree
                     : declared.name == "__assertfail"        ? Builtin::kAssertFail
                     : declared.name == "__membound_red_zone" ? Builtin::kRedZone
                                                              : Builtin::kUnknown;
      if (call.builtin == Builtin::kRedZone && out_->stack_bytes >= kRedZoneBytes + kCallBytes)
        out_->stack_bytes -= kRedZoneBytes;
    }
  } else {
    if (!source(callee, ScalarType::kU64, out.s[0])) return false;
    facts_->calls_indirectly = true;
    if (next >= ops.size() || !lay_out_site(ops[next++].reference, call.signature)) return false;
  }
  const std::span<const FrameField> fields = call.signature.fields;
  if (results.size() != call.signature.results ||
      fields.size() != results.size() + arguments.size())
    return false;
  if (!copies_of(results, fields.first(results.size()), false, call.results) ||
      !copies_of(arguments, fields.subspan(results.size()), true, call.arguments))
    return false;
  site.call = static_cast<std::uint32_t>(out_->calls.size());
  out.detail = site;
  out_->calls.push_back(std::move(call));
  return true;
}

std::optional<Signature> lay_out_call(std::span<const ptx::Variable> returns,
                                      std::span<const ptx::Variable> parameters) {
  Signature signature;
  signature.results = returns.size();
  std::uint64_t end = 0;
  for (const auto list : {returns, parameters}) {
    for (const ptx::Variable& variable : list) {
      end = align_up(end, alignment_of(variable));
      const std::uint64_t bytes =
          std::max<std::uint64_t>(variable.size_bytes, ptx::size_bytes(variable.type));
      if (end > kMostBytes || bytes > kMostBytes - end) return std::nullopt;
      signature.fields.push_back(
          {static_cast<std::uint32_t>(end), static_cast<std::uint32_t>(bytes)});
      end += bytes;
    }
  }
  return signature;
}

std::uint64_t end_of(const Signature& signature) {
  if (signature.fields.empty()) return 0;
  const FrameField& last = signature.fields.back();
  return std::uint64_t{last.offset_bytes} + last.size_bytes;
}

base::Status Decoder::lay_out_frame() {
  std::uint64_t end = 0;
  auto formals = lay_out_call(source_.returns, source_.parameters);
  if (!formals) return too_large("bytes of parameters", kMostBytes);
  if (!source_.is_entry) {  // a kernel's are not in its frame
    out_->signature = *std::move(formals);
    end = align_up(end_of(out_->signature), 16);
  }
  variable_offset_.assign(source_.variables.size(), 0);
  std::uint64_t locals = 0;
  for (std::size_t i = 0; i < source_.variables.size(); ++i) {
    const ptx::Variable& variable = source_.variables[i];
    if (variable.space != ptx::StateSpace::kLocal && variable.space != ptx::StateSpace::kParam)
      continue;
    end = align_up(end, alignment_of(variable));
    if (end > kMostBytes || variable.size_bytes > kMostBytes - end)
      return too_large("bytes of local variables", kMostBytes);
    variable_offset_[i] = static_cast<std::uint32_t>(end);
    end += variable.size_bytes;
    if (variable.space == ptx::StateSpace::kLocal) locals += align_up(variable.size_bytes, 16);
  }
  if (!source_.is_entry) end = std::max<std::uint64_t>(end, kCallBytes);  // no call is for nothing
  out_->frame_bytes = static_cast<std::uint32_t>(align_up(end, 16));
  out_->stack_bytes = static_cast<std::uint32_t>(locals + kCallBytes);
  return base::Done{};
}

base::Status Decoder::lay_out_shared() {
  std::uint64_t end = shared_.base_bytes;
  for (std::size_t i = 0; i < source_.variables.size(); ++i) {
    const ptx::Variable& variable = source_.variables[i];
    if (variable.space != ptx::StateSpace::kShared || variable.size_bytes == 0) continue;
    end = align_up(end, alignment_of(variable));
    if (end > kMostBytes || variable.size_bytes > kMostBytes - end)
      return too_large("bytes of shared variables", kMostBytes);
    variable_offset_[i] = static_cast<std::uint32_t>(end);
    end += variable.size_bytes + shared_.red_zone_bytes;
    facts_->shared_end_bytes = static_cast<std::uint32_t>(end);
    facts_->shared_variables.push_back({std::string(variable.name), variable_offset_[i],
                                        static_cast<std::uint32_t>(variable.size_bytes)});
  }
  return base::Done{};
}

}  // namespace membound::vgpu::program
