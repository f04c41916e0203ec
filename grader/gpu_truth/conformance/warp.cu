// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: what lanes of a warp tell each other: shuffles, votes, matches, reductions (PTX
/// ISA 9.0, "Parallel Synchronization and Communication Instructions").
#include "grader/gpu_truth/conformance/conformance.cuh"

#define SHUFFLE(name, mode, operand, clamp)                                    \
  CASE(name, 64) {                                                             \
    std::uint32_t value, valid;                                                \
    asm volatile("{ .reg .pred p; shfl.sync." mode ".b32 %0|p, %2, %3, " clamp \
                 ", 0xffffffff; selp.u32 %1, 1, 0, p; }"                       \
                 : "=r"(value), "=r"(valid)                                    \
                 : "r"(lane * 10), "r"(static_cast<std::uint32_t>(operand)));  \
    out[lane] = value, out[lane + 32] = valid;                                 \
  }
SHUFFLE(shfl_idx_constant, "idx", 5, "0x1f")
SHUFFLE(shfl_idx_by_lane, "idx", lane * 7 + 3, "0x1f")
SHUFFLE(shfl_idx_beyond, "idx", lane + 25, "0x1f")
SHUFFLE(shfl_idx_segments_of_8, "idx", lane, "0x181f")
SHUFFLE(shfl_idx_clamp_5, "idx", lane, "0x05")
SHUFFLE(shfl_up_1, "up", 1, "0x0")
SHUFFLE(shfl_up_by_lane, "up", lane / 3, "0x0")
SHUFFLE(shfl_up_segments_of_16, "up", 3, "0x1000")
SHUFFLE(shfl_up_clamp_4, "up", 2, "0x4")
SHUFFLE(shfl_down_1, "down", 1, "0x1f")
SHUFFLE(shfl_down_40, "down", 40, "0x1f")
SHUFFLE(shfl_down_segments_of_8, "down", 3, "0x181f")
SHUFFLE(shfl_bfly_1, "bfly", 1, "0x1f")
SHUFFLE(shfl_bfly_21, "bfly", 21, "0x1f")
SHUFFLE(shfl_bfly_segments_of_4, "bfly", 5, "0x1c1f")
SHUFFLE(shfl_bfly_clamp_9, "bfly", 6, "0x9")

