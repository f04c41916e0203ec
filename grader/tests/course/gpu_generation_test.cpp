// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/measurement.hpp"

#include <gtest/gtest.h>

namespace membound::course {
namespace {

TEST(GpuGeneration, FollowsFromTheComputeCapability) {
  EXPECT_EQ(gpu_generation("3.7"), "Kepler");
  EXPECT_EQ(gpu_generation("7.0"), "Volta");
  EXPECT_EQ(gpu_generation("7.5"), "Turing");
  EXPECT_EQ(gpu_generation("8.6"), "Ampere");
  EXPECT_EQ(gpu_generation("8.9"), "Ada");
  EXPECT_EQ(gpu_generation("9.0"), "Hopper");
  EXPECT_EQ(gpu_generation("12.0"), "Blackwell");
}

TEST(GpuGeneration, WithoutANameIsTheCapabilityItself) {
  EXPECT_EQ(gpu_generation("2.0"), "compute 2.0");
  EXPECT_EQ(gpu_generation("13.0"), "compute 13.0");
}

TEST(GpuGeneration, OfNoCapabilityIsEmpty) {
  EXPECT_EQ(gpu_generation(""), "");
  EXPECT_EQ(gpu_generation("9"), "");
  EXPECT_EQ(gpu_generation("nine.0"), "");
}

}  // namespace
}  // namespace membound::course
