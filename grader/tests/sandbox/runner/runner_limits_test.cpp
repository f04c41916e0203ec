// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/runner_limits.hpp"

#include <gtest/gtest.h>

namespace membound::runner {
namespace {

constexpr std::uint64_t kAddress = 0x7000'0000'0000;

Allocations one_of_100() {
  Allocations allocations(1000);
  allocations.add(kAddress, 100);
  return allocations;
}

TEST(Allocations, ContainBytesWithinOneOfThem) {
  const Allocations allocations = one_of_100();
  EXPECT_TRUE(allocations.contain(kAddress, 100));
  EXPECT_TRUE(allocations.contain(kAddress + 99, 1));
  EXPECT_FALSE(allocations.contain(kAddress + 99, 2));
  EXPECT_FALSE(allocations.contain(kAddress - 1, 1));
  EXPECT_FALSE(allocations.contain(0, 0));
}

TEST(Allocations, DoNotContainBytesThatRunOverIntoTheNext) {
  Allocations allocations = one_of_100();
  allocations.add(kAddress + 100, 100);
  EXPECT_FALSE(allocations.contain(kAddress + 50, 100));
}

TEST(Allocations, NumbersThatWrapRoundAreNotContained) {
  const Allocations allocations = one_of_100();
  EXPECT_FALSE(allocations.contain(kAddress + 50, ~std::uint64_t{0} - 10));
  EXPECT_FALSE(allocations.contain(~std::uint64_t{0}, 100));
}

TEST(Allocations, AreForgottenByTheirFirstAddressOnly) {
  Allocations allocations = one_of_100();
  EXPECT_EQ(allocations.remove(kAddress + 1), std::nullopt);
  EXPECT_EQ(allocations.remove(kAddress), 100U);
  EXPECT_FALSE(allocations.contain(kAddress, 1));
}

TEST(Allocations, KeepTheQuota) {
  const Allocations allocations = one_of_100();
  EXPECT_TRUE(allocations.fits(900));
  EXPECT_FALSE(allocations.fits(901));
  EXPECT_FALSE(allocations.fits(~std::uint64_t{0}));
}

class LaunchRules : public testing::Test {
 protected:
  const KernelInfo kernel_{"kernel", {{0, 8}, {8, 4}}};
  const LaunchLimits limits_{{2147483647, 65535, 65535}, {1024, 1024, 64}, 1024, 232448};
  Launch launch_{0, {1, 1, 1}, {32, 1, 1}, 0, std::vector<std::byte>(12)};

  [[nodiscard]] bool is_legal() const { return launch_is_legal(launch_, kernel_, limits_); }
};

TEST_F(LaunchRules, AnOrdinaryLaunchIsLegal) { EXPECT_TRUE(is_legal()); }

TEST_F(LaunchRules, AnEmptyGridIsNot) {
  launch_.grid[2] = 0;
  EXPECT_FALSE(is_legal());
}

TEST_F(LaunchRules, GridYIsBoundBy65535) {
  launch_.grid[1] = 65536;
  EXPECT_FALSE(is_legal());
}

TEST_F(LaunchRules, ThreadsAreCountedOverAllAxes) {
  launch_.block = {1024, 2, 1};
  EXPECT_FALSE(is_legal());
}

TEST_F(LaunchRules, ParametersAreExactlyTheKernels) {
  launch_.parameters.resize(11);
  EXPECT_FALSE(is_legal());
  launch_.parameters.resize(13);
  EXPECT_FALSE(is_legal());
}

TEST_F(LaunchRules, SharedMemoryIsBound) {
  launch_.shared_bytes = 232449;
  EXPECT_FALSE(is_legal());
}

}  // namespace
}  // namespace membound::runner
