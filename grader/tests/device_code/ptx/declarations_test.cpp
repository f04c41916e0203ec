// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/parser_parts.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cstring>

#include "grader/tests/device_code/ptx/ptx_testing.hpp"

namespace membound::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

/// The first global of a module with this declaration.
Variable global(std::string_view declaration) {
  const Module module = parsed_module(declaration);
  return module.globals.empty() ? Variable{} : module.globals.back();
}

template <typename T>
std::vector<T> values(const Variable& variable) {
  std::vector<T> result(variable.initial.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), variable.initial.data(), variable.initial.size());
  return result;
}

TEST(Declarations, SizeIsElementsTimesWidth) {
  EXPECT_EQ(global(".global .u32 a;").size_bytes, 4u);
  EXPECT_EQ(global(".global .v4 .f32 a[3];").size_bytes, 48u);
  EXPECT_EQ(global(".shared .b8 a[2][3][5];").size_bytes, 30u);
  EXPECT_EQ(global(".extern .shared .b8 a[];").size_bytes, 0u);
  EXPECT_EQ(global(".global .texref t;").size_bytes, 8u);
}

TEST(Declarations, AlignmentIsThatOfTheElementUnlessGiven) {
  EXPECT_EQ(global(".global .v2 .f64 a;").alignment_bytes, 16u);
  EXPECT_EQ(global(".global .align 256 .b8 a;").alignment_bytes, 256u);
}

TEST(Declarations, LinkageSpaceAndManagedAreKept) {
  const Variable variable = global(".visible .global .attribute(.managed) .align 4 .u32 m = 3;");
  EXPECT_EQ(variable.linkage, Linkage::kVisible);
  EXPECT_EQ(variable.space, StateSpace::kGlobal);
  EXPECT_TRUE(variable.is_managed);
}

TEST(Initializers, ShortListsLeaveZeroes) {
  EXPECT_THAT(values<int>(global(".global .s32 a[4] = {1, -2};")), ElementsAre(1, -2, 0, 0));
}

TEST(Initializers, InnerBracesFillOneRow) {
  EXPECT_THAT(values<int>(global(".global .u32 a[2][3] = {{1}, {2, 3}};")),
              ElementsAre(1, 0, 0, 2, 3, 0));
}

TEST(Initializers, AnArrayWithoutLengthGrows) {
  const Variable variable = global(".global .u16 a[][2] = {{1, 2}, {3, 4}, {5}};");
  EXPECT_THAT(values<std::uint16_t>(variable), ElementsAre(1, 2, 3, 4, 5, 0));
  EXPECT_THAT(variable.dimensions, ElementsAre(3, 2));
}

TEST(Initializers, FloatsComeFromBitsDecimalsAndIntegers) {
  EXPECT_THAT(values<float>(global(".const .f32 a[3] = {0f3FC00000, 0.5, -2};")),
              ElementsAre(1.5f, 0.5f, -2.0f));
  EXPECT_THAT(values<double>(global(".const .f64 a[2] = {0d3FF8000000000000, 1e3};")),
              ElementsAre(1.5, 1000.0));
}

TEST(Initializers, AddressesBecomeRelocations) {
  const Variable variable =
      global(".global .b8 x[8];\n.global .u64 a[3] = {7, generic(x)+4, x-1};");
  ASSERT_THAT(variable.relocations, SizeIs(2));
  EXPECT_EQ(variable.relocations[0].offset_bytes, 8u);
  EXPECT_EQ(variable.relocations[0].addend, 4);
  EXPECT_TRUE(variable.relocations[0].generic);
  EXPECT_EQ(variable.relocations[0].target.kind, ReferenceKind::kGlobal);
  EXPECT_EQ(variable.relocations[0].target.index, 0u);
  EXPECT_EQ(variable.relocations[1].addend, -1);
  EXPECT_FALSE(variable.relocations[1].generic);
}

TEST(Initializers, AMaskPicksOneByteOfAnAddress) {
  const Variable variable =
      global(".global .b8 x;\n.global .b8 a[3] = {9, 0xFF00(generic(x)), 0xFF0000(x+1)};");
  ASSERT_THAT(variable.relocations, SizeIs(2));
  EXPECT_EQ(variable.relocations[0].size_bytes, 1u);
  EXPECT_EQ(variable.relocations[0].shift_bits, 8u);
  EXPECT_EQ(variable.relocations[1].shift_bits, 16u);
  EXPECT_EQ(variable.relocations[1].offset_bytes, 2u);
}

TEST(Initializers, MayNameAFunctionThatFollows) {
  const Variable variable = global(".global .u64 table[1] = {f};\n.func f () { ret; }");
  ASSERT_THAT(variable.relocations, SizeIs(1));
  EXPECT_EQ(variable.relocations[0].target.kind, ReferenceKind::kFunction);
}

TEST(Declarations, KernelParametersTellWhatTheyPointTo) {
  const Module module =
      parsed_module(".entry k(.param .u64 .ptr .shared .align 16 p, .param .f32 x) {}");
  const Variable& pointer = module.functions[0].parameters[0];
  EXPECT_TRUE(pointer.is_pointer);
  EXPECT_EQ(pointer.pointer_space, StateSpace::kShared);
  EXPECT_EQ(pointer.pointer_alignment_bytes, 16u);
  EXPECT_EQ(pointer.alignment_bytes, 8u);
}

}  // namespace
}  // namespace membound::ptx
