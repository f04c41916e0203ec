// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/other_inputs.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "grader/base/result.hpp"
#include "grader/harness/cases/data.hpp"

namespace membound::harness {
namespace {

constexpr std::size_t kWordBytes = sizeof(std::uint32_t);
/// Inputs that a copy may begin with, as a quick way; all others are found word by word.
constexpr std::size_t kMostTried = 8;

}  // namespace

void OtherInputs::add(std::vector<std::uint32_t> given, std::vector<std::uint32_t> other) {
  MEMBOUND_CHECK(given.size() == other.size());
  inputs_.push_back({std::move(given), std::move(other)});
}

bool OtherInputs::replace_piece(std::span<std::byte> copied, std::size_t input, std::size_t word) {
  if (input >= inputs_.size()) return false;
  const auto& [given, other] = inputs_[input];
  const std::size_t count = copied.size() / kWordBytes;
  if (word > given.size() || count > given.size() - word) return false;
  if (std::memcmp(copied.data(), given.data() + word, count * kWordBytes) != 0) return false;
  std::memcpy(copied.data(), other.data() + word, count * kWordBytes);
  next_input_ = input;
  next_word_ = word + count;
  return true;
}

std::size_t OtherInputs::replace_in(std::span<std::byte> copied) {
  const std::size_t count = copied.size() / kWordBytes;
  if (count == 0) return 0;
  if (replace_piece(copied, next_input_, next_word_)) return count;
  for (std::size_t input = 0; input < std::min(inputs_.size(), kMostTried); ++input)
    if (replace_piece(copied, input, 0)) return count;
  for (; mapped_ < inputs_.size(); ++mapped_) {
    const auto& [given, other] = inputs_[mapped_];
    for (std::size_t i = 0; i < given.size(); ++i) other_of_.emplace(given[i], other[i]);
  }
  std::size_t replaced = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const at = copied.data() + i * kWordBytes;
    std::uint32_t word = 0;
    std::memcpy(&word, at, kWordBytes);
    const auto found = other_of_.find(word);
    if (found == other_of_.end()) continue;
    std::memcpy(at, &found->second, kWordBytes);
    ++replaced;
  }
  return replaced;
}

std::int64_t other_integer(std::int64_t value, std::int64_t low, std::int64_t high,
                           std::uint64_t key) {
  MEMBOUND_CHECK(low <= value && value <= high && low < high);
  const auto range = static_cast<std::uint64_t>(high - low) + 1;
  const auto place = static_cast<std::uint64_t>(value - low);
  const std::uint64_t step = 1 + random_bits(key, place) % (range - 1);
  return low + static_cast<std::int64_t>((place + step) % range);
}

}  // namespace membound::harness
