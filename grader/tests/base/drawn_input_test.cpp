// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Parts of a drawn input are the elements that drawn_value() says, however they are computed.
#include "grader/base/drawn_input.hpp"

#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace membound::base {
namespace {

std::vector<Draw> ways_to_draw() {
  constexpr auto kUniform = static_cast<int>(Fill::kUniform);
  std::vector<Draw> all = {{7, 0, 0, 0.0, kUniform, 0},
                           {7, -1'000'000, 1'000'000, 0.0, kUniform, 1},
                           {~0ULL, 0, 4'294'967'294, 0.0, kUniform, 1},
                           {7, 0, 0, 0.25, kUniform, 0},
                           {7, 1, 9, 0.25, kUniform, 1}};
  for (const Fill fill : {Fill::kRamp, Fill::kConstant, Fill::kAdversarial})
    all.push_back({99, 0, 0, 0.0, static_cast<int>(fill), 0});
  return all;
}

TEST(DrawnInput, PartsAreWhatEachElementIs) {
  for (const ElementType type :
       {ElementType::kInt32, ElementType::kInt64, ElementType::kFloat, ElementType::kDouble})
    for (const Draw& how : ways_to_draw())
      // A whole chunk, one without its last elements, and one far beyond 2^32 elements.
      for (const auto& [first, count] : std::vector<std::pair<std::uint64_t, std::size_t>>{
               {0, 128}, {128, 61}, {1, 1}, {(1ULL << 33) + 5, 77}})
        with_type(type, [&]<typename T>(T) {
          std::vector<T> right(count), drawn(count);
          for (std::size_t i = 0; i < count; ++i)
            right[i] = drawn_value<T>(how, second_seed(how.seed), first + i,
                                      std::numeric_limits<T>::infinity());
          draw_into({how, type}, first * sizeof(T), std::as_writable_bytes(std::span(drawn)));
          EXPECT_EQ(std::memcmp(drawn.data(), right.data(), count * sizeof(T)), 0)
              << "type " << static_cast<int>(type) << ", fill " << how.fill << ", whole numbers "
              << how.whole_numbers << ", from " << first;
        });
}

}  // namespace
}  // namespace membound::base
