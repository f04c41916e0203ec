// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// writes to address 0
#include "kernel.cuh"

int main() { *reinterpret_cast<volatile int*>(std::strtoul("0", nullptr, 10)) = 1; }
