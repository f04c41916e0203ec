// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/cuda_wrappers.hpp"

namespace membound::harness {

std::string cuda_error_text(cudaError_t code) {
  return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
}

void cuda_check(cudaError_t code, const char* what, const char* file, int line) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // a failing cudaMalloc must not show up in a later launch
  throw CudaError(code, std::string(what) + " failed (" + file + ":" + std::to_string(line) +
                            "): " + cuda_error_text(code));
}

namespace {

int current_device = 0;  // as the runtime has it; asked so often that it is kept

void make_current(int device) {
  if (device == current_device) return;
  cuda_check(cudaSetDevice(device), "choosing a device");
  current_device = device;
}

}  // namespace

DeviceScope::DeviceScope(int device) : before_(current_device) { make_current(device); }

// The device before was current once, so that it can be made current again.
DeviceScope::~DeviceScope() { make_current(before_); }

int DeviceScope::current() { return current_device; }

}  // namespace membound::harness
