// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A thread's neighbouring words, stored one after the other: what the stores cost that fill their
/// sectors only together, by how many there are, how wide they are and what stands between them.
/// How many sectors reach L2 says Nsight Compute: lts__t_sectors_srcunit_tex_op_write.sum.
///
/// A program whose rows the clock's term of partly filled sectors is chosen with.
#include "grader/gpu_truth/clock/words.cuh"
#include "grader/vgpu/calibration/timed.cuh"

namespace {

using u32 = unsigned;

enum Between { kNothing, kLoad, kSharedLoad, kChain, kBarrier, kWarpBarrier, kOtherStore };

__device__ std::size_t me() { return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; }

/// Thread i stores words i * kEach ... , the first kOf of these.
template <typename Word, int kEach, int kOf, Between kBetween>
__global__ void store_words(Word* out, const u32* in, u32* other, u32 zero) {
  __shared__ u32 shared[256];
  if (kBetween == kSharedLoad) shared[threadIdx.x] = zero;
  const std::size_t i = me();
  u32 value = threadIdx.x + zero;
#pragma unroll
  for (int k = 0; k < kOf; ++k) {
    out[i * kEach + k] = timed::word_of<Word>(value);
    asm volatile("" ::: "memory");  // each store in its turn
    if (kBetween == kLoad) value += in[value & zero];
    if (kBetween == kSharedLoad) value += shared[(value + k) % 256];
    if (kBetween == kChain)
      for (int c = 0; c < 32; ++c) value = value * 3 + zero;
    if (kBetween == kBarrier) __syncthreads();
    if (kBetween == kWarpBarrier) __syncwarp();
    if (kBetween == kOtherStore) other[i + (static_cast<std::size_t>(k) << 22)] = value;
  }
}
/// Copies a thread's neighbours: loads, `steps` dependent steps, stores.
template <typename Word, int kEach>
__global__ void copy_words(Word* out, const Word* in, u32 steps) {
  const std::size_t first = me() * kEach;
  Word value[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) value[k] = in[first + k];
  u32 x = steps + reinterpret_cast<const unsigned char&>(value[kEach - 1]);
#pragma unroll 1
  for (u32 s = 0; s < steps; ++s) x = x * 3 + 1;
  if (x == 0xffffffff) return;
#pragma unroll
  for (int k = 0; k < kEach; ++k) out[first + k] = value[k];
}
template <int kEach>
__global__ void copy_in_turn(u32* out, const u32* in) {
  const std::size_t first = me() * kEach;
#pragma unroll 1
  for (int k = 0; k < kEach; ++k) out[first + k] = in[first + k];
}

struct Arrays {
  u32 *out, *in, *other;
  timed::Bench& bench;

  template <typename Word, int kEach, typename Launch>
  void time(const char* group, const std::string& what, u32 mib, Launch&& launch) const {
    const auto threads = static_cast<u32>((std::size_t{mib} << 20) / sizeof(Word) / kEach);
    bench(group,
          std::to_string(kEach) + " words of " + std::to_string(sizeof(Word)) + " bytes" + what +
              " of " + std::to_string(mib) + " MiB",
          [&] { launch(threads / 256); });
  }
  template <typename Word, int kEach, int kOf = kEach, Between kBetween = kNothing>
  void stores(u32 mib, const char* what = "") const {
    time<Word, kEach>("store neighbours", what, mib, [&](u32 blocks) {
      store_words<Word, kEach, kOf, kBetween>
          <<<blocks, 256>>>(reinterpret_cast<Word*>(out), in, other, 0);
    });
  }
  /// `per_sm` blocks on a multiprocessor at once.
  template <typename Word, int kEach>
  void copies(u32 mib, u32 steps = 0, u32 per_sm = 8) const {
    const std::size_t shared = per_sm == 8 ? 0 : (std::size_t{200} << 10) / per_sm;
    timed::check(
        cudaFuncSetAttribute(copy_words<Word, kEach>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)),
        "attribute");
    std::string what = steps == 0 ? "" : " " + std::to_string(steps) + " steps";
    if (per_sm != 8) what += " " + std::to_string(per_sm) + " blocks";
    time<Word, kEach>("copy neighbours", what, mib, [&](u32 blocks) {
      copy_words<Word, kEach><<<blocks, 256, shared>>>(reinterpret_cast<Word*>(out),
                                                       reinterpret_cast<const Word*>(in), steps);
    });
  }
  template <int kEach>
  void copies_in_turn(u32 mib) const {
    time<u32, kEach>("copy neighbours in turn", "", mib,
                     [&](u32 blocks) { copy_in_turn<kEach><<<blocks, 256>>>(out, in); });
  }
};

}  // namespace

