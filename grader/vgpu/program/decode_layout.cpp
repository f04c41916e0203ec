// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where the variables of a function lie: the parameters of its calls, its frame, shared memory.
#include <algorithm>

#include "grader/vgpu/program/decoder.hpp"

namespace membound::vgpu::program {
namespace {

std::uint32_t alignment_of(const ptx::Variable& variable) {
  return std::max<std::uint32_t>(
      1, std::max(variable.alignment_bytes, std::min(16u, ptx::size_bytes(variable.type))));
}

}  // namespace

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
    end += variable.size_bytes + shared_.gap_bytes;
    facts_->shared_end_bytes = static_cast<std::uint32_t>(end);
    facts_->shared_variables.push_back({std::string(variable.name), variable_offset_[i],
                                        static_cast<std::uint32_t>(variable.size_bytes)});
  }
  return base::Done{};
}

}  // namespace membound::vgpu::program
