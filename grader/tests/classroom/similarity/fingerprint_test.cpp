// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "grader/classroom/similarity/similarity.hpp"

namespace membound::similarity {
namespace {

/// A kernel that adds 1 … `count` to a register, each sum with a constant of its own.
std::string kernel(const std::string& name, const std::string& reg, int count, int first = 1) {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry " + name +
                     "()\n{\n  .reg .b32 " + reg + "<4>;\n";
  for (int i = 0; i < count; ++i)
    text += "  add.s32 " + reg + "1, " + reg + "2, " + std::to_string(first + i) + ";\n";
  return text + "  ret;\n}\n";
}

Fingerprint of(const std::string& ptx) {
  const auto fingerprint = fingerprint_of(ptx, "kernel.ptx");
  EXPECT_TRUE(fingerprint) << base::to_string(fingerprint.error());
  return fingerprint ? *fingerprint : Fingerprint{};
}

TEST(Fingerprint, NamesOfKernelsAndRegistersMakeNoDifference) {
  EXPECT_EQ(of(kernel("mine", "%r", 20)), of(kernel("yours", "%x", 20)));
}

TEST(Fingerprint, CommentsAndLayoutMakeNoDifference) {
  std::string text = kernel("k", "%r", 20);
  text.replace(text.find("  add"), 2, "// not copied\n\t\t");
  EXPECT_EQ(of(text), of(kernel("k", "%r", 20)));
}

TEST(Fingerprint, ConstantsMakeADifference) {
  EXPECT_NE(of(kernel("k", "%r", 20)), of(kernel("k", "%r", 20, 100)));
}

TEST(Fingerprint, AKernelInsideAnotherTextIsFoundAgain) {
  const Fingerprint part = of(kernel("k", "%r", 30));
  const Fingerprint whole = of(kernel("k", "%r", 60));
  const auto found = std::count_if(part.begin(), part.end(), [&whole](std::uint64_t hash) {
    return std::binary_search(whole.begin(), whole.end(), hash);
  });
  EXPECT_GE(found, static_cast<std::ptrdiff_t>(part.size()) - 4);  // the windows at its end differ
}

TEST(Fingerprint, KeepsAboutOneHashInTwoWindows) {
  // Winnowing's expected density is 2 / (window + 1) of all grams.
  const Fingerprint kept = of(kernel("k", "%r", 1000));
  EXPECT_NEAR(static_cast<double>(kept.size()) / 1000, 2.0 / (kWindowGrams + 1), 0.06);
}

TEST(Fingerprint, ShortFunctionsSayNothing) { EXPECT_TRUE(of(kernel("k", "%r", 3)).empty()); }

TEST(Fingerprint, AnythingElseThanPtxIsAnError) {
  EXPECT_FALSE(fingerprint_of("int main() {}", "main.c"));
}

}  // namespace
}  // namespace membound::similarity