CASE(shfl_of_every_type, 192) {
  const double d = __shfl_xor_sync(0xffffffff, conformance::input_F64(lane), 9);
  const unsigned long long u = __shfl_down_sync(0xffffffff, conformance::input_U64(lane), 4, 16);
  const float f = __shfl_up_sync(0xffffffff, conformance::input_F32(lane), 2, 8);
  out[lane] = __float_as_uint(f);
  out[lane + 32] = __shfl_sync(0xffffffff, static_cast<short>(-lane), lane ^ 1);
  conformance::put(out, lane + 32, d);
  conformance::put(out, lane + 64, u);
}
CASE(shfl_in_half_of_the_warp, 32) {
  out[lane] = 99;
  if (lane >= 16) out[lane] = __shfl_sync(0xffff0000, lane * 3, 16 + (lane + 1) % 16);
}
CASE(shfl_in_both_branches, 32) {
  if (lane & 1) {
    out[lane] = __shfl_xor_sync(0xaaaaaaaa, lane, 2);
  } else {
    out[lane] = __shfl_xor_sync(0x55555555, lane + 100, 4);
  }
}
CASE(warp_sum_by_shuffles, 32) {
  int sum = conformance::input_U32(lane) & 0xffff;
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  out[lane] = sum;
}
CASE(warp_scan_by_shuffles, 32) {
  int sum = lane * lane;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(0xffffffff, sum, distance);
    if (lane >= distance) sum += other;
  }
  out[lane] = sum;
}
CASE(vote_ballot, 64) {
  out[lane] = __ballot_sync(0xffffffff, conformance::input_U32(lane) & 1);
  out[lane + 32] = __ballot_sync(0xffffffff, lane % 3 == 0);
}
CASE(vote_all_any, 128) {
  out[lane] = __all_sync(0xffffffff, lane < 32) * 2 + __all_sync(0xffffffff, lane < 31);
  out[lane + 32] = __any_sync(0xffffffff, lane == 7) * 2 + __any_sync(0xffffffff, lane == 32);
  std::uint32_t uniform, varied;
  asm volatile(
      "{ .reg .pred p, q; setp.lt.u32 p, %2, 32; vote.sync.uni.pred q, p, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, q; setp.lt.u32 p, %2, 9; vote.sync.uni.pred q, p, 0xffffffff;\n"
      "selp.u32 %1, 1, 0, q; }"
      : "=r"(uniform), "=r"(varied)
      : "r"(lane));
  out[lane + 64] = uniform, out[lane + 96] = varied;
}
CASE(vote_of_the_lower_lanes, 32) {
  out[lane] = 7;
  if (lane < 12) out[lane] = __ballot_sync(0xfff, lane % 2 == 0);
}
CASE(vote_negated_operand, 32) {
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 20; vote.sync.ballot.b32 %0, !p, 0xffffffff; }"
               : "=r"(out[lane])
               : "r"(lane));
}
CASE(match_any, 96) {
  out[lane] = __match_any_sync(0xffffffff, lane / 5);
  out[lane + 32] = __match_any_sync(0xffffffff, conformance::input_U64(lane % 7));
  out[lane + 64] = 3;
  if (lane & 4) out[lane + 64] = __match_any_sync(0xf0f0f0f0, lane & 1);
}
CASE(match_all, 128) {
  int same;
  out[lane] = __match_all_sync(0xffffffff, 5, &same);
  out[lane + 32] = same;
  out[lane + 64] = __match_all_sync(0xffffffff, lane == 3, &same);
  out[lane + 96] = same;
}
CASE(redux_sum_min_max, 160) {
  const std::uint32_t value = conformance::input_U32(lane);
  out[lane] = __reduce_add_sync(0xffffffff, value);
  out[lane + 32] = __reduce_min_sync(0xffffffff, value);
  out[lane + 64] = __reduce_max_sync(0xffffffff, value);
  out[lane + 96] = __reduce_min_sync(0xffffffff, static_cast<int>(value));
  out[lane + 128] = __reduce_max_sync(0xffffffff, static_cast<int>(value));
}
CASE(redux_bits, 96) {
  const std::uint32_t value = conformance::input_U32(lane + 32);
  out[lane] = __reduce_and_sync(0xffffffff, value | 0xff00);
  out[lane + 32] = __reduce_or_sync(0xffffffff, value & 0xffff);
  out[lane + 64] = __reduce_xor_sync(0xffffffff, value);
}
CASE(redux_in_part_of_the_warp, 32) {
  out[lane] = 1;
  if (lane % 4 == 1) out[lane] = __reduce_add_sync(0x22222222, lane);
}
CASE(activemask_in_a_branch, 32) {
  out[lane] = __activemask();
  __syncwarp();
}
CASE(elect_one_lane, 64) {
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(out[lane]), "=r"(out[lane + 32]));
}
CASE(lane_masks, 192) {
  std::uint32_t id, eq, lt, le, gt, ge;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));
  asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  out[lane] = id, out[lane + 32] = eq, out[lane + 64] = lt;
  out[lane + 96] = le, out[lane + 128] = gt, out[lane + 160] = ge;
}
CASE(syncwarp_orders_shared_memory, 32) {
  __shared__ int values[32];
  for (int round = 0; round < 5; ++round) {
    values[lane] = lane * 3 + round;
    __syncwarp();
    const int other = values[(lane + 1) % 32];
    __syncwarp();
    out[lane] += other;
  }
}

CONFORMANCE_MAIN()
