// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many blocks a multiprocessor holds whose warps leave at once but for some: each that stays
/// writes down when it came and went, and on which multiprocessor and in which slot. With shared
/// memory it is as many as the part of L1 holds that becomes shared memory.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct Stay {
  unsigned long long begin, end;
  unsigned sm, slot;
};

__device__ unsigned long long now() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

/// Warp `which` of each block stays, for `steps` dependent steps or loads.
template <bool kLoads>
__global__ void stay(Stay* stays, const unsigned* chain, unsigned which, unsigned steps) {
  if (threadIdx.x / 32 != which) return;
  const unsigned long long begin = now();
  unsigned x = threadIdx.x + blockIdx.x * 8192;
  if (kLoads) {
#pragma unroll 1
    for (unsigned k = 0; k < steps; ++k) x = chain[(x + 32) & 0x3ffffff] + x + 32;
  } else {
#pragma unroll 1
    for (unsigned k = 0; k < steps; ++k) x = x * 3 + 1;
  }
  unsigned sm, slot;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot));
  if (threadIdx.x % 32 == 0) stays[blockIdx.x] = {begin, now() + (x == 12345), sm, slot};
}

void print(const std::vector<Stay>& stays, const char* what, unsigned threads, unsigned which) {
  std::array<std::vector<std::pair<unsigned long long, int>>, 256> events;
  std::array<unsigned, 4> quarters{};
  double ns = 0;
  for (const Stay& s : stays) {
    events[s.sm].push_back({s.begin, 1}), events[s.sm].push_back({s.end, -1});
    ++quarters[s.slot % 4], ns += static_cast<double>(s.end - s.begin);
  }
  double held = 0, span = 0;
  int most = 0;
  for (auto& of_sm : events) {
    std::sort(of_sm.begin(), of_sm.end());
    int now = 0;
    for (std::size_t i = 0; i < of_sm.size(); ++i) {
      if (i > 0) held += now * static_cast<double>(of_sm[i].first - of_sm[i - 1].first);
      most = std::max(most, now += of_sm[i].second);
    }
    if (!of_sm.empty()) span += static_cast<double>(of_sm.back().first - of_sm.front().first);
  }
  std::printf(
      "how many stay,%s warp %u of %u threads,most %d,mean %.2f,life ns %.0f,slots %% 4: %u %u %u "
      "%u\n",
      what, which, threads, most, held / span, ns / stays.size(), quarters[0], quarters[1],
      quarters[2], quarters[3]);
}

}  // namespace

int main() {
  const unsigned blocks = 132 * 128;
  Stay* d_stays = nullptr;
  unsigned* chain = nullptr;
  if (cudaMalloc(&d_stays, blocks * sizeof(Stay)) != cudaSuccess) return 1;
  if (cudaMalloc(&chain, std::size_t{256} << 20) != cudaSuccess) return 1;
  cudaMemset(chain, 0, std::size_t{256} << 20);
  std::vector<Stay> stays(blocks);
  for (const unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u})
    for (const bool loads : {false, true})
      for (const unsigned steps : {32u, 4000u}) {
        for (const unsigned which : {0u, threads / 32 - 1}) {
          for (int twice = 0; twice < 2; ++twice)
            if (loads)
              stay<true><<<blocks, threads>>>(d_stays, chain, which, steps / (steps > 32 ? 20 : 1));
            else
              stay<false><<<blocks, threads>>>(d_stays, chain, which, steps);
          if (cudaMemcpy(stays.data(), d_stays, blocks * sizeof(Stay), cudaMemcpyDeviceToHost) !=
              cudaSuccess)
            return 1;
          print(stays,
                loads ? (steps > 32 ? "200 loads" : "32 loads")
                      : (steps > 32 ? "4000 steps" : "32 steps"),
                threads, which);
          if (which == threads / 32 - 1) break;
        }
      }
  constexpr unsigned kMostShared = 80;  // KiB
  if (cudaFuncSetAttribute(stay<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           kMostShared << 10) != cudaSuccess)
    return 1;
  for (const unsigned threads : {256u, 512u, 1024u})
    for (const unsigned kib : {1u, 2u, 4u, 6u, 8u, 12u, 16u, 24u, 32u, 48u, kMostShared}) {
      for (int twice = 0; twice < 2; ++twice)
        stay<true><<<blocks, threads, kib << 10>>>(d_stays, chain, 0, 32);
      if (cudaMemcpy(stays.data(), d_stays, blocks * sizeof(Stay), cudaMemcpyDeviceToHost) !=
          cudaSuccess)
        return 1;
      print(stays, ("32 loads, " + std::to_string(kib) + " KiB shared,").c_str(), threads, 0);
    }
  return 0;
}
