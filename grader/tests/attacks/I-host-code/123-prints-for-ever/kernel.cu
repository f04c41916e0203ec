// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// prints without end
#include "kernel.cuh"

int main() {
  for (;;) std::puts("passed passed passed passed passed passed passed passed");
}
