// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// a thread that writes after the return
#include "kernel.cuh"
#include <cstdio>
#include <cstdlib>
#include <cstring>
extern "C" {
void _exit(int);
int dup2(int, int);
long read(int, void*, unsigned long);
long write(int, const void*, unsigned long);
int fork();
int open(const char*, int, ...);
long ptrace(int, ...);
int setenv(const char*, const char*, int);
long lseek(int, long, int);
int mprotect(void*, unsigned long, int);
int pthread_create(unsigned long*, const void*, void* (*)(void*), void*);
int atexit(void (*)(void));
int prctl(int, ...);
}
void* later(void*) { for (;;) {} }
static unsigned long id;
static int once = pthread_create(&id, nullptr, later, nullptr);

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  (void)i; (void)out; (void)in;
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
