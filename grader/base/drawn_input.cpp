// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/drawn_input.hpp"

#include <cstring>
#include <limits>

namespace membound::base {

void draw_into(const DrawnInput& input, std::uint64_t offset, std::span<std::byte> bytes) {
  const Draw how = input.how;
  const unsigned long long share_seed = second_seed(how.seed);
  with_type(input.type, [&]<typename T>(T) {
    const auto write = [&](auto value_at) {
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        const T value = value_at((offset + at) / sizeof(T));
        std::memcpy(bytes.data() + at, &value, sizeof(T));
      }
    };
    // What most labs draw, without asking for each element what it is.
    if (sizeof(T) == 4 && how.infinity_share <= 0 && how.whole_numbers == 0 &&
        static_cast<Fill>(how.fill) == Fill::kUniform)
      return write([&](auto index) { return Values<T>::uniform(random_bits(how.seed, index)); });
    write([&](auto index) {
      return drawn_value<T>(how, share_seed, index, std::numeric_limits<T>::infinity());
    });
  });
}

}  // namespace membound::base
