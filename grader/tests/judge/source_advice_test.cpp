// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Findings held against a source: no advice that it follows already, one finding a fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grader/judge/findings.hpp"

namespace membound::judge {
namespace {

using course::Finding;
using course::Verdict;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kIfAdvice = "compare the index itself with the number of elements";

/// What is left of `findings` about a stage with this source.
course::StageResult held(const std::string& source, std::vector<Finding> findings,
                         Verdict verdict = Verdict::kWrong) {
  course::Stage stage;
  stage.number = 1;
  stage.kernel = "f";
  stage.kind = &course::kKernelStage;
  course::StageResult result;
  result.verdict = verdict;
  result.findings = std::move(findings);
  hold_against_source(
      compilers::StudentSource("// Stage 1: f\n__global__ void f(int n) {\n" + source + "}\n"),
      "kernel.cu", stage, result);
  return result;
}

Finding out_of_bounds(int line, const std::string& advice = kIfAdvice) {
  return {"memcheck",  "out of bounds write in f, right after the 40 bytes at 0x10",
          "",          "",
          "kernel.cu", line,
          advice};
}

TEST(SourceAdvice, AGuardIsNotAskedForWhereOneStands) {
  const auto none = held("  a[i] = 0;\n", {out_of_bounds(3)});
  EXPECT_EQ(none.findings[0].advice, kIfAdvice);
  const auto guarded = held("  if (i < n) a[at(r, c, n)] = 0;\n", {out_of_bounds(3)});
  EXPECT_THAT(guarded.findings[0].advice, HasSubstr("the guard is there (`i < n` in line 3)"));
  EXPECT_THAT(guarded.findings[0].advice, HasSubstr("the width that of its own rows"));
}

TEST(SourceAdvice, NamesTheMistakeInAGuard) {
  EXPECT_THAT(held("  if (i <= n) a[i] = 0;\n", {out_of_bounds(3)}).findings[0].advice,
              HasSubstr("< instead of <="));
  EXPECT_THAT(held("  if (i > n) return;\n  a[i] = 0;\n", {out_of_bounds(4)}).findings[0].advice,
              HasSubstr(">= instead of >"));
  EXPECT_THAT(held("  if (n = i) a[i] = 0;\n", {out_of_bounds(3)}).findings[0].advice,
              HasSubstr("assigns"));
  const auto empty = held("  if (i < n);\n  a[i] = 0;\n", {out_of_bounds(4)});
  EXPECT_EQ(empty.findings[0].line, 3);
}

TEST(SourceAdvice, WhatWrappedIsNotBlamedOnAGuard) {
  const std::string wrapped = "compute the index in 64 bits, with the cast before the product";
  EXPECT_EQ(held("  if (i <= n) a[i] = 0;\n", {out_of_bounds(3, wrapped)}).findings[0].advice,
            wrapped);
}

TEST(SourceAdvice, TwoFindingsOfOneFaultAreOne) {
  EXPECT_EQ(
      held("  if (i <= n) a[i] = b[i];\n", {out_of_bounds(3), out_of_bounds(3)}).findings.size(),
      1U);
  const auto far = held("  a[i] = 0;\n  b[i] = 0;\n",
                        {out_of_bounds(3, "the index is far off"), out_of_bounds(4)});
  EXPECT_EQ(far.findings.size(), 2U);
  // The compiler moved the load of line 3 to its use in line 4, which has the guard.
  Finding load = out_of_bounds(3), use = out_of_bounds(4);
  load.text = use.text = "out of bounds read in f: past the end (allocation 4, cudaMalloc)";
  EXPECT_EQ(held("  float v = b[i];\n  if (i < n) a[i] = v;\n", {load, use}).findings.size(), 1U);
}

TEST(SourceAdvice, AnIndexFromBehindHasTheNumberOfElementsBeforeTheMinus) {
  EXPECT_THAT(held("  if (i < n) a[n - i] = 0;\n", {out_of_bounds(3)}).findings[0].advice,
              HasSubstr("for i = 0 element n - i is one past the end: n - 1 - i"));
  for (const char* const access : {"a[i - 1]", "a[t - step]", "a[size - i]"})
    EXPECT_THAT(
        held("  if (i < n) x = " + std::string(access) + " + a[i + 1];\n", {out_of_bounds(3)})
            .findings[0]
            .advice,
        Not(HasSubstr("one past the end")))
        << access;
}

TEST(SourceAdvice, BothSidesOfAnIfWaitByAWordAndAFence) {
  const auto advice = [](const std::string& other_side) {
    const Finding race = {"racecheck",
                          "data race in f: writes 4 bytes, which thread (0, 0, 0) of the same warp "
                          "read at kernel.cu:4; nothing orders the two",
                          "",
                          "",
                          "kernel.cu",
                          7,
                          "put __syncwarp() (or __syncthreads()) between lines 4 and 7: since "
                          "Volta the lanes of a warp need not run in step"};
    return held("  if (lane < 16) {\n    x = s[i];\n  } else {\n" + other_side +
                    "    s[i] = 0;\n  }\n",
                {race})
        .findings[0]
        .advice;
  };
  EXPECT_THAT(advice("    while (*turn != 1);\n"),
              testing::AllOf(HasSubstr("two sides of one if"), HasSubstr("__threadfence_block()")));
  EXPECT_THAT(advice("    y = 1;\n"), testing::AllOf(HasSubstr("two sides of one if"),
                                                     Not(HasSubstr("__threadfence_block()"))));
}

TEST(SourceAdvice, BothSidesOfAnIfAreNoPlaceForABarrierOfTheBlock) {
  const Finding race = {"racecheck",
                        "data race in f: writes 4 bytes, which thread (0, 0, 0) of the same warp "
                        "read at kernel.cu:4; nothing orders the two",
                        "",
                        "",
                        "kernel.cu",
                        6,
                        "put __syncwarp() (or __syncthreads()) between lines 4 and 6: since Volta "
                        "the lanes of a warp need not run in step"};
  EXPECT_THAT(held("  if (lane < 16) {\n    x = s[i];\n  } else {\n    s[i] = 0;\n  }\n", {race})
                  .findings[0]
                  .advice,
              HasSubstr("__syncwarp()"));
  EXPECT_THAT(
      held("  if (lane < 16) {\n    x = s[i];\n  }\n  s[i] = 0;\n", {race}).findings[0].advice,
      Not(HasSubstr("__syncwarp()")));
}

TEST(SourceAdvice, ALoopThatWaitsIsToldToLoadItsWordEachTime) {
  const Finding race = {"racecheck",
                        "data race in f: writes 4 bytes, which thread (1, 0, 0) of the same warp "
                        "read at kernel.cu:3; nothing orders the two",
                        "",
                        "",
                        "kernel.cu",
                        5,
                        "put __syncthreads() between lines 3 and 5, where every thread reaches it"};
  for (const char* loop : {"  while (*turn != 1) {\n  }\n", "  while (*turn != 1);\n\n"})
    EXPECT_THAT(held(std::string(loop) + "  *turn = 2;\n", {race}).findings[0].advice,
                HasSubstr("make the word volatile"));
}

TEST(SourceAdvice, ALoopThatWaitsIsFoundBelowTheLineToWhichItsLoadWasMoved) {
  const Finding race = {
      "racecheck",
      "data race in f, block (0, 0, 0), thread (0, 0, 0): writes 4 bytes at offset "
      "0 of turns (32 bytes of shared memory), which thread (15, 0, 0) of the same "
      "warp read at kernel.cu:4; nothing orders the two",
      "",
      "",
      "kernel.cu",
      7,
      "put __syncwarp() (or __syncthreads()) after line 7, before the next "
      "iteration comes to line 5: since Volta the lanes of a warp need not run in "
      "step"};
  EXPECT_THAT(held("  if (lane() < 16) {\n    for (int round = 0; round < k; ++round) {\n"
                   "      while (*turn != 2 * round) {\n      }\n"
                   "      if (lane() == 0) *turn = 2 * round + 1;\n    }\n  }\n",
                   {race})
                  .findings[0]
                  .advice,
              HasSubstr("make the word volatile"));
}

TEST(SourceAdvice, WhoReadsWhatManyChangeWithoutAnAtomicHasTheSameCause) {
  const auto race = [](int line, const std::string& where, const std::string& advice) {
    return Finding{"racecheck",
                   "data race in f: 4 bytes at offset 0 of bins (1024 bytes of shared memory), "
                   "which thread (1, 0, 0) of the same block wrote at " +
                       where + "; nothing orders the two",
                   "",
                   "",
                   "kernel.cu",
                   line,
                   advice};
  };
  const Finding cause = race(3, "the same line", "use an atomic operation (atomicAdd), or wait"),
                effect = race(4, "kernel.cu:3", "put __syncthreads() between lines 3 and 4");
  const std::string source = "  bins[d] += 1;\n  atomicAdd(&bins[e], 1);\n  out[0] = bins[0];\n";
  for (const auto& both : {std::vector{cause, effect}, std::vector{effect, cause}}) {
    const auto told = held(source, both);
    ASSERT_EQ(told.findings.size(), 1U);
    EXPECT_EQ(told.findings[0].line, 3);
  }
  EXPECT_EQ(held(source, {cause, race(5, "kernel.cu:4", effect.advice)}).findings.size(), 2U);
}

TEST(SourceAdvice, WhatIsAddedInALoopIsAddedInAVariable) {
  const Finding reads = {"initcheck", "uninitialised read in f", "", "", "kernel.cu", 4, ""};
  const std::string loop = "  for (int k = 0; k < 8; ++k)\n    out[i] += in[i + k];\n";
  EXPECT_THAT(held(loop, {reads}).findings[0].advice, HasSubstr("store it once, after the loop"));
  const Finding once = {"initcheck", "uninitialised read in f", "", "", "kernel.cu", 3, ""};
  EXPECT_THAT(held("  out[i] += in[i];\n", {once}).findings[0].advice,
              HasSubstr("write = instead of +="));
}

TEST(SourceAdvice, ABarrierForOneWarpIsAdvisedOnlyWhereOneBranchHoldsBothLines) {
  const Finding race = {
      "racecheck",
      "data race in f",
      "",
      "",
      "kernel.cu",
      5,
      "put __syncwarp() (or __syncthreads()) between lines 4 and 5: since Volta the "
      "lanes of a warp need not run in step"};
  EXPECT_THAT(held("  if (threadIdx.x < 32) {\n    s[i] = 0;\n    x = s[j];\n  }\n", {race})
                  .findings[0]
                  .advice,
              HasSubstr("__syncwarp()"));
  EXPECT_THAT(held("  int i;\n  s[i] = 0;\n  x = s[j];\n", {race}).findings[0].advice,
              testing::StartsWith("put __syncthreads() between lines 4 and 5, where"));
}

TEST(SourceAdvice, APrintfIsBlamedForLocalMemory) {
  const auto told = held("  printf(\"%d\", n);\n",
                         {{"local-memory", "f keeps 8 bytes", "local-memory", "", "", 0,
                           "index such an array with constants alone"}},
                         Verdict::kSlow);
  EXPECT_EQ(told.findings[0].line, 3);
  EXPECT_THAT(told.findings[0].advice, HasSubstr("take the printf of line 3 out"));
}

TEST(SourceAdvice, AVariableThatIsReadBeforeItHasAValueIsNamed) {
  const Finding failed = {"failed-test", "first wrong: 0", "", "T", "", 0};
  const auto told = held("  int sum;\n  for (int k = 0; k < n; ++k) sum += k;\n", {failed});
  EXPECT_EQ(told.findings[0].line, 3);
  EXPECT_EQ(held("  int sum;\n  sum = 0;\n  sum += n;\n", {failed}).findings[0].line, 0);
}

TEST(SourceAdvice, AReadThatAddsToAnotherPlaceIsNotToldToClearTheSharedArray) {
  const auto reads = [](int line) {
    return Finding{"initcheck",
                   "uninitialised read in f: read of 4 bytes at offset 8 of sums (2048 bytes of "
                   "shared memory), which no thread of the block has written",
                   "",
                   "",
                   "kernel.cu",
                   line,
                   ""};
  };
  const std::string cleared = "let `sums` be set to 0";
  EXPECT_THAT(held("  box += row[t];\n", {reads(3)}).findings[0].advice, Not(HasSubstr(cleared)));
  for (const char* line :
       {"  sums[d][t] += 1;\n", "  ++sums[t];\n", "  sums[t]++;\n", "  atomicAdd(&sums[t], 1);\n"})
    EXPECT_THAT(held(line, {reads(3)}).findings[0].advice, HasSubstr(cleared)) << line;
}

TEST(SourceAdvice, TheHeadOfALoopThatDoesNotEndIsNamed) {
  const Finding failed = {"timeout", "the loop may never end", "", "FinishesInTime", "", 0};
  const auto told = [&](const std::string& source) {
    return held(source, {failed}, Verdict::kTimeout).findings[0];
  };
  EXPECT_THAT(told("  for (int i = threadIdx.x; i < n; i + 8)\n    out[i] = 0;\n").advice,
              HasSubstr("`i + 8` computes a value and changes nothing"));
  EXPECT_THAT(told("  for (int s = 16; s >= 0; s /= 2) sum += s * threadIdx.x;\n").advice,
              HasSubstr("> instead of >="));
  const Finding all = told("\n  for (int i = 0; i < n; ++i) out[i] = a[i];\n");
  EXPECT_EQ(all.line, 4);
  EXPECT_THAT(all.advice, HasSubstr("every thread runs this whole loop"));
  for (const char* right : {"  for (int i = threadIdx.x; i < n; i += 8) out[i] = 0;\n",
                            "  for (int s = 16; s > 0; s /= 2) sum += s;\n",
                            "  for (int i = 3; i >= 0; --i) sum += i;\n",
                            "  int t = threadIdx.x;\n  for (int k = 0; k < n; ++k) sum += k;\n"})
    EXPECT_EQ(told(right).line, 0) << right;
}

TEST(SourceAdvice, ATextureIsAskedForTheColumnFirst) {
  const Finding failed = {"failed-test", "first wrong: row 0", "", "T", "", 0};
  EXPECT_THAT(held("  sum += tex2D<float>(picture, y + 0.5f, x + i + 0.5f);\n", {failed})
                  .findings[0]
                  .advice,
              HasSubstr("the column first"));
  EXPECT_EQ(
      held("  sum += tex2D<float>(picture, x + 0.5f, y + 0.5f);\n", {failed}).findings[0].line, 0);
}

TEST(SourceAdvice, AVoteOfAllLanesInABranchIsNamed) {
  const Finding failed = {"failed-test", "first wrong: row 0", "one-row", "T", "", 0};
  const auto told = held("  if (kept) votes = __ballot_sync(kAllLanes, kept);\n", {failed});
  EXPECT_EQ(told.findings[0].line, 3);
  EXPECT_THAT(told.findings[0].advice, HasSubstr("do all 32 lanes take the branch `if (kept)`"));
  for (const char* good : {"  votes = __ballot_sync(kAllLanes, kept);\n",
                           "  if (warp == 0) votes = __ballot_sync(kAllLanes, kept);\n",
                           "  if (threadIdx.x < 32) votes = __ballot_sync(kAllLanes, kept);\n",
                           "  int t = threadIdx.x;\n"
                           "  if (t < kWarpLanes) votes = __ballot_sync(kAllLanes, kept);\n",
                           "  if (threadIdx.x >> 5 == 0) votes = __ballot_sync(kAllLanes, kept);\n",
                           "  constexpr int kFew = 64;\n"
                           "  if (threadIdx.x < kFew) votes = __ballot_sync(kAllLanes, kept);\n",
                           "  if (kept) votes = __ballot_sync(members, kept);\n"})
    EXPECT_EQ(held(good, {failed}).findings[0].line, 0) << good;
}

TEST(SourceAdvice, ABranchThatPartOfAWarpTakesIsNamed) {
  const Finding failed = {"failed-test", "first wrong: row 0", "one-row", "T", "", 0};
  for (const char* condition : {"threadIdx.x < 20", "t < 32", "i < n", "lane < warpSize / 2"})
    EXPECT_EQ(held("  if (" + std::string(condition) + ") v = __ballot_sync(~0u, v);\n", {failed})
                  .findings[0]
                  .line,
              3)
        << condition;
}

TEST(SourceAdvice, AGuardThatTestsAnotherIndexIsNamed) {
  for (const char* const line : {"  if (i < n) x = a[i + 1];\n", "  if (i < n) x = a[i + step];\n"})
    EXPECT_THAT(held(line, {out_of_bounds(3)}).findings[0].advice,
                HasSubstr("the guard tests another index than the access takes"))
        << line;
  for (const char* const line :
       {"  if (i + 1 < n) x = a[i + 1];\n", "  if (j < n) x = a[i + 1];\n",
        "  for (int i = 0; i < n; ++i) x = a[i + 1];\n", "  if (i < n) x = a[i];\n"})
    EXPECT_THAT(held(line, {out_of_bounds(3)}).findings[0].advice, Not(HasSubstr("another index")))
        << line;
}

constexpr const char* kLaunch =
    "}\nLAUNCH_SHAPE(f, int rows, int cols) {\n  LaunchShape shape;\n"
    "  shape.block = 256;\n  shape.grid = ";

TEST(SourceAdvice, ABlockThatWalksTheSumsOfAllBlocksIsRight) {
  const Finding failed = {"failed-test", "got nothing (never written)", "", "T", "", 0};
  const std::string sums =
      "  int i = blockIdx.x;\n  for (int b = threadIdx.x; b < gridDim.x; b += 256) sum += a[b];\n";
  EXPECT_EQ(held(sums + kLaunch + "528;\n", {failed}).findings[0].line, 0);
  const std::string all = "  for (int i = threadIdx.x; i < n; i += gridDim.x * 256) out[i] = 0;\n";
  EXPECT_EQ(held(all + kLaunch + "528;\n", {failed}).findings[0].line, 3);
}

TEST(SourceAdvice, AGridThatCountsTheOtherWayIsNamed) {
  const Finding failed = {"failed-test", "got nothing (never written)", "", "T", "", 0};
  const std::string kernel =
      "  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;\n"
      "  if (r < rows && c < cols) out[r] = c;\n";
  std::string launch = kLaunch;
  launch.replace(launch.find("256"), 3, "dim3(16, 16)");
  const auto told = [&](const std::string& grid) {
    return held(kernel + launch + grid + ";\n", {failed}).findings[0];
  };
  EXPECT_THAT(told("dim3(ceil_div(rows, 16), ceil_div(cols, 16))").advice,
              HasSubstr("exchange the two numbers"));
  EXPECT_THAT(told("{rows / 16, cols / 16}").advice, Not(HasSubstr("every block")));
  EXPECT_EQ(told("dim3(ceil_div(cols, 16), ceil_div(rows, 16))").line, 0);
}

TEST(SourceAdvice, AKernelThatNeverCountsBlocksIsNamed) {
  const Finding failed = {"failed-test", "got nothing (never written)", "", "T", "", 0};
  const auto told = [&](const std::string& source) {
    return held(source + kLaunch + "ceil_div(n, 256);\n", {failed}).findings[0];
  };
  EXPECT_THAT(told("  int i = threadIdx.x;\n").advice, HasSubstr("every block does the same"));
  EXPECT_EQ(told("  int i = number_in_grid() + threadIdx.x;\n").line, 0);
  EXPECT_EQ(told("  int i = threadIdx.x + blockIdx.x;\n").line, 0);
}

TEST(SourceAdvice, ACountThatNothingSetsBackIsNamed) {
  const Finding failed = {"failed-test", "got nothing (never written)", "", "T", "", 0};
  const auto line = [&](const std::string& change) {
    return held("  done();\n}\n__device__ unsigned count;\n__device__ void g() {\n" + change,
                {failed})
        .findings[0]
        .line;
  };
  EXPECT_EQ(line("  last = atomicAdd(&count, 1u) == gridDim.x - 1;\n"), 7);
  EXPECT_EQ(line("  last = atomicInc(&count, gridDim.x - 1) == gridDim.x - 1;\n"), 0);
  EXPECT_EQ(line("  last = atomicAdd(&count, 1u) == gridDim.x - 1;\n  if (last) count = 0;\n"), 0);
}

TEST(SourceAdvice, ARaceAcrossABarrierInABranchIsTheBarriersFault) {
  const Finding race = {"racecheck",
                        "data race in f: wrote at kernel.cu:4; nothing orders the two",
                        "",
                        "",
                        "kernel.cu",
                        7,
                        "put __syncthreads() between lines 4 and 7: since Volta"};
  Finding barrier = {"synccheck", "divergent barrier in f: 31 of 32 lanes come to this barrier",
                     "",          "",
                     "kernel.cu", 5};
  const std::string source =
      "  if (i < n) {\n    s[i] = 0;\n    __syncthreads();\n  }\n  x = s[i + 1];\n";
  const auto told = held(source, {race, barrier});
  ASSERT_EQ(told.findings.size(), 1U);
  EXPECT_EQ(told.findings[0].kind, "synccheck");
  EXPECT_EQ(held("  s[i] = 0;\n\n\n\n  x = s[i + 1];\n", {race}).findings.size(), 1U);
}

TEST(SourceAdvice, AnAdditionReadsItsLeftSideInMemoryAlone) {
  const Finding read = {
      "initcheck", "uninitialised read in f: which nobody has written", "", "", "kernel.cu", 3};
  EXPECT_THAT(held("  out[i] += x;\n", {read}).findings[0].advice, HasSubstr("= instead of +="));
  EXPECT_THAT(held("  *out += x;\n", {read}).findings[0].advice, HasSubstr("= instead of +="));
  EXPECT_THAT(held("  sum += out[i];\n", {read}).findings[0].advice,
              HasSubstr("write this element before anything reads it"));
}

TEST(SourceAdvice, WhatNobodyHasWrittenComesBeforeAnIndexFarOff) {
  Finding far = out_of_bounds(5), unwritten = out_of_bounds(3);
  far.text = "out of bounds read in f, block (0, 0, 0): 279515136 bytes before the 4 bytes at 0x1";
  unwritten.kind = "initcheck";
  unwritten.text = "uninitialised read in f, block (0, 0, 0): which nobody has written";
  const auto told = held("  t = s[0];\n  u = t;\n  v = a[u];\n", {far, unwritten});
  EXPECT_EQ(told.findings[0].kind, "initcheck");
  EXPECT_THAT(told.findings[1].advice, HasSubstr("what line 3 reads"));
  far.text = "out of bounds read in f, block (0, 0, 0): right after the 4 bytes at 0x1";
  EXPECT_EQ(held("  t = s[0];\n  u = t;\n  v = a[u];\n", {far, unwritten}).findings[0].kind,
            "memcheck");
}

TEST(SourceAdvice, APassedStageIsLeftAlone) {
  const auto told = held("  if (i <= n) a[i] = 0;\n", {out_of_bounds(3)}, Verdict::kPassed);
  EXPECT_EQ(told.findings[0].advice, kIfAdvice);
}

/// Nobody's kernel, but a submission may be anything: an answer at once, and no overflow.
TEST(SourceAdvice, HostileSourcesAreRead) {
  std::string deep, wide;
  for (int i = 0; i < 20'000; ++i) deep += "if(1)", wide += "{for(;;){";
  for (const std::string& text : {deep, wide, std::string(120'000, '('), std::string(120'000, 'x')})
    EXPECT_NO_FATAL_FAILURE(held(text + "\n", {out_of_bounds(3)}));
}

// Each of a stranger's lines may name hundreds of variables, and each of these hundreds of others.
TEST(SourceAdvice, ACopyWhoseNumberIsMadeOfHundredsOfVariablesIsLookedAtForNoLongerThanOthers) {
  const auto names = [](char first) {
    std::string sum;
    for (int i = 0; i < 100; ++i)
      sum += (i == 0 ? "" : "+") + std::string(1, first) + std::to_string(i);
    return sum;
  };
  std::string source;
  for (const char first : {'a', 'b', 'c'})
    for (int i = 0; i < 100; ++i)
      source += "  int " + std::string(1, first) + std::to_string(i) + " = " +
                (first == 'a' ? "n" : names(static_cast<char>(first - 1))) + ";\n";
  source += "  cudaMemcpy(out, d_out, " + names('c') + ", cudaMemcpyDeviceToHost);\n";
  course::Stage stage;
  stage.number = 1;
  stage.kernel = "f";
  stage.kind = &course::kProgramStage;
  course::StageResult result;
  result.verdict = Verdict::kWrong;
  result.findings = {{"test", "first wrong: sum 0", "", "", "", 0, ""}};
  const compilers::StudentSource text("// Stage 1: f\nint main() {\n" + source + "}\n");
  hold_against_source(text, "kernel.cu", stage, result);
  EXPECT_THAT(result.findings[0].advice, Not(HasSubstr("counts elements"))) << "nobody knows";
}

}  // namespace
}  // namespace membound::judge
