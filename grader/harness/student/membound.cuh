// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a student's kernel.cu includes (through its lab's kernel.cuh): how a kernel says which
/// launch it wants. Device code only; the grader reads the answers back and launches the kernel.
///
/// One launch:      LAUNCH_SHAPE(my_kernel, int rows, int cols) {
///                    return {.grid = {ceil_div(cols, 32), ceil_div(rows, 8)}, .block = {32, 8}};
///                  }
/// Several:         LAUNCH_PLAN(my_stage, long long n) {
///                    return plan_with_scratch(4 * n)      // bytes, given to every kernel below
///                        .then("first_pass", {.grid = {n / 256}, .block = {256}})
///                        .then("second_pass", {.grid = {1}, .block = {1024}});
///                  }
///
/// Inside both, `gpu` tells about the device (membound::Gpu). The parameters are the sizes that the
/// lab's kernel.cuh names, in that order.
#pragma once

namespace membound {

/// Number of blocks or threads in x, y and z. 64 bits wide so that a number that is too large stays
/// visible instead of wrapping round.
struct Extent {
  long long x = 1;
  long long y = 1;
  long long z = 1;

  __host__ __device__ constexpr Extent() {}
  __host__ __device__ constexpr Extent(long long x_, long long y_ = 1, long long z_ = 1)
      : x(x_), y(y_), z(z_) {}
  /// From CUDA's own type: `shape.grid = dim3(cols, rows);`
  __host__ __device__ constexpr Extent(const dim3& d) : x(d.x), y(d.y), z(d.z) {}
};

/// One launch: `grid` blocks of `block` threads, each block with `shared_bytes` of dynamic shared
/// memory (`extern __shared__`) on top of what the kernel declares.
struct LaunchShape {
  Extent grid;
  Extent block;
  long long shared_bytes = 0;
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

/// One step of a plan: the name of a __global__ function of kernel.cu, without its parameters. The
/// name is not copied before the plan is read, so it must be a literal or live as long.
struct LaunchStep {
  const char* kernel = "";
  LaunchShape shape;
};

/// Launches that run one after the other; made by plan_with_scratch().
struct LaunchPlan {
  static constexpr int kMaxSteps = 8;

  LaunchStep steps[kMaxSteps];
  int step_count = 0;  ///< may pass kMaxSteps; the grader then refuses the plan
  long long scratch_bytes = 0;

  /// Adds a launch. `name` longer than 63 characters is cut off and will not be found.
  __host__ __device__ LaunchPlan& then(const char* name, LaunchShape shape) {
    if (step_count < kMaxSteps) {
      steps[step_count].kernel = name;
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

/// A step as the grader reads it: its name is here, not where the student's code keeps it.
struct StepRecord {
  char kernel[64];
  LaunchShape shape;
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

// Loops that stay loops: unrolled, the copying of names would be more code than the kernels of a
// lab, and would take its compiler three times as long.
__device__ inline void store(PlanRecord* record, const LaunchPlan& plan) {
#pragma unroll 1
  for (int i = 0; i < plan.step_count && i < LaunchPlan::kMaxSteps; ++i) {
    StepRecord& step = record->steps[i];
    const char* const name = plan.steps[i].kernel;
    int letters = 0;
#pragma unroll 1
    for (; name[letters] != '\0' && letters < 63; ++letters) step.kernel[letters] = name[letters];
    step.kernel[letters] = '\0';
    step.shape = plan.steps[i].shape;
  }
  record->step_count = plan.step_count;
  record->scratch_bytes = plan.scratch_bytes;
  record->is_plan = 1;
}

__device__ inline void store(PlanRecord* record, const LaunchShape& shape) {
  record->steps[0].kernel[0] = '\0';
  record->steps[0].shape = shape;
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
__device__ void evaluate(Answer (*function)(const Gpu&, Size...), const Gpu& gpu,
                         const Sizes& sizes, PlanRecord* record, Indices<kIndex...>) {
  static_assert(sizeof...(Size) <= Sizes::kMax, "a launch takes at most six sizes");
  store(record, function(gpu, static_cast<Size>(sizes.value[kIndex])...));
  record->parameter_count = sizeof...(Size);
}

template <typename Answer, typename... Size>
__device__ void evaluate(Answer (*function)(const Gpu&, Size...), const Gpu& gpu,
                         const Sizes& sizes, PlanRecord* record) {
  evaluate(function, gpu, sizes, record, typename MakeIndices<sizeof...(Size)>::Type{});
}

}  // namespace detail
}  // namespace membound

using membound::ceil_div;
using membound::plan_with_scratch;

// A one-thread kernel `membound_launch_of_<name>` that the grader runs to learn the launch. A
// macro, because only a macro can both declare the function whose body follows and name the kernel.
#define MEMBOUND_LAUNCH(answer, name, ...)                                                     \
  static __device__ answer name##_launch(const ::membound::Gpu& gpu, __VA_ARGS__);             \
  extern "C" __global__ void membound_launch_of_##name(::membound::detail::PlanRecord* record, \
                                                       ::membound::Gpu gpu,                    \
                                                       ::membound::detail::Sizes sizes) {      \
    ::membound::detail::evaluate(name##_launch, gpu, sizes, record);                           \
  }                                                                                            \
  static __device__ answer name##_launch([[maybe_unused]] const ::membound::Gpu& gpu, __VA_ARGS__)

/// LAUNCH_SHAPE(kernel, sizes…) { return {grid, block, shared_bytes}; }
#define LAUNCH_SHAPE(kernel, ...) MEMBOUND_LAUNCH(::membound::LaunchShape, kernel, __VA_ARGS__)
/// LAUNCH_PLAN(stage, sizes…) { return plan_with_scratch(bytes).then("kernel", shape)…; }
#define LAUNCH_PLAN(stage, ...) MEMBOUND_LAUNCH(::membound::LaunchPlan, stage, __VA_ARGS__)
