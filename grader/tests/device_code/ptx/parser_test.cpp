// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/ptx/parser.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "grader/device_code/ptx/printer.hpp"
#include "grader/tests/device_code/ptx/ptx_testing.hpp"

namespace membound::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

const Instruction& only_instruction(const Module& module) {
  static const Instruction kNone;
  const auto& all = module.functions.front().instructions;
  EXPECT_THAT(all, SizeIs(1));
  return all.size() == 1 ? all.front() : kNone;
}

TEST(Parser, ReadsTheModuleHeader) {
  const Module module = parsed(".version 8.7\n.target sm_100a, debug\n.address_size 64\n");
  EXPECT_EQ(module.version_major, 8u);
  EXPECT_EQ(module.version_minor, 7u);
  EXPECT_EQ(module.target, "sm_100a");
  EXPECT_THAT(module.target_options, ElementsAre("debug"));
}

TEST(Parser, SplitsOpcodeAndSuffixes) {
  const Module module = parsed_body(
      ".reg .f32 %f<4>; .reg .b64 %rd<2>;\n"
      "ld.global.L2::128B.v2.f32 {%f1, %f2}, [%rd1];");
  const Instruction& load = only_instruction(module);
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_THAT(load.suffixes, ElementsAre(".global", ".L2::128B", ".v2", ".f32"));
  EXPECT_EQ(load.mnemonic, "ld.global.L2::128B.v2.f32");
  EXPECT_TRUE(load.has_suffix(".v2"));
  EXPECT_FALSE(load.has_suffix(".v4"));
}

TEST(Parser, NumbersRegistersDenselyInOrderOfDeclaration) {
  const Module module = parsed_body(
      ".reg .pred %p<2>; .reg .b32 %r<3>, single;\n"
      "@!%p1 add.s32 %r2, single, %r0;");
  const Function& kernel = module.functions.front();
  const Instruction& add = only_instruction(module);
  EXPECT_EQ(kernel.register_count, 6u);
  EXPECT_EQ(add.guard, 1u);
  EXPECT_TRUE(add.guard_negated);
  ASSERT_THAT(add.operands, SizeIs(3));
  EXPECT_EQ(add.operands[0].reference.index, 4u);
  EXPECT_EQ(add.operands[1].reference.index, 5u);
  EXPECT_EQ(add.operands[2].reference.index, 2u);
  EXPECT_EQ(kernel.group_of(4).name, "%r");
  EXPECT_EQ(kernel.group_of(5).type, ScalarType::kB32);
}

TEST(Parser, ARegisterOfAnInnerScopeHidesTheOuterOne) {
  const Module module = parsed_body(".reg .b32 x;\n{ .reg .b32 x; mov.b32 x, 1; }\nmov.b32 x, 2;");
  const auto& all = module.functions.front().instructions;
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].operands[0].reference.index, 1u);
  EXPECT_EQ(all[1].operands[0].reference.index, 0u);
}

TEST(Parser, NumbersWithLeadingZeroesAreNotMembersOfAGroup) {
  const Module module = parsed_body(".reg .b32 %r<20>, %r01;\nmov.b32 %r01, %r10;");
  EXPECT_EQ(only_instruction(module).operands[0].reference.index, 20u);
  EXPECT_EQ(only_instruction(module).operands[1].reference.index, 10u);
}

TEST(Parser, ALabelOfTheSameScopeIsMeantBeforeOneOutside) {
  const Module module = parsed_body("again:\n{ bra again;\nagain: ret; }\nbra again;");
  const Function& kernel = module.functions.front();
  ASSERT_THAT(kernel.labels, SizeIs(2));
  EXPECT_EQ(kernel.instructions[0].operands[0].reference.kind, ReferenceKind::kLabel);
  EXPECT_EQ(kernel.instructions[0].operands[0].reference.index, 1u);
  EXPECT_EQ(kernel.instructions[2].operands[0].reference.index, 0u);
}

TEST(Parser, AJumpOutOfAScopeFindsALabelFurtherDown) {
  const Module module = parsed_body("{ { bra away; } }\naway: ret;");
  EXPECT_EQ(module.functions.front().instructions[0].operands[0].reference.index, 0u);
  EXPECT_EQ(module.functions.front().labels[0].instruction, 1u);
}

