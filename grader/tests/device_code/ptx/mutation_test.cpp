// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Thousands of damaged texts: the parser must answer each with a tree or an error, never crash or
/// hang. The seeds are fixed, so a failure repeats; the fuzzers in tests/fuzz look further.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/device_code/ptx/printer.hpp"

namespace membound::ptx {
namespace {

constexpr int kMutations = 4000;

std::string every_form() {
  std::ifstream file(std::string(MEMBOUND_TEST_INPUTS) + "/every_form.ptx");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Deletes, doubles, swaps or overwrites a few pieces of `text`.
std::string mutated(std::string text, std::mt19937& random) {
  static constexpr std::string_view kPieces = "{}[]();,:.%@!|+-<>=\"0123456789abc_$ \n\0\xff";
  const auto below = [&](std::size_t n) { return random() % n; };
  const std::size_t edits = 1 + below(4);
  for (std::size_t i = 0; i < edits && text.size() > 2; ++i) {
    const std::size_t at = below(text.size() - 1);
    const std::size_t length = std::min<std::size_t>(1 + below(12), text.size() - at);
    switch (below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text[at] = kPieces[below(kPieces.size())];
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      default:
        std::swap(text[at], text[below(text.size())]);
        break;
    }
  }
  return text;
}

TEST(Mutations, DamagedTextGivesATreeOrAnError) {
  const std::string original = every_form();
  ASSERT_FALSE(original.empty());
  std::mt19937 random(20240229);
  int accepted = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutated(original, random);
    const auto module = parse(text, "mutated.ptx");
    if (!module) {
      EXPECT_FALSE(module.error().found.empty());
      continue;
    }
    ++accepted;
    const std::string printed = to_text(*module);
    EXPECT_TRUE(parse(printed, "printed.ptx").ok()) << "mutation " << i << "\n" << printed;
  }
  EXPECT_GT(accepted, 100) << "some edits hit comments, names and numbers only";
  EXPECT_LT(accepted, kMutations);
}

TEST(Mutations, EveryPrefixGivesATreeOrAnError) {
  const std::string original = every_form();
  for (std::size_t length = 0; length < original.size(); length += 3) {
    const auto module = parse(std::string_view(original).substr(0, length), "prefix.ptx");
    EXPECT_TRUE(module.ok() || !module.error().found.empty());
  }
}

}  // namespace
}  // namespace membound::ptx
