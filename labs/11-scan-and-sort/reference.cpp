// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/11-scan-and-sort/reference.hpp"

namespace membound::labs::scan_and_sort {
namespace {

std::size_t digit_of(std::uint32_t key, int k) { return key >> k & (kBins - 1); }

}  // namespace

// [scanned]
std::vector<std::int64_t> scanned(const std::vector<std::int32_t>& in, std::int64_t run, int k) {
  std::vector<std::int64_t> out(in.size());
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (static_cast<std::int64_t>(i) % run == 0) sum = 0;
    out[i] = k == 0 ? sum : sum + in[i];
    sum += in[i];
  }
  return out;
}
// [/scanned]

std::vector<std::uint32_t> counted(const std::vector<std::uint32_t>& in, int k) {
  std::vector<std::uint32_t> counts(kBins);
  for (const std::uint32_t key : in) ++counts[digit_of(key, k)];
  return counts;
}

// [ordered]
std::vector<std::uint32_t> ordered(const std::vector<std::uint32_t>& in, int k) {
  std::size_t next[kBins + 1] = {};  // next[d]: where the next key with digit d goes
  for (const std::uint32_t key : in) ++next[digit_of(key, k) + 1];
  for (std::size_t d = 1; d < kBins; ++d) next[d] += next[d - 1];
  std::vector<std::uint32_t> out(in.size());
  for (const std::uint32_t key : in) out[next[digit_of(key, k)]++] = key;
  return out;
}
// [/ordered]

}  // namespace membound::labs::scan_and_sort
