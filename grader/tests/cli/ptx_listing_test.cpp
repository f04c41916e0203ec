// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/ptx_listing.hpp"

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

}  // namespace
}  // namespace membound::cli
