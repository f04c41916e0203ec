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
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      const T value = drawn_value<T>(how, share_seed, (offset + at) / sizeof(T),
                                     std::numeric_limits<T>::infinity());
      std::memcpy(bytes.data() + at, &value, sizeof(T));
    }
  });
}

}  // namespace membound::base
