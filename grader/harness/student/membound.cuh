// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a student's kernel.cu includes (through its lab's kernel.cuh): how a kernel says which
/// launch it wants. Device code only; the grader reads the answers back and launches the kernel.
///
/// One launch:      LAUNCH_SHAPE(my_kernel, int rows, int cols) {
///                    const dim3 block(32, 8);
///                    return {.grid = dim3(ceil_div(cols, 32), ceil_div(rows, 8)), .block = block};
///                  }
/// Several:         LAUNCH_PLAN(my_stage, Gpu gpu, long long n) {
///                    const dim3 one(1), all(gpu.sm_count), block(256);
///                    return plan_with_scratch(4 * n)      // bytes, given to every kernel below
///                        .then(KERNEL(first_pass), {.grid = all, .block = block})
///                        .then(KERNEL(second_pass), {.grid = one, .block = block});
///                  }
///
/// Kernels are named as in <<<>>>, by their symbols: one that is not declared does not compile. The
/// parameters are the sizes that the lab's kernel.cuh names, in that order; before them may stand a
/// Gpu, what the device offers.
#pragma once

#ifdef MEMBOUND_EARLIER_LAUNCHES
#include "earlier_launches.cuh"
#else
#define MEMBOUND_GIVEN_GPU

namespace membound {

using Extent = dim3;

/// A __global__ function of kernel.cu, made by KERNEL().
struct KernelName {
  const char* text = "";
};

}  // namespace membound
#endif

namespace membound {

/// One launch: `grid` blocks of `block` threads, each block with `shared_bytes` of dynamic shared
/// memory (`extern __shared__`) on top of what the kernel declares. The blocks of a `cooperative`
/// launch run all at the same time, so that they may wait for each other; one of more blocks than
/// the device holds at once is refused.
struct LaunchShape {
  Extent grid;
  Extent block;
  long long shared_bytes = 0;
  bool cooperative = false;
};

/// What a launch may want to know about the device it will run on.
struct Gpu {
  int sm_count;                    ///< streaming multiprocessors
  int max_threads_per_sm;          ///< resident threads one SM can hold
  int max_shared_bytes_per_block;  ///< with the opt-in above 48 KiB
  int max_shared_bytes_per_sm;
  int registers_per_sm;  ///< 32-bit registers
  long long l2_bytes;
};

/// One step of a plan.
struct LaunchStep {
  KernelName kernel;
  LaunchShape shape;
};

/// Launches that run one after the other; made by plan_with_scratch().
struct LaunchPlan {
  static constexpr int kMaxSteps = 8;

  LaunchStep steps[kMaxSteps];
  int step_count = 0;  ///< may pass kMaxSteps; the grader then refuses the plan
  long long scratch_bytes = 0;

