// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// never ends, on the host
#include "kernel.cuh"

int main() {
  for (volatile int i = 0;; i = i + 1) {
  }
}
