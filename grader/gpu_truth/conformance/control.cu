// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Conformance: control flow: divergence, loops, switches, calls, recursion, function pointers,
/// virtual functions.
#include "grader/gpu_truth/conformance/conformance.cuh"

namespace {

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ bool is_odd(unsigned n);
__device__ __noinline__ bool is_even(unsigned n) { return n == 0 || is_odd(n - 1); }
__device__ __noinline__ bool is_odd(unsigned n) { return n != 0 && is_even(n - 1); }

struct Pair {
  int first;
  double second;
  char letters[5];
};
__device__ __noinline__ Pair swapped(Pair pair, int scale) {
  const int first = static_cast<int>(pair.second) * scale;
  pair.second = pair.first + 0.5;
  pair.first = first;
  pair.letters[2] += static_cast<char>(scale);
  return pair;
}

using Operation = int (*)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int keep_left(int a, int) { return a; }
__device__ Operation operations[4] = {add, subtract, multiply, keep_left};

struct Shape {
  __device__ explicit Shape(int size) : size_(size) {}
  __device__ virtual int area() const = 0;
  int size_;
};
struct Square : Shape {
  using Shape::Shape;
  __device__ int area() const override { return size_ * size_; }
};
struct Strip : Shape {
  using Shape::Shape;
  __device__ int area() const override { return size_ * 3; }
};

}  // namespace

