// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "grader/device_code/ptx/parser.hpp"
#include "grader/vgpu/program/control_flow.hpp"
#include "grader/vgpu/program/module.hpp"
#include "grader/vgpu/program/opcode_table.hpp"

namespace membound::vgpu::program {
namespace {

Program link(const std::string& body, std::uint32_t shared_red_zone_bytes = 0) {
  const auto module =
      ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n" + body, "test.ptx");
  if (!module) throw std::runtime_error(to_string(module.error()));
  auto program = Program::link({&*module, 1}, shared_red_zone_bytes);
  if (!program) throw std::runtime_error(to_string(program.error()));
  return std::move(*program);
}

TEST(OpcodeTable, EveryRowIsFoundByItsNameAndSaysWhatItDoes) {
  std::set<std::string_view> names;
  for (const OpcodeInfo& row : all_opcodes()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " stands twice";
    EXPECT_EQ(find_opcode(row.name), &row);
    EXPECT_EQ(&info_of(row.opcode), &row);
    EXPECT_FALSE(row.doc.empty()) << row.name;
  }
}

/// A new row whose columns contradict each other fails here.
TEST(OpcodeTable, ColumnsAgree) {
  for (const OpcodeInfo& row : all_opcodes()) {
    const bool unsupported = row.shape == Shape::kUnsupported;
    EXPECT_EQ(row.family == Family::kNone, unsupported) << row.name << " needs a handler's family";
    EXPECT_EQ(row.shape == Shape::kMade, row.name.starts_with('<')) << row.name;
    EXPECT_EQ(row.section.empty(), row.opcode == Opcode::kNop) << row.name;
    EXPECT_LE(row.results, 4) << row.name;
    if (unsupported) {
      EXPECT_EQ(row.suffixes, Suffixes::kFree) << row.name;
      EXPECT_EQ(row.results, 0) << row.name;
    } else if (row.opcode != Opcode::kNop) {
      EXPECT_NE(row.cost, Cost::kNone) << row.name << " needs a cost class";
    }
    if (row.family == Family::kNothing) {
      EXPECT_EQ(row.results, 0) << row.name;
    } else if (row.family == Family::kArithmetic || row.family == Family::kBits) {
      EXPECT_EQ(row.results, 1) << row.name;
    }
  }
}

TEST(OpcodeTable, ATypeDecidesTheCostOfArithmetic) {
  using ptx::ScalarType;
  const auto cost = [](Opcode opcode, Unit unit, ScalarType type) {
    Instruction in;
    in.opcode = opcode;
    in.unit = unit;
    in.type = type;
    return cost_of(in);
  };
  EXPECT_EQ(cost(Opcode::kAdd, Unit::kInteger, ScalarType::kS32), Cost::kAdd);
  EXPECT_EQ(cost(Opcode::kMin, Unit::kInteger, ScalarType::kS32), Cost::kAlu);
  EXPECT_EQ(cost(Opcode::kAdd, Unit::kFloat32, ScalarType::kF32), Cost::kFma);
  EXPECT_EQ(cost(Opcode::kAdd, Unit::kFloat64, ScalarType::kF64), Cost::kFp64);
  EXPECT_EQ(cost(Opcode::kRcp, Unit::kSpecialFunction, ScalarType::kF32), Cost::kDivideFloat);
  EXPECT_EQ(cost(Opcode::kRcp, Unit::kSpecialFunction, ScalarType::kF64), Cost::kDivideFp64);
  EXPECT_EQ(cost(Opcode::kDiv, Unit::kInteger, ScalarType::kS64), Cost::kDivide64);
  EXPECT_EQ(cost(Opcode::kMov, Unit::kMove, ScalarType::kF64), Cost::kMove);
  EXPECT_EQ(cost(Opcode::kSelp, Unit::kInteger, ScalarType::kF64), Cost::kAlu);
}

TEST(Link, LaysOutParametersByTheirAlignment) {
  const Program program =
      link(".visible .entry k(.param .u8 a, .param .u64 b, .param .u32 c) { ret; }\n");
  const Kernel* kernel = program.find_kernel("k");
  ASSERT_NE(kernel, nullptr);
  ASSERT_EQ(kernel->parameters.size(), 3u);
  EXPECT_EQ(kernel->parameters[1].offset_bytes, 8u);
  EXPECT_EQ(kernel->parameters[2].offset_bytes, 16u);
  EXPECT_EQ(kernel->parameter_bytes, 20u);
}

TEST(UserLines, AHeaderIsForeignWhereverItsToolkitLies) {
  EXPECT_TRUE(
      is_foreign_header("/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_90_rt.hpp"));
  EXPECT_TRUE(is_foreign_header("/c/.membound/toolkit/nvidia/cu13/bin/..//include/sm_90_rt.hpp"));
  EXPECT_TRUE(is_foreign_header("/c/grader/harness/student/clang/cuda_runtime.h"));
  EXPECT_FALSE(is_foreign_header("/a/cuda/labs/03-transpose/kernel.cu"));
  EXPECT_FALSE(is_foreign_header("include/mine.cuh"));
}

TEST(UserLines, WhatAHeaderPutsInIsToldByTheCall) {
  const Program program = link(R"(
    .visible .entry k() { .reg .b32 %r<5>;
    .loc 1 7 0
    mov.u32 %r1, %clock;
    .loc 2 99 0, function_name $name, inlined_at 1 8 0
    mov.u32 %r2, %clock;
    .loc 2 98 0, function_name $name, inlined_at 2 97 0
    mov.u32 %r3, %clock;
    .loc 1 9 0
    ret; }
    .file 1 "kernel.cu"
    .file 2 "/cu13/bin/..//include/device_atomic_functions.hpp"
    .section .debug_str { $name: .b8 0 }
    )");
  std::vector<std::uint32_t> lines;
  for (const SourceLine& line : program.functions()[0].lines) {
    EXPECT_EQ(program.files()[line.file], "kernel.cu");
    lines.push_back(line.line);
  }
  // The last is the end that linking adds.
  EXPECT_EQ(lines, (std::vector<std::uint32_t>{7, 8, 8, 9, 9}));
}

TEST(Link, RegistersThatNeverMeetShareASlot) {
  const Program program = link(R"(.visible .entry k(.param .u64 out) {
    .reg .b32 %r<9>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; add.u32 %r4, %r3, 1; add.u32 %r5, %r4, 1;
    st.global.u32 [%rd1], %r5; ret; })");
  // The pointer is a launch constant; of %r1 … %r5 two are alive at a time.
  EXPECT_EQ(program.functions()[0].register_slots, 2u);
}

TEST(Link, KernelsHaveOnlyTheSharedVariablesTheyName) {
  const Program program = link(R"(
    .shared .align 16 .b8 a[400]; .shared .align 16 .b8 b[800]; .shared .align 4 .b8 c[4];
    .visible .entry k() { .reg .b32 %r<3>; ld.shared.u32 %r1, [a]; ld.shared.u32 %r2, [c]; ret; }
    .visible .entry l() { .reg .b32 %r<3>; ld.shared.u32 %r1, [b]; ret; }
    .visible .entry m() { ret; })");
  EXPECT_EQ(program.find_kernel("k")->static_shared_bytes, 404u);
  EXPECT_EQ(program.find_kernel("l")->static_shared_bytes, 800u);
  EXPECT_EQ(program.find_kernel("m")->static_shared_bytes, 0u);
}

TEST(Link, AFunctionThatNamesASharedVariableMakesAllKernelsHaveAll) {
  const Program program = link(R"(
    .shared .align 4 .b8 a[400]; .shared .align 4 .b8 b[800];
    .func f() { .reg .b32 %r<2>; ld.shared.u32 %r1, [a]; ret; }
    .visible .entry k() { .reg .b32 %r<2>; ld.shared.u32 %r1, [b]; call.uni f; ret; })");
  EXPECT_EQ(program.find_kernel("k")->static_shared_bytes, 1200u);
}

TEST(Link, AKernelsOwnSharedVariablesLieBehindThoseItNames) {
  const Program program = link(R"(
    .shared .align 4 .b8 a[400]; .shared .align 4 .b8 b[800];
    .visible .entry k() { .shared .align 4 .b8 own[4]; .reg .b32 %r<3>;
                          ld.shared.u32 %r1, [a]; ld.shared.u32 %r2, [own]; ret; }
    .visible .entry l() { .reg .b32 %r<3>; ld.shared.u32 %r1, [b]; ret; })");
  EXPECT_EQ(program.find_kernel("k")->static_shared_bytes, 404u);
}

TEST(Link, SharedVariablesOfAFunctionAndOfItsCallerHavePlacesOfTheirOwn) {
  const Program program = link(R"(
    .func f() { .shared .align 4 .b8 in_f[400]; .reg .b32 %r<2>; ld.shared.u32 %r1, [in_f]; ret; }
    .func g() { .shared .align 4 .b8 in_g[8]; .reg .b32 %r<2>; ld.shared.u32 %r1, [in_g]; ret; }
    .visible .entry k() { .shared .align 4 .b8 in_k[16]; .reg .b32 %r<2>;
                          ld.shared.u32 %r1, [in_k]; call.uni f; call.uni g; ret; })");
  const Kernel* kernel = program.find_kernel("k");
  ASSERT_EQ(kernel->shared_variables.size(), 3u);
  EXPECT_EQ(kernel->shared_variables[0].offset_bytes, 408u);
  EXPECT_EQ(kernel->shared_variables[1].offset_bytes, 0u);
  EXPECT_EQ(kernel->shared_variables[2].offset_bytes, 400u);
  EXPECT_EQ(kernel->static_shared_bytes, 424u);
}

TEST(Link, WhatIsInlinedFromHeadersIsTheLineOfTheCall) {
  const Program program = link(R"(
    .file 1 "/course/kernel.cu"
    .file 2 "/opt/cuda-13.0/include/cccl/cuda/std/__atomic/types/base.h"
    .file 3 "/opt/cuda-13.0/include/cccl/cuda/std/__atomic/functions/cuda_ptx_generated.h"
    .file 4 "/course/tools.cuh"
    .visible .entry k(.param .u64 out) {
      .reg .b32 %r<3>; .reg .b64 %rd<2>;
      .loc 1 7 3
      ld.param.u64 %rd1, [out];
      .loc 1 8 5
      mov.u32 %r1, %tid.x;
      .loc 2 166 3, function_name $L__info, inlined_at 1 8 5
      .loc 3 2585 3, function_name $L__info, inlined_at 2 166 3
      .loc 3 62 1, function_name $L__info, inlined_at 3 2585 3
      atom.global.add.u32 %r2, [%rd1], %r1;
      .loc 1 9 5
      .loc 4 20 3, function_name $L__info, inlined_at 1 9 5
      .loc 2 170 3, function_name $L__info, inlined_at 4 20 3
      st.global.u32 [%rd1], %r2;
      ret;
    }
    .section .debug_str { $L__info: .b8 102, 0 })");
  const Function& function = program.functions()[program.find_kernel("k")->function];
  const auto place_of = [&](Opcode opcode) {
    for (std::size_t i = 0; i < function.code.size(); ++i)
      if (function.code[i].opcode == opcode)
        return program.files()[function.lines[i].file] + ":" +
               std::to_string(function.lines[i].line);
    return std::string("nowhere");
  };
  EXPECT_EQ(place_of(Opcode::kAtom), "/course/kernel.cu:8");
  EXPECT_EQ(place_of(Opcode::kSt), "/course/tools.cuh:20");  // the user's own header
}

TEST(Link, GapsLieBetweenSharedVariablesAndAreNoPartOfTheKernelsSize) {
  constexpr const char* kBody = R"(
    .shared .align 16 .b8 a[400]; .shared .align 16 .b8 b[80]; .shared .align 16 .b8 c[48];
    .visible .entry k() { .shared .align 4 .b8 own[4]; .reg .b32 %r<4>;
                          ld.shared.u32 %r1, [a]; ld.shared.u32 %r2, [b]; ld.shared.u32 %r3, [own]; ret; }
    .visible .entry l() { .reg .b32 %r<3>; ld.shared.u32 %r1, [c]; ret; })";
  const Program near = link(kBody), apart = link(kBody, 4096);
  const Kernel *const k = apart.find_kernel("k"), *const l = apart.find_kernel("l");
  EXPECT_EQ(k->static_shared_bytes, near.find_kernel("k")->static_shared_bytes);
  ASSERT_EQ(k->shared_variables.size(), 3u);
  for (const SharedVariable& one : k->shared_variables)
    for (const SharedVariable& other : k->shared_variables)
      EXPECT_TRUE(one == other || one.offset_bytes + one.size_bytes + 4096 <= other.offset_bytes ||
                  other.offset_bytes + other.size_bytes + 4096 <= one.offset_bytes)
          << one.name << ", " << other.name;
  EXPECT_EQ(l->shared_variables.size(), 1u);
  EXPECT_EQ(l->static_shared_bytes, 48u);
}

