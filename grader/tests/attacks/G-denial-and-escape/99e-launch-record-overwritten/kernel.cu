// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// writes over its launch record, and a megabyte on
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}

// What LAUNCH_SHAPE stands for, by hand.
extern "C" __global__ void membound_launch_of_reverse_direct(membound::detail::PlanRecord* record,
                                                             membound::Gpu gpu,
                                                             membound::detail::Sizes sizes) {
  auto* const bytes = reinterpret_cast<unsigned char*>(record);
  for (int i = 0; i < 1 << 20; ++i) bytes[i] = 0xff;
}
