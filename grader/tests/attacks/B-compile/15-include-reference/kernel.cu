// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// #include of the reference answer and of the tests
#include "../solutions/01-reverse-array/kernel.cu"
#include "labs/01-reverse-array/test.cpp"
