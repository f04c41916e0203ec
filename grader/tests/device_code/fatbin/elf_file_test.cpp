// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/elf_file.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"
#include "grader/tests/device_code/fatbin/fatbin_testing.hpp"

namespace membound::fatbin {
namespace {

using testing::Contains;

TEST(NeededLibraries, AreThoseOfTheProgramsOwnDynamicSection) {
  const auto self = base::read_file("/proc/self/exe");
  ASSERT_TRUE(self);
  EXPECT_THAT(needed_libraries(bytes_of(*self)), Contains("libc.so.6"));
}

TEST(NeededLibraries, OfWhatIsNoProgramAreNone) {
  EXPECT_TRUE(needed_libraries({}).empty());
  EXPECT_TRUE(needed_libraries(bytes_of("#!/bin/sh\n")).empty());
  const auto self = base::read_file("/proc/self/exe");
  ASSERT_TRUE(self);
  for (const std::size_t size : {16, 63, 64, 4096}) {
    EXPECT_TRUE(needed_libraries(bytes_of(*self).first(size)).empty()) << size;
  }
}

TEST(WantedFunctions, HaveTheLibraryWhoseVersionTheyAreAskedForWith) {
  const auto self = base::read_file("/proc/self/exe");
  ASSERT_TRUE(self);
  const auto wanted = wanted_functions(bytes_of(*self));
  EXPECT_THAT(wanted, Contains(testing::Field(&WantedFunction::library, "libc.so.6")));
  for (const std::size_t size : {16, 63, 64, 4096})
    EXPECT_TRUE(wanted_functions(bytes_of(*self).first(size)).empty()) << size;
}

}  // namespace
}  // namespace membound::fatbin
