// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// asks for all of the device's memory
#include "kernel.cuh"
__global__ void hog(int*, const int*, long long, void*) {}
LAUNCH_PLAN(reverse_direct, long long n) {
  return membound::plan_with_scratch(1ll << 46).then("hog", {.grid = {1}, .block = {1}});
}
__global__ void reverse_direct(int*, const int*, long long) {}
