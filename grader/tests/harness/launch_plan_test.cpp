// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// The host's structs have the layout of those that a student's device code fills: membound.cuh is
// compiled here as plain C++, with CUDA's keywords as empty macros and a dim3 like CUDA's.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
};
#define __host__
#define __device__
#define __global__
#include "grader/harness/student/membound.cuh"
#undef __host__
#undef __device__
#undef __global__

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "grader/harness/device/launch_validator.hpp"

// Kernels as far as their names go.
void first_pass();
void second_pass();
void again();

namespace membound::harness {
namespace {

using DevicePlan = membound::detail::PlanRecord;
using Host = PlanRecord;

static_assert(sizeof(DevicePlan) == sizeof(Host));
static_assert(sizeof(membound::detail::StepRecord) == sizeof(PlanStep));
static_assert(sizeof(membound::detail::ShapeRecord) == sizeof(PlanShape));
static_assert(sizeof(membound::Gpu) == sizeof(PlanGpu));
static_assert(sizeof(membound::detail::Sizes) == sizeof(PlanSizes));
static_assert(membound::LaunchPlan::kMaxSteps == Host::kMaxSteps);
static_assert(membound::detail::Sizes::kMax == PlanSizes::kMax);

Host read_as_host(const DevicePlan& device) {
  Host host;
  std::memcpy(&host, &device, sizeof(host));
  return host;
}

TEST(LaunchPlan, APlanReadsTheSameOnBothSides) {
  LaunchShape first, second;
  first.grid = {1, 2, 3};
  first.block = {4, 5, 6};
  first.shared_bytes = 7;
  first.cooperative = true;
  second.grid = ~0U;
  DevicePlan device;
  membound::detail::store(
      &device,
      plan_with_scratch(99).then(KERNEL(first_pass), first).then(KERNEL(second_pass), second));
  device.parameter_count = 2;

  const Host host = read_as_host(device);
  EXPECT_EQ(host.is_plan, 1);
  EXPECT_EQ(host.parameter_count, 2);
  EXPECT_EQ(host.step_count, 2);
  EXPECT_EQ(host.scratch_bytes, 99);
  EXPECT_STREQ(host.steps[0].kernel, "first_pass");
  EXPECT_EQ(host.steps[0].shape.grid.z, 3);
  EXPECT_EQ(host.steps[0].shape.block.x, 4);
  EXPECT_EQ(host.steps[0].shape.shared_bytes, 7);
  EXPECT_EQ(host.steps[0].shape.cooperative, 1);
  EXPECT_EQ(host.steps[1].shape.cooperative, 0);
  EXPECT_STREQ(host.steps[1].kernel, "second_pass");
  EXPECT_EQ(host.steps[1].shape.grid.x, (1LL << 32) - 1);
}

TEST(LaunchPlan, AShapeIsAPlanOfOneNamelessStep) {
  LaunchShape shape;
  shape.grid = 5;
  DevicePlan device;
  membound::detail::store(&device, shape);
  const Host host = read_as_host(device);
  EXPECT_EQ(host.is_plan, 0);
  EXPECT_EQ(host.step_count, 1);
  EXPECT_STREQ(host.steps[0].kernel, "");
  EXPECT_EQ(host.steps[0].shape.grid.x, 5);
}

TEST(LaunchPlan, ANinthStepIsCountedButNotStored) {
  LaunchPlan plan = plan_with_scratch(0);
  for (int i = 0; i < 9; ++i) plan.then(KERNEL(again), LaunchShape{});
  DevicePlan device;
  membound::detail::store(&device, plan);
  EXPECT_EQ(read_as_host(device).step_count, 9);
}

TEST(LaunchPlan, ANameThatIsTooLongEndsWithItsField) {
  DevicePlan device;
  const std::string name(100, 'k');
  membound::detail::store(&device, plan_with_scratch(0).then({name.c_str()}, LaunchShape{}));
  EXPECT_EQ(read_as_host(device).steps[0].kernel, std::string(63, 'k'));
}

TEST(LaunchPlan, TheGpuReadsTheSameOnBothSides) {
  const PlanGpu host{132, 2048, 232448, 233472, 65536, 52428800};
  membound::Gpu device;
  std::memcpy(&device, &host, sizeof(device));
  EXPECT_EQ(device.sm_count, 132);
  EXPECT_EQ(device.max_threads_per_sm, 2048);
  EXPECT_EQ(device.max_shared_bytes_per_block, 232448);
  EXPECT_EQ(device.max_shared_bytes_per_sm, 233472);
  EXPECT_EQ(device.registers_per_sm, 65536);
  EXPECT_EQ(device.l2_bytes, 52428800);
}

}  // namespace
}  // namespace membound::harness