  /// Adds a launch. A name longer than 63 characters is cut off and will not be found.
  __host__ __device__ LaunchPlan& then(KernelName kernel, LaunchShape shape) {
    if (step_count < kMaxSteps) {
      steps[step_count].kernel = kernel;
      steps[step_count].shape = shape;
    }
    ++step_count;
    return *this;
  }
};

/// An empty plan whose kernels all receive one scratch buffer of `bytes` bytes as their last
/// argument (`void* scratch`, aligned to 256 bytes). Its content is unspecified at the start.
__host__ __device__ inline LaunchPlan plan_with_scratch(long long bytes) {
  LaunchPlan plan;
  plan.scratch_bytes = bytes;
  return plan;
}

/// The smallest number of pieces of size `b` that cover `a`; 0 for a = 0.
template <typename Integer>
__host__ __device__ constexpr Integer ceil_div(Integer a, Integer b) {
  return (a + b - 1) / b;
}
/// As above for mixed integer types, so that ceil_div(n, 256) works for any n.
template <typename A, typename B>
__host__ __device__ constexpr long long ceil_div(A a, B b) {
  return (static_cast<long long>(a) + b - 1) / b;
}

namespace detail {

/// A dim3 as the grader reads it.
struct ExtentRecord {
  long long x, y, z;
};

struct ShapeRecord {
  ExtentRecord grid, block;
  long long shared_bytes;
  int cooperative;
};

/// A step as the grader reads it: its name is here, not where the student's code keeps it.
struct StepRecord {
  char kernel[64];
  ShapeRecord shape;
};

/// What the grader reads back; harness/device/launch_validator.hpp holds the same layout.
struct PlanRecord {
  StepRecord steps[LaunchPlan::kMaxSteps];
  int step_count;
  long long scratch_bytes;
  int parameter_count;  ///< sizes the student's function takes
  int is_plan;          ///< 1: LAUNCH_PLAN, 0: LAUNCH_SHAPE
};

/// The lab's sizes in order; unused ones are 0.
struct Sizes {
  static constexpr int kMax = 6;
  long long value[kMax];
};

__host__ __device__ inline ShapeRecord record_of(const LaunchShape& shape) {
  return {{shape.grid.x, shape.grid.y, shape.grid.z},
          {shape.block.x, shape.block.y, shape.block.z},
          shape.shared_bytes,
          shape.cooperative ? 1 : 0};
}

// Loops that stay loops: unrolled, the copying of names would be more code than the kernels of a
// lab, and would take its compiler three times as long.
__device__ inline void store(PlanRecord* record, const LaunchPlan& plan) {
#pragma unroll 1
  for (int i = 0; i < plan.step_count && i < LaunchPlan::kMaxSteps; ++i) {
    StepRecord& step = record->steps[i];
    const char* const name = plan.steps[i].kernel.text;
    int letters = 0;
#pragma unroll 1
    for (; name[letters] != '\0' && letters < 63; ++letters) step.kernel[letters] = name[letters];
    step.kernel[letters] = '\0';
    step.shape = record_of(plan.steps[i].shape);
  }
  record->step_count = plan.step_count;
  record->scratch_bytes = plan.scratch_bytes;
  record->is_plan = 1;
}

__device__ inline void store(PlanRecord* record, const LaunchShape& shape) {
  record->steps[0].kernel[0] = '\0';
  record->steps[0].shape = record_of(shape);
  record->step_count = 1;
  record->scratch_bytes = 0;
  record->is_plan = 0;
}

// Doxygen takes this for a class that is its own base.
/// @cond
template <int... kIndex>
struct Indices {};
template <int kCount, int... kIndex>
struct MakeIndices : MakeIndices<kCount - 1, kCount - 1, kIndex...> {};
template <int... kIndex>
struct MakeIndices<0, kIndex...> {
  using Type = Indices<kIndex...>;
};
/// @endcond

template <typename Answer, typename... Size, int... kIndex>
__device__ void evaluate(Answer (*function)(Size...), const Sizes& sizes, PlanRecord* record,
                         Indices<kIndex...>) {
  static_assert(sizeof...(Size) <= Sizes::kMax, "a launch takes at most six sizes");
  store(record, function(static_cast<Size>(sizes.value[kIndex])...));
  record->parameter_count = sizeof...(Size);
}
template <typename Answer, typename... Size, int... kIndex>
__device__ void evaluate(Answer (*function)(Gpu, Size...), const Gpu& gpu, const Sizes& sizes,
                         PlanRecord* record, Indices<kIndex...>) {
  static_assert(sizeof...(Size) <= Sizes::kMax, "a launch takes at most six sizes");
  store(record, function(gpu, static_cast<Size>(sizes.value[kIndex])...));
  record->parameter_count = sizeof...(Size);
}

/// Of a launch that does not ask about the device, and of one that does.
template <typename Answer, typename... Size>
__device__ void evaluate(Answer (*function)(Size...), const Gpu& /*gpu*/, const Sizes& sizes,
                         PlanRecord* record) {
  evaluate(function, sizes, record, typename MakeIndices<sizeof...(Size)>::Type{});
}
template <typename Answer, typename... Size>
__device__ void evaluate(Answer (*function)(Gpu, Size...), const Gpu& gpu, const Sizes& sizes,
                         PlanRecord* record) {
  evaluate(function, gpu, sizes, record, typename MakeIndices<sizeof...(Size)>::Type{});
}

}  // namespace detail
}  // namespace membound

using membound::ceil_div;
using membound::Gpu;
using membound::plan_with_scratch;

/// The kernel of that name. A macro, because only a macro knows a symbol's name; the declaration in
/// it is a compile error where there is no such kernel.
#define KERNEL(name)                          \
  ::membound::KernelName {                    \
    [] {                                      \
      using ::name;                           \
      return static_cast<const char*>(#name); \
    }()                                       \
  }

// A one-thread kernel `membound_launch_of_<name>` that the grader runs to learn the launch. A
// macro, because only a macro can both declare the function whose body follows and name the kernel.
#define MEMBOUND_LAUNCH(answer, name, ...)                                                     \
  static __device__ answer name##_launch(MEMBOUND_GIVEN_GPU __VA_ARGS__);                      \
  extern "C" __global__ void membound_launch_of_##name(::membound::detail::PlanRecord* record, \
                                                       ::membound::Gpu gpu,                    \
                                                       ::membound::detail::Sizes sizes) {      \
    ::membound::detail::evaluate(name##_launch, gpu, sizes, record);                           \
  }                                                                                            \
  static __device__ answer name##_launch(MEMBOUND_GIVEN_GPU __VA_ARGS__)

/// LAUNCH_SHAPE(kernel, sizes…) { return {grid, block, shared_bytes}; }
#define LAUNCH_SHAPE(kernel, ...)                                             \
  namespace membound_kernels {                                                \
  using ::kernel; /* a launch follows its kernel, by the kernel's own name */ \
  }                                                                           \
  MEMBOUND_LAUNCH(::membound::LaunchShape, kernel, __VA_ARGS__)
/// LAUNCH_PLAN(stage, sizes…) { return plan_with_scratch(bytes).then(KERNEL(kernel), shape)…; }
#define LAUNCH_PLAN(stage, ...) MEMBOUND_LAUNCH(::membound::LaunchPlan, stage, __VA_ARGS__)
