// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/code_listing.hpp"

#include <gmock/gmock.h>

#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::cli {
namespace {

constexpr const char* kCode = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry one()
{
  .reg .b32 %r<2>;
  .loc 1 2 7
  mov.u32 %r1, 1;
  .loc 1 3 1
  ret;
}
.file 1 "/there/k.cu"
)";

TEST(PtxListing, PutsEachLineOfTheSourceAboveItsInstructions) {
  const judge::TemporaryFolder folder;
  const std::string file = folder.write("k.ptx", kCode).string();
  const auto read = [](const std::string& name) {
    return name == "/there/k.cu" ? report::SourceText{"void one() {", "  a = 1;", "}"}
                                 : report::SourceText();
  };
  const auto listing = list_code(file, "one", read);
  ASSERT_TRUE(listing) << to_string(listing.error());
  EXPECT_THAT(*listing, testing::HasSubstr("/there/k.cu:2\n"
                                           "     2 |   a = 1;\n"
                                           "       |       ^\n"
                                           "      8  mov.u32 %r1, 1\n"
                                           "/there/k.cu:3\n"));
  const auto without = list_code(file, "", [](const std::string&) { return report::SourceText(); });
  ASSERT_TRUE(without);
  EXPECT_THAT(*without, testing::HasSubstr("/there/k.cu:2\n      8  mov.u32"));
}

TEST(SassListing, PutsEachLineOfTheSourceAboveTheInstructionsOfTheMachine) {
  const std::string disassembly =
      "\t.target\tsm_90\n"
      "//--------------------- .text._Z3oneILi2EEvv --------------------------\n"
      "\t.section\t.text._Z3oneILi2EEvv,\"ax\",@progbits\n"
      "_Z3oneILi2EEvv:\n"
      ".text._Z3oneILi2EEvv:\n"
      "\t//## File \"/there/k.cu\", line 2\n"
      "        /*0000*/                   STL.64 [R1], R2 ;\n"
      "        /*0010*/              @P0  LDL R3, [R1+0x4] ;\n"
      ".L_x_1:\n"
      "        /*0020*/                   BRA `(.L_x_1);\n"
      "        /*0030*/                   NOP;\n"
      "        /*0040*/                   NOP;\n"
      ".L_x_2:\n"
      "//--------------------- .text.membound_launch_of_one --------------------------\n"
      ".text.membound_launch_of_one:\n"
      "        /*0000*/                   EXIT ;\n";
  const auto read = [](const std::string&) {
    return report::SourceText{"void one() {", "  a[i] = 1;", "}"};
  };
  const auto listing = list_machine_code(disassembly, "", read);
  ASSERT_TRUE(listing) << to_string(listing.error());
  EXPECT_EQ(*listing,
            "kernel void one<2>(): 3 instructions of the machine\n"
            "/there/k.cu:2\n"
            "     2 |   a[i] = 1;\n"
            "   0000  STL.64 [R1], R2\n"
            "   0010  @P0  LDL R3, [R1+0x4]\n"
            ".L_x_1:\n"
            "   0020  BRA `(.L_x_1)\n\n");
  const auto none = list_machine_code(disassembly, "two", read);
  ASSERT_FALSE(none);
  EXPECT_THAT(to_string(none.error()), testing::HasSubstr("void one<2>()"));
}

TEST(SassListing, NeedsMachineCodeAndADisassembler) {
  const judge::TemporaryFolder folder;
  const auto ptx = disassembly_of(folder.write("k.ptx", kCode).string(), {});
  ASSERT_FALSE(ptx);
  EXPECT_THAT(to_string(ptx.error()), testing::HasSubstr("holds no machine code"));
}

}  // namespace
}  // namespace membound::cli