TEST(Link, LoadsThatStandTogetherNeedNoRegisterEach) {
  std::string loads, sums;
  for (int i = 1; i <= 40; ++i) {
    loads += "ld.global.u32 %r" + std::to_string(i) + ", [%rd2+" + std::to_string(4 * i) + "];";
    sums += "add.u32 %r0, %r0, %r" + std::to_string(i) + ";";
  }
  const Program program = link(
      ".visible .entry k(.param .u64 out) { .reg .b32 %r<50>; .reg .b64 %rd<3>;"
      "ld.param.u64 %rd1, [out]; ld.global.u64 %rd2, [%rd1]; mov.u32 %r0, %tid.x;" +
      loads + sums + "st.global.u32 [%rd2], %r0; ret; }");
  EXPECT_LE(program.functions()[0].peak_registers, 6u);
}

TEST(Link, AnAtomicNobodyReadsIsAReduction) {
  const Program program = link(R"(.visible .entry k(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    atom.global.add.u32 %r1, [%rd1], 1;
    ret; })");
  bool unused = false;
  for (const Instruction& in : program.functions()[0].code)
    unused = unused || (in.opcode == Opcode::kAtom && in.has(kResultUnused));
  EXPECT_TRUE(unused);
  EXPECT_FALSE(program.find_kernel("k")->communicates_between_blocks);
  EXPECT_FALSE(program.find_kernel("k")->counts_arrivals);
}