TEST(Parser, ALabelAtTheEndPointsBehindTheLastInstruction) {
  const Module module = parsed_body("ret;\nend:");
  EXPECT_EQ(module.functions.front().labels[0].instruction, 1u);
}

struct OperandCase {
  const char* text;
  OperandKind kind;
  std::uint64_t bits;
};

class Operands : public ::testing::TestWithParam<OperandCase> {};

TEST_P(Operands, HaveTheirKindAndValue) {
  const Module module =
      parsed_body(std::string(".reg .b64 %rd<3>; .reg .pred %p<2>;\n.shared .b32 s[4];\nop ") +
                  GetParam().text + ";");
  ASSERT_THAT(only_instruction(module).operands, SizeIs(1));
  EXPECT_EQ(only_instruction(module).operands[0].kind, GetParam().kind);
  EXPECT_EQ(only_instruction(module).operands[0].bits, GetParam().bits);
}

INSTANTIATE_TEST_SUITE_P(
    EveryKind, Operands,
    ::testing::Values(OperandCase{"42", OperandKind::kInteger, 42},
                      OperandCase{"-1", OperandKind::kInteger, ~0ull},
                      OperandCase{"0x7FU", OperandKind::kInteger, 127},
                      OperandCase{"017", OperandKind::kInteger, 15},
                      OperandCase{"0b101", OperandKind::kInteger, 5},
                      OperandCase{"-9223372036854775808", OperandKind::kInteger, 1ull << 63},
                      OperandCase{"(1 << 4) - 2 * 3", OperandKind::kInteger, 10},
                      OperandCase{"!0", OperandKind::kInteger, 1},
                      OperandCase{"WARP_SZ", OperandKind::kInteger, 32},
                      OperandCase{"0f3F800000", OperandKind::kFloat32, 0x3F800000},
                      OperandCase{"-0f3F800000", OperandKind::kFloat32, 0xBF800000},
                      OperandCase{"0d3FF0000000000000", OperandKind::kFloat64, 0x3FF0000000000000},
                      OperandCase{"2.0", OperandKind::kFloat64, 0x4000000000000000},
                      OperandCase{"1e0", OperandKind::kFloat64, 0x3FF0000000000000},
                      OperandCase{"%rd1", OperandKind::kRegister, 0},
                      OperandCase{"!%p1", OperandKind::kRegister, 0},
                      OperandCase{"%tid.x", OperandKind::kRegister, 0},
                      OperandCase{"s+8", OperandKind::kSymbol, 8},
                      OperandCase{"[%rd1-4]", OperandKind::kAddress, ~3ull},
                      OperandCase{"[s+4+4]", OperandKind::kAddress, 8},
                      OperandCase{"[0x100]", OperandKind::kAddress, 256},
                      OperandCase{"[%rd1, {%rd2, 1}]", OperandKind::kTuple, 0},
                      OperandCase{"{%rd1, _}", OperandKind::kVector, 0},
                      OperandCase{"%rd1|%p1", OperandKind::kPair, 0},
                      OperandCase{"_", OperandKind::kSink, 0}));

TEST(Parser, SpecialRegistersKeepTheirComponentInTheName) {
  const Module module = parsed_body(".reg .b32 %r<2>;\nmov.u32 %r1, %ntid.y;");
  const Operand& source = only_instruction(module).operands[1];
  EXPECT_EQ(source.reference.kind, ReferenceKind::kSpecialRegister);
  EXPECT_EQ(source.reference.name, "%ntid.y");
  EXPECT_EQ(source.component, "");
}

TEST(Parser, ARegisterMayBeNamedLikeASpecialOne) {
  const Module module = parsed_body(".reg .b32 %laneid;\nmov.u32 %laneid, 3;");
  EXPECT_EQ(only_instruction(module).operands[0].reference.kind, ReferenceKind::kRegister);
}

