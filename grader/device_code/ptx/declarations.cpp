// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/parser_parts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "grader/device_code/ptx/lexer.hpp"

namespace membound::ptx {
namespace {

/// Sorted, for the binary search.
constexpr std::array<std::string_view, 45> kSpecialRegisters{
    "%aggr_smem_size",
    "%clock",
    "%clock64",
    "%clock_hi",
    "%cluster_ctaid",
    "%cluster_ctarank",
    "%cluster_nctaid",
    "%cluster_nctarank",
    "%clusterid",
    "%ctaid",
    "%current_graph_exec",
    "%dynamic_smem_size",
    "%globaltimer",
    "%globaltimer_hi",
    "%globaltimer_lo",
    "%gridid",
    "%is_explicit_cluster",
    "%laneid",
    "%lanemask_eq",
    "%lanemask_ge",
    "%lanemask_gt",
    "%lanemask_le",
    "%lanemask_lt",
    "%nclusterid",
    "%nctaid",
    "%nsmid",
    "%ntid",
    "%nwarpid",
    "%pm0_64",
    "%pm1_64",
    "%pm2_64",
    "%pm3_64",
    "%pm4_64",
    "%pm5_64",
    "%pm6_64",
    "%pm7_64",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_end",
    "%smid",
    "%tid",
    "%total_smem_size",
    "%warpid",
};
static_assert(std::is_sorted(kSpecialRegisters.begin(), kSpecialRegisters.end()));

/// The number after `prefix` when it is written plainly (no leading zero) and below `count`.
std::optional<std::uint32_t> number_behind(std::string_view name, std::string_view prefix,
                                           std::uint32_t count) {
  if (name.size() <= prefix.size() || !name.starts_with(prefix)) return std::nullopt;
  const char* const first = name.data() + prefix.size();
  const char* const end = name.data() + name.size();
  if (*first == '0' && end != first + 1) return std::nullopt;
  std::uint32_t number = 0;
  const auto [last, error] = std::from_chars(first, end, number);
  if (last != end || error != std::errc() || number >= count) return std::nullopt;
  return number;
}

}  // namespace

bool is_special_register(std::string_view name) {
  return std::binary_search(kSpecialRegisters.begin(), kSpecialRegisters.end(), name) ||
         number_behind(name, "%envreg", 32) || number_behind(name, "%pm", 8);
}

bool Names::declare(std::string_view name, Reference reference) {
  return scopes_.back().names.emplace(name, reference).second;
}

bool Names::declare_in_module(std::string_view name, Reference reference) {
  return scopes_.front().names.emplace(name, reference).second;
}

bool Names::declare(const RegisterGroup& group) {
  if (!group.numbered) {
    return declare(group.name, {ReferenceKind::kRegister, group.first, group.name});
  }
  Scope& scope = scopes_.back();
  for (const RegisterGroup& other : scope.groups) {
    if (other.name == group.name) return false;
  }
  scope.groups.push_back(group);
  return true;
}

Reference Names::find_in(const Scope& scope, std::string_view name) {
  for (const RegisterGroup& group : scope.groups) {
    if (const auto number = number_behind(name, group.name, group.count)) {
      return {ReferenceKind::kRegister, group.first + *number, name};
    }
  }
  if (!scope.names.empty()) {
    const auto found = scope.names.find(name);
    if (found != scope.names.end()) {
      Reference reference = found->second;
      reference.name = name;
      return reference;
    }
  }
  return {};
}

Reference Names::find(std::string_view name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const Reference found = find_in(*scope, name);
    if (found.kind != ReferenceKind::kNone) return found;
  }
  if (name.starts_with('%') && is_special_register(name)) {
    return {ReferenceKind::kSpecialRegister, kNoIndex, name};
  }
  return {};
}

Reference Names::find_innermost(std::string_view name) const {
  return find_in(scopes_.back(), name);
}

namespace {

constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxRegisters = 1u << 20;
constexpr std::uint64_t kMaxInitialBytes = std::uint64_t{1} << 28;
constexpr std::size_t kMaxDimensions = 32;
constexpr std::uint64_t kMaxAlignment = 1u << 16;

std::uint8_t vector_width_of(std::string_view word) {
  if (word == ".v2") return 2;
  if (word == ".v4") return 4;
  if (word == ".v8") return 8;
  return 0;
}

/// Product of the dimensions, the vector width and the element's size; false when it is absurd.
bool compute_size(Variable& variable) {
  const std::uint32_t element = size_bytes(variable.type) * variable.vector_width;
  if (variable.alignment_bytes == 0) variable.alignment_bytes = element == 0 ? 1 : element;
  std::uint64_t size = element;
  for (std::uint64_t dimension : variable.dimensions) {
    if (dimension != 0 && size > kMaxVariableBytes / dimension) return false;
    size *= dimension;
  }
  variable.size_bytes = size;
  return true;
}

}  // namespace

std::uint64_t element_count(const Variable& variable) {
  const std::uint32_t element = size_bytes(variable.type);
  return element == 0 ? 0 : variable.size_bytes / element;
}

bool DeclarationParser::parse_alignment(Variable& variable) {
  const Position position = cursor_.token().position;
  std::uint64_t bytes = 0;
  if (!cursor_.expect_integer(bytes, "an alignment in bytes")) return false;
  if (!std::has_single_bit(bytes) || bytes > kMaxAlignment) {
    return cursor_.fail(
        {position, "alignment " + std::to_string(bytes), "a power of two up to 65536", ""});
  }
  (variable.is_pointer ? variable.pointer_alignment_bytes : variable.alignment_bytes) =
      static_cast<std::uint32_t>(bytes);
  return true;
}

