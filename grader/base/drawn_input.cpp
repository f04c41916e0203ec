// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/drawn_input.hpp"

#include <cstring>
#include <limits>

#include "grader/base/processor.hpp"

namespace membound::base {
namespace {

/// Writes value_at(index) of each element from `first` on.
template <typename T, typename ValueAt>
[[gnu::always_inline]] inline void write_each(std::uint64_t first, std::byte* to, std::size_t count,
                                              ValueAt value_at) {
  for (std::size_t i = 0; i < count; ++i) {
    const T value = value_at(first + i);
    std::memcpy(to + i * sizeof(T), &value, sizeof(T));
  }
}

/// The same, compiled for processors that multiply eight numbers of 64 bits at once: a third of the
/// time.
template <typename T, typename ValueAt>
MEMBOUND_WIDER_CODE void write_eight_at_once(std::uint64_t first, std::byte* to, std::size_t count,
                                             ValueAt value_at) {
  write_each<T>(first, to, count, value_at);
}

template <typename T, typename ValueAt>
void write(std::uint64_t offset, std::span<std::byte> bytes, ValueAt value_at) {
  const std::uint64_t first = offset / sizeof(T);
  const std::size_t count = bytes.size() / sizeof(T);
  if (runs_wider_code()) return write_eight_at_once<T>(first, bytes.data(), count, value_at);
  write_each<T>(first, bytes.data(), count, value_at);
}

}  // namespace

void draw_into(const DrawnInput& input, std::uint64_t offset, std::span<std::byte> bytes) {
  const Draw how = input.how;
  const unsigned long long share_seed = second_seed(how.seed);
  with_type(input.type, [&]<typename T>(T) {
    const bool all_finite = how.infinity_share <= 0;
    const bool is_uniform = static_cast<Fill>(how.fill) == Fill::kUniform;
    // What most labs draw, without asking for each element what it is.
    if (all_finite && how.whole_numbers != 0)
      return write<T>(offset, bytes,
                      [seed = how.seed, low = how.low, high = how.high](std::uint64_t index) {
                        return static_cast<T>(integer_value(random_bits(seed, index), low, high));
                      });
    if (all_finite && is_uniform) {
      if constexpr (sizeof(T) == 8)
        return write<T>(offset, bytes, [seed = how.seed, share_seed](std::uint64_t index) {
          return Values<T>::uniform(hidden_bits(seed, share_seed, index));
        });
      else
        return write<T>(offset, bytes, [seed = how.seed](std::uint64_t index) {
          return Values<T>::uniform(random_bits(seed, index));
        });
    }
    write<T>(offset, bytes, [how, share_seed](std::uint64_t index) {
      return drawn_value<T>(how, share_seed, index, std::numeric_limits<T>::infinity());
    });
  });
}

}  // namespace membound::base