TEST(Link, AtomicsOfLanesThatAddTheirOwnNumbersAreNotJoined) {
  // The parameter before %laneid takes two slots: slots and constants are not counted alike.
  const auto aggregation_of = [](const std::string& value) {
    const Program program = link(R"(.visible .entry k(.param .u64 out) {
      .reg .b32 %r<3>; .reg .b64 %rd<9>;
      ld.param.u64 %rd1, [out];
      st.global.u64 [%rd1], 11;
      mov.u32 %r1, )" + value + R"(;
      cvt.u64.u32 %rd5, %r1;
      st.global.u64 [%rd1+8], 12; st.global.u64 [%rd1+16], 13;
      red.global.add.u64 [%rd1], %rd5;
      ret; })");
    for (const Instruction& in : program.functions()[0].code)
      if (in.opcode == Opcode::kRed) return in.as<AtomicAccess>().aggregation;
    throw std::runtime_error("no atomic");
  };
  EXPECT_EQ(aggregation_of("%laneid"), WarpAggregation::kNever);
  EXPECT_EQ(aggregation_of("7"), WarpAggregation::kAlways);
}

TEST(Link, ABlockThatReadsWhatAnotherCountedCommunicates) {
  const Program program = link(R"(.visible .entry k(.param .u64 out) {
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    atom.global.add.u32 %r1, [%rd1], 1;
    st.global.u32 [%rd1+4], %r1;
    ret; })");
  EXPECT_TRUE(program.find_kernel("k")->communicates_between_blocks);
  EXPECT_TRUE(program.find_kernel("k")->counts_arrivals);
}

