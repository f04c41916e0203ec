// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/ast.hpp"

#include <algorithm>
#include <array>

#include "grader/base/result.hpp"

namespace membound::ptx {
namespace {

struct TypeRow {
  ScalarType type;
  std::string_view spelling;
  std::uint32_t size_bytes;
};

/// In the order of the enumeration, so that a type is its own index.
constexpr std::array kTypes{
    TypeRow{ScalarType::kNone, "", 0},           TypeRow{ScalarType::kB8, ".b8", 1},
    TypeRow{ScalarType::kB16, ".b16", 2},        TypeRow{ScalarType::kB32, ".b32", 4},
    TypeRow{ScalarType::kB64, ".b64", 8},        TypeRow{ScalarType::kB128, ".b128", 16},
    TypeRow{ScalarType::kU8, ".u8", 1},          TypeRow{ScalarType::kU16, ".u16", 2},
    TypeRow{ScalarType::kU32, ".u32", 4},        TypeRow{ScalarType::kU64, ".u64", 8},
    TypeRow{ScalarType::kS8, ".s8", 1},          TypeRow{ScalarType::kS16, ".s16", 2},
    TypeRow{ScalarType::kS32, ".s32", 4},        TypeRow{ScalarType::kS64, ".s64", 8},
    TypeRow{ScalarType::kF16, ".f16", 2},        TypeRow{ScalarType::kF16x2, ".f16x2", 4},
    TypeRow{ScalarType::kBf16, ".bf16", 2},      TypeRow{ScalarType::kBf16x2, ".bf16x2", 4},
    TypeRow{ScalarType::kTf32, ".tf32", 4},      TypeRow{ScalarType::kE4m3x2, ".e4m3x2", 2},
    TypeRow{ScalarType::kE5m2x2, ".e5m2x2", 2},  TypeRow{ScalarType::kF32, ".f32", 4},
    TypeRow{ScalarType::kF64, ".f64", 8},        TypeRow{ScalarType::kPred, ".pred", 1},
    TypeRow{ScalarType::kTexref, ".texref", 8},  TypeRow{ScalarType::kSamplerref, ".samplerref", 8},
    TypeRow{ScalarType::kSurfref, ".surfref", 8}};

constexpr std::array<std::string_view, 7> kSpaces{"",       ".reg",   ".const", ".global",
                                                  ".local", ".param", ".shared"};

const TypeRow& row_of(ScalarType type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::uint32_t size_bytes(ScalarType type) { return row_of(type).size_bytes; }

bool is_float(ScalarType type) {
  switch (type) {
    case ScalarType::kF16:
    case ScalarType::kF16x2:
    case ScalarType::kBf16:
    case ScalarType::kBf16x2:
    case ScalarType::kF32:
    case ScalarType::kF64:
      return true;
    default:
      return false;
  }
}

std::string_view to_string(ScalarType type) { return row_of(type).spelling; }

std::string_view to_string(StateSpace space) { return kSpaces[static_cast<std::size_t>(space)]; }

std::optional<ScalarType> scalar_type_of(std::string_view text) {
  for (const TypeRow& row : kTypes) {
    if (!row.spelling.empty() && row.spelling == text) return row.type;
  }
  return std::nullopt;
}

std::optional<StateSpace> state_space_of(std::string_view text) {
  if (text.empty()) return std::nullopt;
  for (std::size_t i = 1; i < kSpaces.size(); ++i) {
    if (kSpaces[i] == text) return static_cast<StateSpace>(i);
  }
  return std::nullopt;
}

bool Instruction::has_suffix(std::string_view suffix) const {
  return std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end();
}

const Directive* Function::find_directive(std::string_view directive_name) const {
  const auto found = std::find_if(directives.begin(), directives.end(), [&](const Directive& each) {
    return each.name == directive_name;
  });
  return found == directives.end() ? nullptr : &*found;
}

const RegisterGroup& Function::group_of(std::uint32_t number) const {
  MEMBOUND_CHECK(number < register_count);
  const auto behind =
      std::upper_bound(registers.begin(), registers.end(), number,
                       [](std::uint32_t n, const RegisterGroup& group) { return n < group.first; });
  return *std::prev(behind);
}

const Function* Module::find_function(std::string_view name) const {
  const Function* found = nullptr;
  for (const Function& function : functions) {
    if (function.name != name) continue;
    if (function.has_body) return &function;
    if (found == nullptr) found = &function;
  }
  return found;
}

std::string_view Module::file_name(std::uint32_t index) const {
  for (const File& file : files) {
    if (file.index == index) return file.name;
  }
  return {};
}

}  // namespace membound::ptx
