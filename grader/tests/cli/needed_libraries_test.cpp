// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/needed_libraries.hpp"

#include <gmock/gmock.h>

#include "grader/base/text_files.hpp"

namespace membound::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(NeededLibraries, AreThoseOfTheProgramsOwnDynamicSection) {
  const auto self = base::read_file("/proc/self/exe");
  ASSERT_TRUE(self);
  EXPECT_THAT(needed_libraries(*self), Contains("libc.so.6"));
}

TEST(NeededLibraries, OfWhatIsNoProgramAreNone) {
  EXPECT_TRUE(needed_libraries("").empty());
  EXPECT_TRUE(needed_libraries("#!/bin/sh\n").empty());
  const auto self = base::read_file("/proc/self/exe");
  ASSERT_TRUE(self);
  for (const std::size_t size : {16, 63, 64, 4096}) {
    EXPECT_TRUE(needed_libraries(std::string_view(*self).substr(0, size)).empty()) << size;
  }
}

TEST(NeededLibraries, ThatWorkOnAGpuOnlyAreNamedWithWhatWorksInstead) {
  for (const char* name : {"libcuda.so.1", "libcublas.so.13", "libcublasLt.so.13",
                           "libcurand.so.10", "libcufft.so.12"}) {
    const auto error = needs_a_gpu("./a.out", {"libc.so.6", name});
    ASSERT_TRUE(error) << name;
    EXPECT_THAT(error->found, HasSubstr(name));
    EXPECT_FALSE(error->advice.empty());
  }
  EXPECT_FALSE(needs_a_gpu("./a.out", {"libcudart.so.13", "libc.so.6"}));
}

}  // namespace
}  // namespace membound::cli
