// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Must be: COMPILE_ERROR
// Tries:   no program at all
#include "kernel.cuh"

int main() { return nothing; }
