// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Device code as clang compiles it without any CUDA header.
#define DEVICE __attribute__((device))
#define KERNEL __attribute__((global))

extern "C" DEVICE int vprintf(const char* format, const char* arguments);

__attribute__((constant)) float factors[4] = {1, 2, 3, 4};
DEVICE int counter = 4;
DEVICE const char* names[2] = {"first", "second"};

struct Record {
  int number;
  double value;
  char letters[7];
};
DEVICE __attribute__((noinline)) Record next(Record given) {
  ++given.number;
  return given;
}
DEVICE __attribute__((noinline)) int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

KERNEL void everything(int* out, float* values, Record record, int n) {
  static __attribute__((shared)) int tile[32];
  const int i = __nvvm_read_ptx_sreg_tid_x();
  tile[i] = out[i];
  __nvvm_bar_sync(0);
  out[i] = tile[31 - i] + fibonacci(n) + next(record).number + names[n & 1][0];
  values[i] = factors[n] * values[i] + counter;
  if (i == 3) {
    int arguments[1] = {4};
    vprintf("%d", reinterpret_cast<const char*>(arguments));
  }
  asm volatile("{.reg .pred p; setp.eq.s32 p, %0, 3; @p bra L; mov.u32 %0, 4; L: }" : "+r"(out[3]));
}
