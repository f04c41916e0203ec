// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/lanes/call_values.hpp"

#include "grader/vgpu/exec/state/access.hpp"

namespace membound::vgpu::exec {
namespace {

using program::ArgumentCopy;
using program::Value;
using program::ValueKind;

/// Where a register Value of a frame (or a constant) has the word of `lane`.
const std::byte* word_of(const Warp& w, const Frame& frame, const Value& value, int lane,
                         std::uint32_t bytes) {
  const std::size_t width = bytes > 4 ? 8 : 4;
  const std::byte* base = value.kind == ValueKind::kRegister   ? frame.registers
                          : value.kind == ValueKind::kConstant ? w.bases[kConstantArea]
                          : value.kind == ValueKind::kWarp     ? w.bases[kWarpArea]
                                                               : w.bases[kBlockArea];
  return base + std::size_t{value.index} * 128 + static_cast<std::size_t>(lane) * width;
}

}  // namespace

std::byte* frame_place(const Warp& w, const Frame& frame, int lane, std::uint32_t offset,
                       std::uint32_t bytes) {
  return local_place(w, lane, std::uint64_t{frame.local_base} + offset, bytes);
}

std::byte* bytes_of(const Warp& w, const Frame& caller, const ArgumentCopy& copy, int lane) {
  if (!copy.value) return frame_place(w, caller, lane, copy.caller_offset, copy.size_bytes);
  return const_cast<std::byte*>(word_of(w, caller, copy.value, lane, copy.size_bytes));
}

}  // namespace membound::vgpu::exec
