// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/10-warp-primitives/reference.hpp"

#include <algorithm>
#include <cstddef>

namespace membound::labs::warp_primitives {
namespace {

std::size_t behind_row(std::size_t first, std::size_t n) { return std::min(n, first + kRow); }

int as_int(std::uint32_t word) { return static_cast<int>(word); }

}  // namespace

// [kept_of_rows]
std::vector<int> kept_of_rows(const std::vector<int>& in, std::int64_t k) {
  std::vector<int> out;
  for (std::size_t first = 0; first < in.size(); first += kRow) {
    int kept = 0;
    for (std::size_t i = first; i < behind_row(first, in.size()); ++i) kept += in[i] < k ? 1 : 0;
    out.push_back(kept);
  }
  return out;
}
// [/kept_of_rows]

// [ranks]
std::vector<int> ranks(const std::vector<int>& in, std::int64_t k) {
  std::vector<int> out(in.size(), -1);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] >= k) continue;
    out[i] = 0;
    for (std::size_t before = i - i % kRow; before < i; ++before)
      out[i] += in[before] == in[i] ? 1 : 0;
  }
  return out;
}
// [/ranks]

// [compacted]
std::vector<int> compacted(const std::vector<int>& in, std::int64_t k) {
  std::vector<int> out(kHead + in.size(), 0);
  std::size_t place = kHead;
  for (const int number : in)
    if (number < k) out[place++] = number;
  out[0] = static_cast<int>(place - kHead);
  return out;
}
// [/compacted]

// [traded]
std::vector<int> traded(const std::vector<int>& in, std::int64_t k) {
  std::vector<int> out = in;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (i % kRow >= kRow / 2) continue;
    const bool has_partner = i + kRow / 2 < in.size();
    std::uint32_t first = static_cast<std::uint32_t>(in[i]);
    std::uint32_t second = has_partner ? static_cast<std::uint32_t>(in[i + kRow / 2]) : 0;
    for (std::int64_t round = 0; round < k; ++round) {
      first += second;
      second += first;
    }
    out[i] = as_int(first);
    if (has_partner) out[i + kRow / 2] = as_int(second);
  }
  return out;
}
// [/traded]

// [centered]
std::vector<int> centered(const std::vector<int>& in, std::int64_t k) {
  std::uint32_t total = 0;
  for (const int number : in) total += static_cast<std::uint32_t>(number);
  std::vector<int> out;
  out.reserve(in.size());
  for (const int number : in)
    out.push_back(
        as_int(static_cast<std::uint32_t>(k) * static_cast<std::uint32_t>(number) - total));
  return out;
}
// [/centered]

}  // namespace membound::labs::warp_primitives
