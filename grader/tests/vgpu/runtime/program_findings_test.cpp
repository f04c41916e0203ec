// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the virtual GPU says of ordinary CUDA programs, as nvcc builds them, with all checkers on.
/// programs/findings.cu makes each mistake once; the text is compared as a whole, with ADDRESS for
/// addresses and [mark] for the number of the line that carries the comment "// mark".
/// programs/right.cu does it right: not a word.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "grader/tests/vgpu/runtime/program_run.hpp"

namespace membound::vgpu::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string normalised(std::string text) {
  text = std::regex_replace(text, std::regex("0x20[0-9a-f]{10}"), "ADDRESS");
  return std::regex_replace(text, std::regex("[^ ]*/(findings\\.cu)"), "$1");
}

/// The number of the line of findings.cu that ends in "// mark".
std::string line_of(const std::string& mark) {
  std::ifstream file(MEMBOUND_PROGRAM_SOURCES "/findings.cu");
  int number = 1;
  for (std::string line; std::getline(file, line); ++number)
    if (line.ends_with("// " + mark)) return std::to_string(number);
  ADD_FAILURE() << "no line is marked " << mark;
  return "";
}

std::string with_lines(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t open = 0; (open = text.find('[', at)) != std::string::npos;) {
    const std::size_t close = text.find(']', open);
    out += text.substr(at, open - at) + line_of(text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return out + text.substr(at);
}

struct Mistake {
  const char* argument;
  const char* said;
};

class Finding : public ::testing::TestWithParam<Mistake> {};

TEST_P(Finding, SaysWhatWhereWhoAndWhatToDo) {
  const Outcome outcome = run("findings", GetParam().argument, {"MEMBOUND_CHECK=all"});
  EXPECT_EQ(normalised(outcome.said), with_lines(GetParam().said));
}

const Mistake kMistakes[] = {
    {"past_the_end",
     "membound: memcheck: out of bounds write\n"
     "  in past_the_end(int*), block (0, 0, 0), thread (64, 0, 0)\n"
     "  at findings.cu:[past_the_end]: st.global.u32\n"
     "  write of 4 bytes at ADDRESS, right after the 256 bytes at ADDRESS (allocation 1, "
     "cudaMalloc)\n"
     "  try: compare the index itself with the number of elements before the access: if (i < n) "
     "for element i; where it is element n - i, the first thread is one too far: n - 1 - i\n"},
    {"before_the_start",
     "membound: memcheck: out of bounds read\n"
     "  in before_the_start(int*), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[before_the_start]: ld.global.u32\n"
     "  read of 4 bytes at ADDRESS, 4 bytes before the 256 bytes at ADDRESS (allocation 1, "
     "cudaMalloc)\n"
     "  try: the index is below 0 here: leave out what lies before the first element\n"},
    {"off_by_two_bytes",
     "membound: memcheck: misaligned access\n"
     "  in off_by_two_bytes(char*), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[off_by_two_bytes]: st.global.u32\n"
     "  write of 4 bytes at ADDRESS, in the 256 bytes at ADDRESS (allocation 1, cudaMalloc), which "
     "is not a multiple of 4\n"
     "  try: an access of 4 bytes needs an address that is a multiple of 4; give vector types "
     "(int2, float4) only arrays and offsets that keep it so\n"},
    {"past_the_tile",
     "membound: memcheck: out of bounds write\n"
     "  in past_the_tile(int*), block (0, 0, 0), thread (32, 0, 0)\n"
     "  at findings.cu:[past_the_tile]: st.shared.u32\n"
     "  write of 4 bytes at shared-memory offset 128, right after tile (128 bytes of shared "
     "memory); the block has 128 bytes\n"
     "  try: compare the index with the size of the array; dynamic shared memory is as large as "
     "the launch says\n"},
    {"between_words",
     "membound: memcheck: misaligned access\n"
     "  in between_words_of_the_tile(int*, int), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[between_words]: ld.shared.u32\n"
     "  read of 4 bytes at offset 6 of tile (128 bytes of shared memory), which is not a multiple "
     "of 4\n"
     "  try: an access of 4 bytes needs an address that is a multiple of 4; give vector types "
     "(int2, float4) only arrays and offsets that keep it so\n"},
    {"ints_as_a_vector",
     "membound: memcheck: misaligned access\n"
     "  in ints_as_a_vector(int*, int), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[ints_as_a_vector]: ld.shared.v4.u32\n"
     "  read of 16 bytes at offset 0 of tile (128 bytes of shared memory), which begins at no "
     "multiple "
     "of 16\n"
     "  try: declare the array with __align__(16): without it, it is aligned for its elements "
     "alone\n"},
    {"past_the_local_array",
     "membound: memcheck: out of bounds read\n"
     "  in past_the_local_array(int*, int), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[past_the_local_array]: ld.local.u32\n"
     "  read of 4 bytes at local-memory offset 16; the thread has 16 bytes\n"
     "  try: compare the index with the size of the array\n"},
    {"used_after_free",
     "membound: memcheck: use after free\n"
     "  in read(int*, int const*), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[read]: ld.global.u32\n"
     "  read of 4 bytes at ADDRESS, inside the 256 bytes at ADDRESS (allocation 2, cudaMalloc), "
     "which was freed\n"
     "  try: free the memory after the last kernel that uses it has ended; if that was not this "
     "array's memory, the index is far off: compare it with the number of elements\n"
     "  64 times in this launch\n"},
    {"uninitialised",
     "membound: initcheck: uninitialised read\n"
     "  in read(int*, int const*), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[read]: ld.global.u32\n"
     "  read of 4 bytes at ADDRESS, in the 256 bytes at ADDRESS (allocation 2, cudaMalloc), which "
     "nobody has written\n"
     "  try: fill the array first: cudaMemcpy data to it, or clear it with cudaMemset\n"
     "  64 times in this launch\n"},
    {"reads_an_empty_tile",
     "membound: initcheck: uninitialised read\n"
     "  in reads_an_empty_tile(int*), block (0, 0, 0), thread (32, 0, 0)\n"
     "  at findings.cu:[reads_an_empty_tile]: ld.shared.u32\n"
     "  read of 4 bytes at offset 128 of tile (256 bytes of shared memory), which no thread of the "
     "block has written\n"
     "  try: let every element be written before a __syncthreads(), then read it\n"
     "  32 times in this launch\n"},
    {"forgets_the_barrier",
     "membound: racecheck: data race\n"
     "  in forgets_the_barrier(int*), block (0, 0, 0), thread (32, 0, 0)\n"
     "  at findings.cu:[forgets_the_barrier: reads]: ld.shared.u32\n"
     "  reads 4 bytes at offset 124 of tile (256 bytes of shared memory), which thread (31, 0, 0) "
     "of the same block wrote at findings.cu:[forgets_the_barrier: writes]; nothing orders the "
     "two\n"
     "  try: put __syncthreads() between lines [forgets_the_barrier: writes] and "
     "[forgets_the_barrier: reads], where every thread reaches it\n"
     "  64 times in this launch\n"},
    {"forgets_the_warp_barrier",
     "membound: racecheck: data race\n"
     "  in forgets_the_warp_barrier(int*), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[forgets_the_warp_barrier: reads]: ld.shared.u32\n"
     "  reads 4 bytes at offset 124 of tile (128 bytes of shared memory), which thread (31, 0, 0) "
     "of the same warp wrote at findings.cu:[forgets_the_warp_barrier: writes]; nothing orders the "
     "two\n"
     "  try: put __syncwarp() (or __syncthreads()) between lines [forgets_the_warp_barrier: "
     "writes] and [forgets_the_warp_barrier: reads]: since Volta the lanes of a warp need not run "
     "in step\n"
     "  32 times in this launch\n"},
    {"waits_in_a_branch",
     "membound: synccheck: divergent barrier\n"
     "  in waits_in_a_branch(int*), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[waits_in_a_branch]: bar.sync\n"
     "  16 of 32 lanes of the warp come to this barrier, the others have ended\n"
     "  try: move the barrier out of the branch, so that every thread of the block reaches it\n"},
    {"leaves_before_the_barrier",
     "membound: synccheck: remark: return before a barrier\n"
     "  in leaves_before_the_barrier(int*), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[leaves_before_the_barrier]: bar.sync\n"
     "  32 of 64 threads of the block return before this barrier, which is allowed: since Volta it "
     "waits only for threads that have not ended\n"},
    {"shuffles",
     "membound: initcheck: shuffle from a missing lane\n"
     "  in shuffles_with_the_missing(int*), block (0, 0, 0), thread (15, 0, 0)\n"
     "  at findings.cu:[shuffles]: shfl.sync.down.b32\n"
     "  takes the value of lane 16 of the warp, which does not take part; a value computed from "
     "it is written to global memory at findings.cu:[shuffles: writes]\n"
     "  try: let the lane that is asked take part too: name it in the mask and let it reach the "
     "shuffle, or do not use what comes from it\n"},
    {"names_lanes_elsewhere",
     "membound: synccheck: invalid member mask\n"
     "  in names_lanes_elsewhere(int*), block (0, 0, 0), thread (0, 0, 0)\n"
     "  at findings.cu:[names_lanes_elsewhere]: vote.sync.any.pred\n"
     "  the member mask 0xffffffff names 16 lanes that do not take part (0xffff0000)\n"
     "  try: name exactly the lanes that reach the call: 0xffffffff where the whole warp does, "
     "else what __ballot_sync of the condition said before the branch\n"},
    {"leak",
     "membound: leakcheck: 256 bytes of allocation 2 were never freed\n"
     "  made by cudaMalloc\n"
     "  try: give it back with cudaFree before the program ends\n"},
    {"unchecked",
     "membound: a launch of fills(int*) failed and nobody asked: cudaErrorInvalidValue, "
     "invalid argument\n"
     "  a block of 2000 x 1 x 1 has 2000 threads; the limit is 1024\n"
     "  try: call cudaGetLastError() after each launch\n"},
};

std::string name_of(const ::testing::TestParamInfo<Mistake>& info) { return info.param.argument; }

INSTANTIATE_TEST_SUITE_P(Mistakes, Finding, ::testing::ValuesIn(kMistakes), name_of);

// Two blocks on two cores: which of them comes second is not fixed.
TEST(Findings, BlocksThatAddWithoutAtomicsRace) {
  const Outcome outcome = run("findings", "sums_without_atomics", {"MEMBOUND_CHECK=racecheck"});
  EXPECT_THAT(outcome.said, HasSubstr("racecheck: data race\n  in sums_without_atomics(int*)"));
  EXPECT_THAT(outcome.said, HasSubstr("findings.cu:" + line_of("sums_without_atomics")));
  EXPECT_THAT(outcome.said,
              HasSubstr("(allocation 1, cudaMalloc), which thread (0, 0, 0) of block"));
  EXPECT_THAT(outcome.said, HasSubstr("try: use an atomic operation"));
}

// A barrier would not help: each of the threads reads, adds and writes the same place.
TEST(Findings, ThreadsThatAddToOnePlaceAreToldOfAtomics) {
  for (const char* mistake : {"adds_to_one_place", "adds_to_one_shared_place"}) {
    const Outcome outcome = run("findings", mistake, {"MEMBOUND_CHECK=racecheck"});
    EXPECT_THAT(outcome.said, HasSubstr("racecheck: data race")) << mistake;
    EXPECT_THAT(outcome.said, HasSubstr("try: use an atomic operation (atomicAdd)")) << mistake;
    EXPECT_THAT(outcome.said, Not(HasSubstr("__sync"))) << mistake;
  }
}

TEST(Findings, RoundsOfATreeAreToldOfTheBarrierBetweenThem) {
  const Outcome outcome = run("findings", "tree_without_barriers", {"MEMBOUND_CHECK=racecheck"});
  EXPECT_THAT(outcome.said, HasSubstr("put __syncthreads() between one iteration and the next"));
}

TEST(Findings, APlainFlagOrdersNothing) {
  const Outcome outcome = run("findings", "plain_flag", {"MEMBOUND_CHECK=racecheck"});
  EXPECT_THAT(outcome.said, HasSubstr("racecheck: data race"));
}

class Right : public ::testing::TestWithParam<const char*> {};

TEST_P(Right, NotAWordIsSaid) {
  const Outcome outcome = run("right", GetParam(), {"MEMBOUND_CHECK=all"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.said, "");
}

INSTANTIATE_TEST_SUITE_P(Ways, Right,
                         ::testing::Values("guarded", "block_barrier", "warp_barrier",
                                           "tiles_of_four", "one_instruction", "bytes",
                                           "named_barrier", "pair_of_warps", "last_block_sums",
                                           "flag_with_fence", "released", "spin_lock",
                                           "grid_barrier", "mbarrier", "async_copy", "histogram",
                                           "shuffles"),
                         [](const auto& test) { return std::string(test.param); });

TEST(Scheduling, InLockstepALockInsideAWarpIsADeadlockAndSaysSo) {
  const Outcome outcome = run("findings", "locks", {"MEMBOUND_SCHEDULING=lockstep"});
  EXPECT_EQ(WEXITSTATUS(outcome.status), 4) << outcome.said;
  EXPECT_THAT(outcome.said,
              HasSubstr("membound: deadlock\n  in locks(int*, int*), block (0, 0, 0)"));
  EXPECT_THAT(outcome.said, HasSubstr("findings.cu:" + line_of("locks")));
}

TEST(Scheduling, IndependentThreadsPassTheLockOn) {
  const Outcome outcome = run("findings", "locks", {"MEMBOUND_CHECK=none"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.said, "");
}

/// One core for whatever is started while it lives: without racecheck what a racing kernel computes
/// depends on how its blocks run side by side.
class OneCore {
 public:
  OneCore() {
    sched_getaffinity(0, sizeof all_, &all_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
      if (CPU_ISSET(core, &all_)) CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OneCore() { sched_setaffinity(0, sizeof all_, &all_); }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  cpu_set_t all_;
};

TEST(Shuffle, ShowsThatAResultDependsOnTheOrderOfBlocks) {
  const OneCore core;
  EXPECT_EQ(run("findings", "chains", {"MEMBOUND_CHECK=none"}).status, 0);
  const Outcome shuffled = run("findings", "chains", {"MEMBOUND_SHUFFLE=7"});
  EXPECT_EQ(WEXITSTATUS(shuffled.status), 5) << shuffled.said;
}

TEST(Shuffle, RacecheckNeedsNone) {
  const Outcome outcome = run("findings", "chains", {"MEMBOUND_CHECK=racecheck"});
  EXPECT_THAT(outcome.said, HasSubstr("racecheck: data race"));
  EXPECT_THAT(outcome.said, HasSubstr("findings.cu:" + line_of("chains")));
}

TEST(Limits, CtrlCStopsAKernelAndTheProgram) {
  const Outcome outcome = run("findings", "spins", {"MEMBOUND_CHECK=none"}, "spinning");
  EXPECT_TRUE(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGINT) << outcome.said;
  EXPECT_THAT(outcome.said, HasSubstr("stopped\n  in spins(int volatile*)"));
}

TEST(Limits, AKernelWithoutEndIsGivenUpAfterSoManyInstructions) {
  const Outcome outcome = run("findings", "spins", {"MEMBOUND_STEP_LIMIT=100000"});
  EXPECT_EQ(WEXITSTATUS(outcome.status), 4) << outcome.said;
  EXPECT_THAT(outcome.said, HasSubstr("step limit reached\n  in spins(int volatile*)"));
  EXPECT_THAT(outcome.said, HasSubstr("findings.cu:" + line_of("spins")));
}

}  // namespace
}  // namespace membound::vgpu::runtime
