// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/ptx_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

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

/// The number behind `prefix` when it is written plainly (no leading zero) and below `count`.
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

}  // namespace membound::ptx
