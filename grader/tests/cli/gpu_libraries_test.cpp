// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/gpu_libraries.hpp"

#include <gmock/gmock.h>

namespace membound::cli {
namespace {

using testing::HasSubstr;

TEST(GpuLibraries, AreNamedWithWhatWorksInstead) {
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
