// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Inputs of timed runs on the host, whole or in parts: the harness draws those that it writes,
/// the virtual GPU those of which a launch will touch little. A GPU's kernels
/// (harness_kernels.cu) draw the same from the same formula.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "grader/base/values.cuh"

namespace membound::base {

/// Element types that inputs can be drawn in.
enum class ElementType { kInt32, kInt64, kFloat, kDouble };
inline constexpr int kElementTypes = 4;

/// Bytes of one element.
[[nodiscard]] constexpr std::size_t element_bytes(ElementType type) {
  return type == ElementType::kInt32 || type == ElementType::kFloat ? 4 : 8;
}

/// Calls `body` with a value of the type that the elements have.
template <typename Body>
auto with_type(ElementType type, Body body) {
  switch (type) {
    case ElementType::kInt32:
      return body(int{});
    case ElementType::kInt64:
      return body(static_cast<long long>(0));
    case ElementType::kFloat:
      return body(float{});
    case ElementType::kDouble:
      break;
  }
  return body(double{});
}

/// An input as it is drawn.
struct DrawnInput {
  Draw how;
  ElementType type;
};

/// Writes the bytes of an input from `offset` on: whole elements.
void draw_into(const DrawnInput& input, std::uint64_t offset, std::span<std::byte> bytes);

}  // namespace membound::base
