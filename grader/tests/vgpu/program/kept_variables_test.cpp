// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/kept_variables.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "grader/device_code/ptx/parser.hpp"

namespace membound::vgpu::program {
namespace {

/// Of a kernel with this body, beside a `flag`, a `table` and a `fixed` one in constant memory.
bool writes(const std::string& body, const std::string& before = "") {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 flag;
.global .align 4 .b8 table[64];
.const .align 4 .b8 fixed[64];
)" + before + R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
)" + body + "  ret;\n}\n";
  const auto module = ptx::parse(text, "test.ptx");
  if (!module) throw std::runtime_error(to_string(module.error()));
  const auto program = Program::link({&*module, 1});
  if (!program) throw std::runtime_error(to_string(program.error()));
  return may_write_variables(*program, *program->find_kernel("k"));
}

TEST(KeptVariables, AreThoseThatAreStoredToOrCountedIn) {
  EXPECT_TRUE(writes("st.global.u32 [flag], %r0;"));
  EXPECT_TRUE(writes("@%p0 st.volatile.global.u32 [table+8], %r0;"));
  EXPECT_TRUE(writes("atom.global.add.u32 %r1, [flag], 1;"));
  EXPECT_TRUE(writes("red.global.add.u32 [flag], 1;"));
}

TEST(KeptVariables, AreFoundByWayOfRegisters) {
  EXPECT_TRUE(writes(R"(
    mov.u64 %rd1, table;
    cvta.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r0, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.u32 [%rd4], %r0;)"));
  EXPECT_TRUE(writes(R"(
  LOOP:
    st.global.u32 [%rd5], %r0;
    mov.u64 %rd5, table;
    @%p0 bra LOOP;)"));
}

TEST(KeptVariables, AreAssumedWhereAnAddressGoesToMemory) {
  EXPECT_TRUE(writes("mov.u64 %rd1, table;\nst.global.u64 [%rd0], %rd1;"));
  EXPECT_TRUE(writes("ld.global.u64 %rd1, [%rd0];\nst.global.u32 [%rd1], %r0;",
                     ".global .align 8 .u64 place = generic(flag);"));
}

TEST(KeptVariables, AreNotThoseThatAreOnlyRead) {
  EXPECT_FALSE(writes("st.global.u32 [%rd0], %r0;"));
  EXPECT_FALSE(writes("ld.global.u32 %r1, [flag];\nst.global.u32 [%rd0], %r1;"));
  EXPECT_FALSE(writes(R"(
    mov.u64 %rd1, table;
    mul.wide.u32 %rd3, %r0, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.nc.u32 %r1, [%rd4];
    st.global.u32 [%rd0], %r1;)"));
  EXPECT_FALSE(writes("ld.const.u32 %r1, [fixed];\nst.global.u32 [%rd0], %r1;"));
}

}  // namespace
}  // namespace membound::vgpu::program