/// '(' .managed | .unified '(' … ')' { ',' … } ')'
bool DeclarationParser::parse_attribute_list(Variable& variable) {
  if (!cursor_.expect('(')) return false;
  for (int depth = 1; depth > 0;) {
    if (cursor_.at(TokenKind::kEnd) || cursor_.at(';')) return cursor_.fail_expected("')'");
    if (cursor_.at_word(".managed")) variable.is_managed = true;
    if (cursor_.at('(')) ++depth;
    if (cursor_.at(')')) --depth;
    cursor_.take();
  }
  return true;
}

/// One word of a declaration before its name.
bool DeclarationParser::parse_word(Variable& variable) {
  const Token word = cursor_.take();
  if (const auto space = state_space_of(word.text)) {
    (variable.is_pointer ? variable.pointer_space : variable.space) = *space;
    if (*space != StateSpace::kConst || !cursor_.accept('[')) return true;
    std::uint64_t bank =
        0;  // banks of constant memory went away with PTX 2.2; the number is dropped
    return cursor_.expect_integer(bank, "a bank number") && cursor_.expect(']');
  }
  if (const auto type = scalar_type_of(word.text)) return variable.type = *type, true;
  if (const std::uint8_t width = vector_width_of(word.text)) {
    return variable.vector_width = width, true;
  }
  if (word.text == ".align") return parse_alignment(variable);
  if (word.text == ".attribute") return parse_attribute_list(variable);
  if (word.text == ".ptr") return variable.is_pointer = true, true;
  if (word.text == ".tex") {  // texture variables of PTX 1.4, the same as .global .texref
    variable.space = StateSpace::kGlobal;
    return true;
  }
  return cursor_.fail(errors::unexpected(word, "a type, .align, .v2, .v4 or a name"));
}

bool DeclarationParser::parse_attributes(Variable& variable) {
  while (cursor_.at(TokenKind::kDotWord)) {
    if (!parse_word(variable)) return false;
  }
  if (variable.type == ScalarType::kNone) return cursor_.fail_expected("a type before the name");
  return true;
}

/// declarator := name { '[' [constant] ']' }
bool DeclarationParser::parse_declarator(Variable& variable) {
  variable.position = cursor_.token().position;
  if (!cursor_.expect_name(variable.name, "the name of a variable")) return false;
  while (cursor_.accept('[')) {
    Constant extent;
    const Position position = cursor_.token().position;
    if (!cursor_.at(']') && !parse_constant(cursor_, extent)) return false;
    if (!cursor_.expect(']')) return false;
    if (extent.kind != TokenKind::kInteger || extent.bits > kMaxVariableBytes) {
      return cursor_.fail(errors::too_large("the array", "2^40 bytes", position));
    }
    if (variable.dimensions.size() == kMaxDimensions) {
      return cursor_.fail(errors::too_deep(position));
    }
    variable.is_array = true;
    variable.dimensions.push_back(extent.bits);
  }
  if (compute_size(variable)) return true;
  return cursor_.fail(errors::too_large("the variable", "2^40 bytes", variable.position));
}

bool DeclarationParser::parse_variables(Linkage linkage, std::vector<Variable>& variables) {
  Variable common;
  common.linkage = linkage;
  if (!parse_attributes(common)) return false;
  do {
    Variable variable = common;
    if (!parse_declarator(variable)) return false;
    if (cursor_.accept('=')) {
      InitializerParser initializer(cursor_, variable, kMaxInitialBytes - initial_bytes_);
      if (!initializer.parse()) return false;
      initial_bytes_ += variable.initial.size();
    }
    variables.push_back(std::move(variable));
  } while (cursor_.accept(','));
  return cursor_.expect(';');
}

bool DeclarationParser::parse_parameters(std::vector<Variable>& parameters) {
  if (!cursor_.expect('(')) return false;
  if (cursor_.accept(')')) return true;
  do {
    Variable variable;
    if (!parse_attributes(variable)) return false;
    if (variable.space != StateSpace::kParam && variable.space != StateSpace::kReg) {
      return cursor_.fail_expected("a parameter in .param or .reg");
    }
    if (!parse_declarator(variable)) return false;
    parameters.push_back(std::move(variable));
  } while (cursor_.accept(','));
  return cursor_.expect(')');
}

/// register := name [ '<' count '>' ]
bool DeclarationParser::parse_register_name(RegisterGroup& group) {
  const Position position = cursor_.token().position;
  if (!cursor_.expect_name(group.name, "the name of a register")) return false;
  group.count = 1;
  if (cursor_.accept('<')) {
    std::uint64_t count = 0;
    if (!cursor_.expect_integer(count, "how many registers") || !cursor_.expect('>')) return false;
    group.numbered = true;
    group.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, kMaxRegisters));
  }
  if (group.first + std::uint64_t{group.count} < kMaxRegisters) return true;
  return cursor_.fail(errors::too_large("the number of registers", "2^20", position));
}

bool DeclarationParser::parse_registers(std::uint32_t first, std::vector<RegisterGroup>& groups) {
  Variable common;
  if (!parse_attributes(common)) return false;
  do {
    RegisterGroup group{common.type, common.vector_width, {}, false, first, 0};
    if (!parse_register_name(group)) return false;
    first += group.count;
    groups.push_back(group);
  } while (cursor_.accept(','));
  return cursor_.expect(';');
}

}  // namespace membound::ptx
