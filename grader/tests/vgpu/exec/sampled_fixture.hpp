// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Launches of which some blocks run: a copy of one word a thread, with a body of the test's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"
#include "grader/vgpu/exec/traffic/l1_directory.hpp"

namespace membound::vgpu::exec {

inline constexpr std::uint32_t kSms = 16, kPlaces = 4, kSampleThreads = 64, kAllBlocks = 5003;

/// `body` comes between loading in[i] into %r4 and storing it to out[i]; %r1 is the block.
inline std::string copy_with(const std::string& body) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mad.lo.u32 %r2, %r1, 64, %r0;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd0, %rd2;
  add.u64 %rd4, %rd1, %rd2;
  ld.global.u32 %r4, [%rd3];
)" + body +
         R"(
  st.global.u32 [%rd4], %r4;
  ret;
})";
}

/// Turns %r5 times, one turn at least.
inline constexpr const char* kTurns = R"(
TURN:
  add.u32 %r4, %r4, 1;
  sub.u32 %r5, %r5, 1;
  setp.gt.s32 %p1, %r5, 0;
  @%p1 bra TURN;
)";

struct Sampled : Machine {
  explicit Sampled(const std::string& body = "", std::uint32_t workers = 2)
      : Machine(copy_with(body)) {
    request().sm_count = kSms;
    request().caches = {.enabled = true, .resident_blocks_per_sm = kPlaces};
    request().limits.worker_threads = workers;
  }
  LaunchReport run_with(std::optional<std::uint64_t> seed, std::uint32_t blocks = kAllBlocks,
                        bool some_warps = false, std::uint32_t l1_kept = ReuseDistances::kBuckets) {
    const auto in = space().allocate(std::uint64_t{blocks} * kSampleThreads * 4, 256, {});
    const auto out = space().allocate(std::uint64_t{blocks} * kSampleThreads * 4, 256, {});
    request().sample.reset();
    if (seed) request().sample = SampleOrder{*seed, 1 << 20, false, some_warps, l1_kept};
    return argument(*in).argument(*out).run("k", {blocks, 1, 1}, {kSampleThreads, 1, 1});
  }
  /// As a launch that leaves what a sampled one needs; it may read its output, or write it. With
  /// more than `counted` warp instructions only some blocks are counted.
  LaunchReport prepare(std::uint32_t blocks, bool into_output = false,
                       std::uint64_t counted = 1 << 20) {
    const std::uint64_t bytes = std::uint64_t{blocks} * kSampleThreads * 4;
    const auto in = space().allocate(bytes, 256, {}), out = space().allocate(bytes, 256, {});
    const auto zeros = [](std::uint64_t, std::byte* to, std::uint64_t n) {
      std::fill_n(to, n, std::byte{});
    };
    space().generate_lazily(into_output ? *out : *in, zeros, into_output);
    request().sample = SampleOrder{1, counted, true};
    out_ = *out;
    return argument(*in).argument(*out).run("k", {blocks, 1, 1}, {kSampleThreads, 1, 1});
  }
  /// What the launch that prepares left.
  std::vector<std::uint32_t> prepared(std::uint32_t blocks) {
    return download<std::uint32_t>(out_, std::size_t{blocks} * kSampleThreads);
  }

 private:
  std::uint64_t out_ = 0;
};

}  // namespace membound::vgpu::exec
