// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Accesses outside of arrays of every kind (programs/array_ends.cu): near ones go on without a
/// checker, as on a GPU, and are found with one; far ones end the launch. What is said names the
/// array, the distance and what led there. And launches that ask for too much: which limit it was.
#include <gmock/gmock.h>

#include "grader/tests/vgpu/runtime/program_run.hpp"

namespace membound::vgpu::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Way {
  const char* argument;
  const char* said;
};

std::string name_of(const ::testing::TestParamInfo<Way>& info) { return info.param.argument; }

/// How often `part` stands in `text`.
std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

class RightAfterAnArray : public ::testing::TestWithParam<Way> {};

TEST_P(RightAfterAnArray, GoesOnAndIsFound) {
  EXPECT_EQ(run("array_ends", GetParam().argument, {"MEMBOUND_CHECK=none"}).said, "no error\n");
  const std::string said = run("array_ends", GetParam().argument, {"MEMBOUND_CHECK=memcheck"}).said;
  EXPECT_EQ(count_of(said, "memcheck: "), 1u) << said;
  EXPECT_THAT(said, HasSubstr(GetParam().said));
  EXPECT_THAT(said, HasSubstr("no error\n"));
  EXPECT_THAT(said, Not(HasSubstr("pointer of the host")));
}
constexpr Way kNear[] = {
    {"device", "right after the 60 bytes at 0x200002000000 (allocation 1, cudaMalloc)"},
    {"managed", "(allocation 2, managed array of cudaMallocManaged)"},
    {"pinned", "(allocation 3, pinned array of cudaMallocHost)"},
    {"mapped", "(allocation 4, pinned array of cudaHostAlloc)"},
    {"registered", "(allocation 5, pinned array of cudaHostRegister)"},
    {"managed_page", "right after the 65536 bytes at 0x"},
    {"shared", "right after tile (128 bytes of shared memory)"},
    {"dynamic", "right after dynamic shared memory (128 bytes)"},
    {"unrolled", "113 times in this launch"},
};
INSTANTIATE_TEST_SUITE_P(Ways, RightAfterAnArray, ::testing::ValuesIn(kNear), name_of);

class FarFromAnArray : public ::testing::TestWithParam<Way> {};

TEST_P(FarFromAnArray, EndsTheLaunchAndSaysWhatLedThere) {
  const std::string plain = run("array_ends", GetParam().argument, {"MEMBOUND_CHECK=none"}).said;
  EXPECT_THAT(plain, HasSubstr("illegal address"));
  EXPECT_THAT(plain, HasSubstr("an illegal memory access was encountered"));
  const std::string said = run("array_ends", GetParam().argument, {"MEMBOUND_CHECK=memcheck"}).said;
  EXPECT_THAT(said, HasSubstr("memcheck: out of bounds"));
  EXPECT_THAT(said, HasSubstr(GetParam().said));
}
constexpr Way kFar[] = {
    {"shared_far", "4194176 bytes past the end of tile (128 bytes of shared memory)"},
    {"managed_far", "17179869124 bytes past the end of the 60 bytes at 0x"},
    {"wraps",
     "bytes before the 5000000000 bytes at 0x200002011000 (allocation 6, cudaMalloc); the "
     "index has 32 bits and wrapped\n  try: an int holds no more than 2,147,483,647"},
    {"below_zero", "; the index is unsigned, has 32 bits, went below 0 and wrapped"},
    {"host_pointer", "try: give the kernel what cudaMalloc returned: a pointer of the host"},
};
INSTANTIATE_TEST_SUITE_P(Ways, FarFromAnArray, ::testing::ValuesIn(kFar), name_of);

TEST(Uninitialised, GlobalMemoryIsToldWhereItWasReadThoughItWentThroughSharedMemory) {
  const std::string said = run("array_ends", "by_tree", {"MEMBOUND_CHECK=all"}).said;
  EXPECT_EQ(count_of(said, "membound: "), 1u) << said;
  EXPECT_THAT(said, HasSubstr("initcheck: uninitialised read\n  in by_tree(int*, int const*)"));
  EXPECT_THAT(said, HasSubstr("ld.global.u32\n  read of 4 bytes at 0x"));
  EXPECT_THAT(said, HasSubstr("in the 256 bytes at 0x"));
  EXPECT_THAT(said, HasSubstr("which nobody has written; it was stored in shared or local memory"));
  EXPECT_THAT(said, Not(HasSubstr("which no thread of the block has written")));
}

class RefusedLaunch : public ::testing::TestWithParam<Way> {};

TEST_P(RefusedLaunch, NamesTheLimitAndWhatWasAskedFor) {
  const std::string said = run("array_ends", GetParam().argument, {"MEMBOUND_CHECK=memcheck"}).said;
  EXPECT_THAT(said, HasSubstr(GetParam().said));
}
constexpr Way kRefused[] = {
    {"block_threads", "a block of 32 x 32 x 2 has 2048 threads; the limit is 1024"},
    {"block_z", "a block of 1 x 1 x 65 has 65 along z; the limit is 64"},
    {"grid_y", "a grid of 1 x 65536 x 1 has 65536 along y; the limit is 65535"},
    {"no_grid", "a grid of 0 x 1 x 1 is empty"},
    {"dynamic_48k",
     "50000 bytes of dynamic shared memory are asked for; without "
     "cudaFuncSetAttribute"},
    {"dynamic_most",
     "300000 bytes of dynamic shared memory are asked for; a block has at most "
     "232448"},
    {"launch_bounds",
     "a block of 256 threads is larger than the kernel's __launch_bounds__; the "
     "limit is 128"},
    {"asked",
     "membound: a launch of fill(int*) was refused\n  a block of 2000 x 1 x 1 has 2000 "
     "threads; the limit is 1024"},
};
INSTANTIATE_TEST_SUITE_P(Ways, RefusedLaunch, ::testing::ValuesIn(kRefused), name_of);

}  // namespace
}  // namespace membound::vgpu::runtime
