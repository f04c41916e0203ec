// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// the same by absolute paths and through the toolkit
#include "/course/solutions/01-reverse-array/kernel.cu"
#include "/toolkit/../course/labs/01-reverse-array/reference.cpp"
