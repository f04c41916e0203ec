// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "labs/05-bank-conflicts/reference.hpp"

#include <cstddef>

namespace membound::labs::bank_conflicts {
namespace {

/// Byte `place` of `word`, the lowest first.
unsigned byte_of(int word, std::int64_t place) {
  return static_cast<unsigned>(word) >> (8 * place) & 255U;
}

}  // namespace

std::vector<int> running_sums(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(in.size());
  for (std::int64_t signal = 0; signal < n; ++signal) {
    int so_far = 0;
    for (std::int64_t i = signal * k; i < (signal + 1) * k; ++i) out[i] = so_far += in[i];
  }
  return out;
}

// [looked-up]
std::vector<int> looked_up(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    unsigned word = 0;
    for (std::int64_t place = 0; place < 4; ++place) {
      unsigned byte = byte_of(in[kTableWords + i], place);
      for (std::int64_t pass = 0; pass < k; ++pass) {
        const auto entry = static_cast<std::int64_t>(byte ^ static_cast<unsigned>(i % 256));
        byte = byte_of(in[entry / 4], entry % 4);
      }
      word |= byte << (8 * place);
    }
    out[i] = static_cast<int>(word);
  }
  return out;
}
// [/looked-up]

std::vector<int> correlated(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j <= i + kWindow && j < n; ++j)
      for (std::int64_t word = 0; word < k; ++word) out[i] += in[i * k + word] * in[j * k + word];
  return out;
}

std::vector<int> with_echoes(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t e = 0; e < k && i + e * kDelay < n; ++e) out[i] += in[i + e * kDelay];
  return out;
}

std::vector<int> tile_sums(const std::vector<int>& in, std::int64_t n, std::int64_t k) {
  std::vector<int> out(static_cast<std::size_t>(n * 2 * k));
  for (std::int64_t tile = 0; tile < n; ++tile)
    for (std::int64_t row = 0; row < k; ++row)
      for (std::int64_t col = 0; col < k; ++col) {
        const int element = in[(tile * k + row) * k + col];
        out[tile * 2 * k + row] += element;
        out[tile * 2 * k + k + col] += element;
      }
  return out;
}

}  // namespace membound::labs::bank_conflicts
