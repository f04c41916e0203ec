// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/gpu_libraries.hpp"

#include <gmock/gmock.h>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/processor.hpp"
#include "grader/device_code/fatbin/elf_file.hpp"

namespace membound::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::vector<StandInLibrary> stand_ins_of(const char* path) {
  const auto content = base::read_file(path);
  if (!content) return {};
  return stand_ins_for(std::as_bytes(std::span(*content)));
}

TEST(GpuLibraries, AStandInHasWhatTheProgramNeedsOfIt) {
  const auto libraries = stand_ins_of(MEMBOUND_USES_CUBLAS);
  ASSERT_THAT(libraries, SizeIs(1));
  EXPECT_EQ(libraries[0].name, "libcublas.so.13");
  ASSERT_THAT(libraries[0].functions, SizeIs(3));
  for (const StandInFunction& function : libraries[0].functions) {
    EXPECT_TRUE(function.is_versioned) << function.name;
    EXPECT_EQ(function.does, function.name == "cublasSscal_v2"    ? StandIn::kEnds
                             : function.name == "cublasCreate_v2" ? StandIn::kMakesHandle
                                                                  : StandIn::kSucceeds);
    EXPECT_THAT(function.message,
                AllOf(HasSubstr(function.name + ": is a function of libcublas.so.13, cuBLAS"),
                      HasSubstr("try: a kernel of your own, CUB or Thrust")));
  }
}

TEST(GpuLibraries, OtherProgramsAndFilesNeedNone) {
  EXPECT_THAT(stand_ins_of("/proc/self/exe"), IsEmpty());
  EXPECT_THAT(stand_ins_of(__FILE__), IsEmpty());
}

TEST(StandInLibrary, IsALibraryOfThatName) {
  const auto bytes =
      make_stand_in({"libcufft.so.12", {{"cufftPlan1d", StandIn::kEnds, "no", false}}});
  EXPECT_TRUE(fatbin::is_elf(bytes));
  EXPECT_EQ(fatbin::elf_machine(bytes), base::kElfMachine);
}

base::ProcessOutcome run_user(const std::vector<std::string>& words) {
  base::ProcessRequest request;
  request.arguments = {MEMBOUND_PROGRAM, "run", "--", MEMBOUND_USES_CUBLAS};
  request.arguments.insert(request.arguments.end(), words.begin(), words.end());
  const auto outcome = base::run_process(request);
  return outcome ? *outcome : base::ProcessOutcome{};
}

TEST(RunOfAProgramWithALibraryForGpus, EndsAtItsFirstCallOfIt) {
  const auto unused = run_user({});
  EXPECT_EQ(unused.exit_code, 0) << unused.output;
  EXPECT_THAT(unused.output, HasSubstr("ran\n"));
  EXPECT_THAT(unused.output, Not(HasSubstr("cublas")));
  EXPECT_EQ(run_user({"handle"}).exit_code, 0) << "nothing is computed with it";
  const auto used = run_user({"handle", "call"});
  EXPECT_EQ(used.exit_code, 2) << used.output;
  EXPECT_THAT(used.output, AllOf(HasSubstr("ran\n"), HasSubstr("cublasSscal_v2: is a function of"),
                                 HasSubstr("libcublas.so.13, cuBLAS, which is machine code")));
}

}  // namespace
}  // namespace membound::cli
