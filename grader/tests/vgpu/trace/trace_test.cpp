// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/trace/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "grader/course/lab_result.hpp"
#include "grader/report/access_picture.hpp"
#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::trace {
namespace {

// Lane l loads data[index[l]] where index[l] is not negative, puts it into shared word index[l],
// and adds 1 to data[index[l]].
constexpr const char* kGather = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry gather(.param .u64 index, .param .u64 data)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 tile[16384];
  ld.param.u64 %rd1, [index];
  ld.param.u64 %rd2, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.s32 %r2, [%rd4];
  setp.lt.s32 %p1, %r2, 0;
  @%p1 bra END;
  mul.wide.s32 %rd5, %r2, 4;
  add.s64 %rd6, %rd2, %rd5;
  ld.global.u32 %r3, [%rd6];
  mov.u32 %r4, tile;
  shl.b32 %r5, %r2, 2;
  add.s32 %r4, %r4, %r5;
  st.shared.u32 [%r4], %r3;
  red.global.add.f32 [%rd6], 0f3F800000;
END:
  ret;
}
)";
constexpr std::size_t kIndexLoad = 0, kGatherLoad = 1, kSharedStore = 2;

struct Traced {
  std::vector<course::MemoryAccess> accesses;  // as readers of the counters file see them
  counters::Counters counters;
};

Traced run(const std::vector<std::int32_t>& index) {
  exec::Machine machine(kGather);
  Trace trace(1);
  machine.request().tracing = {&trace, {0, 0, 0}, 0};
  const auto d_index = machine.upload(index);
  const auto d_data = machine.upload(std::vector<std::uint32_t>(4096));
  const auto report =
      machine.argument(d_index).argument(d_data).run("gather", {1, 1, 1}, {32, 1, 1});
  EXPECT_FALSE(report.fault);
  const auto json = nlohmann::json::parse(to_json(trace.accesses()));
  return {json.get<std::vector<course::MemoryAccess>>(), report.counters.totals};
}

std::vector<std::int32_t> indices(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::int32_t> index(32);
  const int range = 1 << (1 + random() % 12);
  for (std::int32_t& i : index) i = random() % 8 == 0 ? -1 : static_cast<int>(random() % range);
  index[random() % 32] = 0;  // one lane at least takes part
  return index;
}

int highest(const course::MemoryAccess& access) {
  int most = 0;
  for (const auto& lane : access.wavefronts)
    for (const int wavefront : lane) most = std::max(most, wavefront);
  return most;
}

TEST(Trace, ShowsAsManySectorsAndWavefrontsAsTheCountersCount) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Traced traced = run(indices(seed));
    ASSERT_EQ(traced.accesses.size(), 3u);  // the reduction is left out
    const auto index = report::sectors_of(traced.accesses[kIndexLoad]);
    const auto gather = report::sectors_of(traced.accesses[kGatherLoad]);
    EXPECT_EQ(index.size() + gather.size(), traced.counters.global_load_sectors);
    EXPECT_EQ(highest(traced.accesses[kSharedStore]), traced.counters.shared_store_wavefronts);
  }
}

TEST(Trace, TellsTheIdealThatTheCountersCount) {
  const Traced traced = run(indices(7));
  EXPECT_EQ(traced.accesses[kIndexLoad].ideal + traced.accesses[kGatherLoad].ideal,
            traced.counters.global_load_ideal_sectors);
}

TEST(Trace, LeavesOutLanesThatDoNotTakePart) {
  std::vector<std::int32_t> index(32, -1);
  index[3] = 8;
  const Traced traced = run(index);
  EXPECT_EQ(traced.accesses[kIndexLoad].mask, 0xFFFFFFFFu);
  EXPECT_EQ(traced.accesses[kGatherLoad].mask, 1u << 3);
}

TEST(Trace, HearsOfTheChosenBlockAndWarpOnly) {
  exec::Machine machine(kGather);
  Trace trace(1);
  machine.request().tracing = {&trace, {1, 0, 0}, 0};
  const auto d_index = machine.upload(std::vector<std::int32_t>(32, 0));
  const auto d_data = machine.upload(std::vector<std::uint32_t>(4096));
  static_cast<void>(
      machine.argument(d_index).argument(d_data).run("gather", {1, 1, 1}, {32, 1, 1}));
  EXPECT_TRUE(trace.accesses().empty());
}

TEST(Trace, ServesTwoWordsOfOneBankOneAfterTheOther) {
  std::uint64_t offsets[32] = {};
  offsets[1] = 128;
  const auto served = assign_wavefronts(offsets, 0b11, 4, exec::AccessKind::kLoad);
  EXPECT_EQ(served[0], std::vector<std::uint32_t>{1});
  EXPECT_EQ(served[1], std::vector<std::uint32_t>{2});
  EXPECT_TRUE(served[2].empty());
}

TEST(Trace, ServesDoublesInTwoHalves) {
  std::uint64_t offsets[32];
  for (std::uint64_t lane = 0; lane < 32; ++lane) offsets[lane] = 8 * lane;
  const auto served = assign_wavefronts(offsets, ~0u, 8, exec::AccessKind::kStore);
  EXPECT_EQ(served[15], (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(served[16], (std::vector<std::uint32_t>{2, 2}));
}

}  // namespace
}  // namespace membound::vgpu::trace
