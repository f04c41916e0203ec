// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// no program at all
#include "kernel.cuh"

int main() { return nothing; }