CASE(branch_both_sides, 32) {
  if (lane % 2 == 0) {
    out[lane] = lane * 10;
  } else {
    out[lane] = lane + 1000;
  }
}
CASE(nested_branches, 32) {
  int value = lane;
  if (lane & 1) {
    if (lane & 2) {
      value += 100;
      if (lane & 4) value *= 2;
    } else {
      value -= 50;
    }
  } else if (lane > 16) {
    value = -value;
  }
  out[lane] = value;
}
CASE(loop_of_different_lengths, 32) {
  int sum = 0;
  for (int i = 0; i < lane; ++i) sum += i * i;
  out[lane] = sum;
}
CASE(collatz_lengths, 64) {
  for (int i = lane; i < 64; i += 32) {
    std::uint64_t n = i + 27;
    int steps = 0;
    while (n != 1) {
      n = n % 2 == 0 ? n / 2 : 3 * n + 1;
      ++steps;
    }
    out[i] = steps;
  }
}
CASE(break_and_continue, 32) {
  int sum = 0;
  for (int i = 0; i < 100; ++i) {
    if (i % 3 == lane % 3) continue;
    if (sum > lane * 20) break;
    sum += i;
  }
  out[lane] = sum;
}
CASE(loop_in_loop_with_exit_from_both, 32) {
  int found = -1;
  for (int i = 1; i < 20 && found < 0; ++i) {
    for (int j = 1; j < 20; ++j) {
      if (i * j == lane * 3) {
        found = i * 100 + j;
        break;
      }
    }
  }
  out[lane] = found;
}
CASE(some_lanes_leave_early, 32) {
  out[lane] = 1;
  if (lane % 5 == 3) return;
  out[lane] = 2;
  for (int i = 0; i < lane; ++i) {
    if (i == 9) return;
    out[lane] += i;
  }
  out[lane] += 1000;
}
CASE(switch_dense, 32) {
  int value = 0;
  switch (conformance::input_U32(lane) % 12) {
    case 0:
      value = 7;
      break;
    case 1:
      value = lane * 3;
      break;
    case 2:
      value = lane ^ 21;
      [[fallthrough]];
    case 3:
      value += 5;
      break;
    case 4:
      value = __popc(lane);
      break;
    case 5:
      value = -lane;
      break;
    case 6:
      value = lane << 3;
      break;
    case 7:
      value = 1 << lane % 31;
      break;
    case 8:
      value = lane * lane;
      break;
    default:
      value = -1;
  }
  out[lane] = value;
}
CASE(switch_sparse, 32) {
  int value = 0;
  switch (lane * lane) {
    case 1:
      value = 11;
      break;
    case 100:
      value = 22;
      break;
    case 225:
      value = 33;
      break;
    case 900:
      value = 44;
      break;
    default:
      value = 55;
  }
  out[lane] = value;
}
/// A jump through a table, written by hand.
CASE(brx_idx, 32) {
  std::uint32_t result;
  asm volatile(
      "{ .reg .u32 i; and.b32 i, %1, 3;\n"
      "choices: .branchtargets zero, one, two, three;\n"
      "brx.idx i, choices;\n"
      "zero: mov.u32 %0, 100; bra done;\n"
      "one: mov.u32 %0, 201; bra done;\n"
      "two: mov.u32 %0, 302; bra done;\n"
      "three: mov.u32 %0, 403;\n"
      "done: }"
      : "=r"(result)
      : "r"(lane));
  out[lane] = result;
}
CASE(guarded_instructions, 32) {
  asm volatile(
      "{ .reg .pred p; .reg .u32 v; mov.u32 v, 5; setp.gt.u32 p, %1, 11;\n"
      "@p add.u32 v, v, %1; @!p mul.lo.u32 v, v, %1; @p bra skip; add.u32 v, v, 1000;\n"
      "skip: mov.u32 %0, v; }"
      : "=r"(out[lane])
      : "r"(lane));
}
CASE(recursion_fibonacci, 32) { out[lane] = fibonacci(lane % 12); }
CASE(recursion_ackermann, 16) {
  if (lane < 16) out[lane] = ackermann(lane / 8 + 1, lane % 4);
}
CASE(recursion_mutual, 32) { out[lane] = is_even(lane % 8) * 2 + is_odd(lane % 5 + 1); }
CASE(structs_by_value, 128) {
  Pair pair{lane, lane * 2.25, {'a', 'b', 'c', 'd', 'e'}};
  pair = swapped(pair, lane % 3 + 1);
  out[lane * 4] = pair.first;
  conformance::put(out + lane * 4 + 1, 0, static_cast<float>(pair.second));
  out[lane * 4 + 2] = pair.letters[2];
  out[lane * 4 + 3] = pair.letters[4];
}
CASE(function_pointers_uniform, 32) { out[lane] = operations[2](lane, 7); }
CASE(function_pointers_divergent, 32) { out[lane] = operations[lane % 4](lane * 5, 3); }
CASE(virtual_functions, 32) {
  Square square(lane);
  Strip strip(lane + 1);
  const Shape* shape = lane % 3 == 0 ? static_cast<const Shape*>(&square) : &strip;
  out[lane] = shape->area();
}
CASE(lambda_and_template, 32) {
  int sum = 0;
  const auto visit = [&](int n) { sum += n * lane; };
  for (int i = 0; i < 5; ++i) visit(i);
  out[lane] = sum;
}
CASE(local_array_indexed_by_lane, 32) {
  int history[40];
  history[0] = lane, history[1] = 1;
  for (int i = 2; i < 40; ++i) history[i] = history[i - 1] * 3 + history[i - 2] % (lane + 1);
  out[lane] = history[lane + 5] ^ history[39 - lane];
}
/// Lanes of a warp wait for one another: needs independent progress of each lane.
CASE(spin_lock_inside_a_warp, 32) {
  __shared__ int lock, count;
  if (lane == 0) lock = 0, count = 0;
  __syncwarp();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      const int before = *const_cast<volatile int*>(&count);
      *const_cast<volatile int*>(&count) = before + lane + 1;
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncwarp();
  out[lane] = count;
}
CASE(producer_and_consumer_lanes, 32) {
  __shared__ volatile int flag, value;
  if (lane == 0) flag = 0;
  __syncwarp();
  if (lane == 31) {
    value = 42;
    __threadfence_block();
    flag = 1;
  } else {
    while (flag == 0) {
    }
  }
  __syncwarp();
  out[lane] = value + lane;
}

CONFORMANCE_MAIN()