TEST(Parser, ACallHasListsOfResultsAndArguments) {
  const Module module = parsed_module(
      ".extern .func (.param .b32 r) f (.param .b64 a);\n.entry k() {\n.reg .b64 %rd<2>;\n"
      "{ .param .b32 x; .param .b64 y; st.param.b64 [y], %rd1; call.uni (x), f, (y); }\n}");
  const Instruction& call = module.functions.back().instructions.back();
  ASSERT_THAT(call.operands, SizeIs(3));
  EXPECT_EQ(call.operands[0].kind, OperandKind::kList);
  EXPECT_EQ(call.operands[1].reference.kind, ReferenceKind::kFunction);
  EXPECT_EQ(call.operands[2].children[0].reference.kind, ReferenceKind::kVariable);
}

TEST(Parser, ParametersInRegistersAreRegisters) {
  const Module module =
      parsed_module(".func (.reg .u32 out) f (.reg .u32 in)\n{ add.u32 out, in, 1; ret; }");
  const Function& f = module.functions.front();
  EXPECT_EQ(f.returns[0].register_number, 0u);
  EXPECT_EQ(f.parameters[0].register_number, 1u);
  EXPECT_EQ(f.instructions[0].operands[1].reference.index, 1u);
}

TEST(Parser, InstructionsKnowTheirSourceLineAndWhatWasInlinedThere) {
  const Module module = parsed_module(
      ".file 1 \"a.cu\"\n.file 2 \"b.cuh\"\n.entry k() {\n.loc 1 5 3\n"
      "ret;\n.loc 2 9 1, function_name text+2, inlined_at 1 6 4\nexit;\n}\n"
      ".section .debug_str { text: .b8 1,0,102,111,0 }");
  const Function& kernel = module.functions.front();
  const SourceLocation& plain = kernel.locations[kernel.instructions[0].location];
  const SourceLocation& inlined = kernel.locations[kernel.instructions[1].location];
  EXPECT_EQ(plain.line, 5u);
  EXPECT_EQ(plain.function_name, "");
  EXPECT_EQ(module.file_name(inlined.file), "b.cuh");
  EXPECT_EQ(inlined.function_name, "fo");
  EXPECT_EQ(inlined.inlined_at_line, 6u);
}

TEST(Parser, FindsTheDefinitionBehindItsPrototype) {
  const Module module = parsed_module(".func f (.param .b32 a);\n.func f (.param .b32 a) { ret; }");
  EXPECT_THAT(module.functions, SizeIs(2));
  EXPECT_TRUE(module.find_function("f")->has_body);
  EXPECT_EQ(module.find_function("g"), nullptr);
}

TEST(Parser, DebugSectionsAreSkippedWhateverTheyHold) {
  const Module module = parsed_module(
      "@@DWARF .section .debug_info, \"\", @progbits\n"
      ".section .debug_loc { .b64 $tmp0 .b8 1,2 .b32 .debug_abbrev label: .b64 a-b }\n.entry k() { "
      "ret; }");
  EXPECT_THAT(module.functions, SizeIs(1));
}

TEST(Parser, FinalZeroBytesOfAnEmbeddedTextDoNotMatter) {
  EXPECT_THAT(parsed(kernel_text("ret;") + std::string(3, '\0')).functions, SizeIs(1));
}

TEST(Parser, ATreeOutlivesTheTextItCameFrom) {
  Module copy;
  {
    const Module module = parsed_body("ret;");
    copy = module;
  }
  EXPECT_EQ(copy.functions.front().instructions.front().opcode, "ret");
}

TEST(Parser, EveryFormPrintsAndParsesBackToTheSameTree) {
  std::ifstream file(std::string(MEMBOUND_TEST_INPUTS) + "/every_form.ptx");
  std::stringstream text;
  text << file.rdbuf();
  const Module module = parsed(text.str());
  ASSERT_FALSE(module.functions.empty());
  const std::string printed = to_text(module);
  EXPECT_EQ(to_text(parsed(printed)), printed);
  const Function& kernel = *module.find_function("kernel");
  EXPECT_EQ(kernel.find_directive(".maxntid")->values, (std::vector<std::uint64_t>{128, 2, 1}));
  EXPECT_EQ(kernel.targets[0].references[1].kind, ReferenceKind::kLabel);
  EXPECT_EQ(kernel.targets[1].references[0].kind, ReferenceKind::kFunction);
  EXPECT_TRUE(kernel.prototypes[0].is_noreturn);
}

}  // namespace
}  // namespace membound::ptx