int main(int argc, char** argv) {
  timed::Bench bench(argc, argv);
  Arrays a{nullptr, nullptr, nullptr, bench};
  const std::size_t bytes = std::size_t{256} << 20;
  timed::check(cudaMalloc(&a.out, bytes), "cudaMalloc");
  timed::check(cudaMalloc(&a.in, bytes), "cudaMalloc");
  timed::check(cudaMalloc(&a.other, std::size_t{32} << 22), "cudaMalloc");
  timed::check(cudaMemset(a.in, 0, bytes), "cudaMemset");
  using u8 = unsigned char;
  using u16 = unsigned short;
  for (const u32 mib : {16u, 256u}) {
    a.copies<u32, 1>(mib), a.copies<u32, 2>(mib), a.copies<u32, 3>(mib), a.copies<u32, 4>(mib);
    a.copies<u32, 5>(mib), a.copies<u32, 6>(mib), a.copies<u32, 7>(mib), a.copies<u32, 8>(mib);
    a.copies<u32, 16>(mib);
    a.copies<u8, 4>(mib), a.copies<u8, 8>(mib), a.copies<u8, 16>(mib);
    a.copies<u16, 2>(mib), a.copies<u16, 4>(mib), a.copies<u16, 8>(mib);
    a.copies<uint2, 2>(mib), a.copies<uint2, 3>(mib), a.copies<uint2, 4>(mib);
    a.copies<uint4, 1>(mib), a.copies<uint4, 2>(mib), a.copies<uint4, 4>(mib);
    for (const u32 steps : {10u, 40u}) a.copies<u32, 4>(mib, steps), a.copies<u32, 8>(mib, steps);
    for (const u32 per_sm : {2u, 4u}) {
      a.copies<u32, 2>(mib, 0, per_sm), a.copies<u32, 4>(mib, 0, per_sm);
      a.copies<u32, 8>(mib, 0, per_sm);
    }
    a.copies_in_turn<2>(mib), a.copies_in_turn<4>(mib), a.copies_in_turn<8>(mib);
    a.stores<u32, 1>(mib), a.stores<u32, 2>(mib), a.stores<u32, 3>(mib), a.stores<u32, 4>(mib);
    a.stores<u32, 5>(mib), a.stores<u32, 6>(mib), a.stores<u32, 8>(mib), a.stores<u32, 16>(mib);
    a.stores<u32, 4, 1>(mib, " one alone"), a.stores<u32, 4, 2>(mib, " two alone");
    a.stores<u32, 4, 3>(mib, " three alone");
    a.stores<u8, 4>(mib), a.stores<u8, 16>(mib);
    a.stores<uint2, 2>(mib), a.stores<uint2, 4>(mib), a.stores<uint4, 2>(mib);
  }
  a.stores<u32, 4, 4, kLoad>(16, " a load between");
  a.stores<u32, 4, 4, kSharedLoad>(16, " a shared load between");
  a.stores<u32, 4, 4, kChain>(16, " a chain between");
  a.stores<u32, 8, 8, kChain>(16, " a chain between");
  a.stores<u32, 4, 4, kBarrier>(16, " a barrier between");
  a.stores<u32, 2, 2, kBarrier>(16, " a barrier between");
  a.stores<u32, 2, 2, kWarpBarrier>(16, " a warp's barrier between");
  a.stores<u32, 2, 2, kLoad>(16, " a load between");
  a.stores<u32, 2, 2, kSharedLoad>(16, " a shared load between");
  a.stores<u32, 2, 2, kOtherStore>(16, " another store between");
  a.stores<u32, 4, 4, kOtherStore>(16, " another store between");
  return 0;
}