TEST(Link, FloatReductionsAtTheEndOnlyNeedTheirOrderKept) {
  const Program program = link(R"(.visible .entry k(.param .u64 out) {
    .reg .f32 %f<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    ld.global.f32 %f1, [%rd1+4];
    atom.global.add.f32 %f2, [%rd1], %f1;
    ret; })");
  EXPECT_FALSE(program.find_kernel("k")->communicates_between_blocks);
  EXPECT_TRUE(program.find_kernel("k")->orders_float_reductions);
}

TEST(Link, AnUnknownInstructionIsAnErrorWithItsLine) {
  const auto module = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { frobnicate.u32; ret; "
      "}\n",
      "test.ptx");
  ASSERT_TRUE(module);
  const auto program = Program::link({&*module, 1});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().where, "test.ptx:4");
}

TEST(Link, AnInitialiserMayHoldAnAddress) {
  Program program =
      link(".global .u32 x = 7;\n.global .u64 p = x;\n.visible .entry k() { ret; }\n");
  program.place_global(*program.find_global("x"), 0x1000);
  program.place_global(*program.find_global("p"), 0x2000);
  const auto image = program.initial_image(*program.find_global("p"));
  ASSERT_EQ(image.size(), 8u);
  EXPECT_EQ(image[1], std::byte{0x10});
}

TEST(PostDominators, BothWaysOfADiamondMeetAtItsEnd) {
  const Program program = link(R"(.visible .entry k(.param .u32 n) {
    .reg .b32 %r<4>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra left;
    add.u32 %r2, %r1, 1; bra meet;
    left: add.u32 %r2, %r1, 2;
    meet: add.u32 %r3, %r2, 1; ret; })");
  const auto& code = program.functions()[0].code;
  for (const Instruction& in : code) {
    if (in.opcode != Opcode::kBra || !in.guard) continue;
    ASSERT_NE(in.as<Branch>().meeting, kNoTarget);
    EXPECT_EQ(code[in.as<Branch>().meeting].ptx_line, 10u);
  }
}

}  // namespace
}  // namespace membound::vgpu::program
