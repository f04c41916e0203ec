// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/declaration_text.hpp"

#include <algorithm>
#include <cstring>

#include "grader/device_code/ptx/number_text.hpp"

namespace membound::ptx {
namespace {

/// `.global .align 4 .v2 .f32 name[3]`, without linkage, value and ';'.
std::string declaration(const Variable& variable) {
  std::string text(to_string(variable.space));
  if (variable.is_managed) text += " .attribute(.managed)";
  if (variable.space != StateSpace::kReg) {
    text += " .align " + std::to_string(variable.alignment_bytes);
  }
  text += vector_word(variable.vector_width) + " " + std::string(to_string(variable.type));
  if (variable.is_pointer) {
    text += " .ptr " + std::string(to_string(variable.pointer_space));
    if (variable.pointer_alignment_bytes != 0) {
      text += " .align " + std::to_string(variable.pointer_alignment_bytes);
    }
  }
  text += " " + std::string(variable.name);
  for (std::uint64_t extent : variable.dimensions) {
    text += extent == 0 ? "[]" : "[" + std::to_string(extent) + "]";
  }
  return text;
}

std::string address(const Relocation& relocation) {
  std::string text(relocation.target.name);
  if (relocation.generic) text = "generic(" + text + ")";
  return text + offset(static_cast<std::uint64_t>(relocation.addend));
}

/// Element `index` of an initial value: an address, one byte of an address, or the stored bits.
std::string element(const Variable& variable, std::size_t index,
                    std::vector<Relocation>::const_iterator& relocation) {
  const std::size_t bytes = size_bytes(variable.type);
  if (relocation != variable.relocations.end() && relocation->offset_bytes == index * bytes) {
    const std::string text = address(*relocation);
    const bool whole = relocation->size_bytes == bytes && bytes > 1;
    const std::uint64_t mask = std::uint64_t{0xFF} << relocation->shift_bits;
    ++relocation;
    return whole ? text : hex("0x", 1, mask) + (mask >> 63 ? "U(" : "(") + text + ")";
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, variable.initial.data() + index * bytes, std::min(bytes, sizeof bits));
  if (variable.type == ScalarType::kF32) return hex("0f", 8, bits);
  if (variable.type == ScalarType::kF64) return hex("0d", 16, bits);
  return integer(bits, bits > std::uint64_t{INT64_MAX});
}

std::string initial_value(const Variable& variable) {
  const std::size_t bytes = size_bytes(variable.type);
  if (!variable.has_initial || variable.initial.empty()) return "";
  auto relocation = variable.relocations.begin();
  if (variable.dimensions.empty() && variable.vector_width == 1) {
    return " = " + element(variable, 0, relocation);
  }
  std::string text = " = {";
  for (std::size_t i = 0; i < variable.initial.size() / bytes; ++i) {
    if (i != 0) text += ", ";
    text += element(variable, i, relocation);
  }
  return text + "}";
}

}  // namespace

std::string_view spelling(Linkage linkage) {
  switch (linkage) {
    case Linkage::kVisible:
      return ".visible ";
    case Linkage::kExtern:
      return ".extern ";
    case Linkage::kWeak:
      return ".weak ";
    case Linkage::kCommon:
      return ".common ";
    case Linkage::kInternal:
      break;
  }
  return "";
}

std::string vector_word(std::uint8_t width) {
  return width > 1 ? " .v" + std::to_string(width) : "";
}

std::string parameters(const std::vector<Variable>& variables) {
  std::string text = "(";
  for (const Variable& variable : variables) {
    if (text.size() > 1) text += ", ";
    text += declaration(variable);
  }
  return text + ")";
}

std::string variable_text(const Variable& variable) {
  return std::string(spelling(variable.linkage)) + declaration(variable) + initial_value(variable) +
         ";\n";
}

}  // namespace membound::ptx
