// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/jail/cgroup.hpp"

#include <gtest/gtest.h>

#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::jail {
namespace {

constexpr const char* kHybrid =
    "30 24 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "32 24 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
    "33 24 0:29 / /proc rw - proc proc rw\n";
constexpr const char* kGroups =
    "9:name=systemd:/\n4:memory:/some/group\n2:cpu,cpuacct:/\n0::/user\n";

TEST(Cgroup, FindsTheMountsOfBothVersions) {
  const auto mounts = cgroup_mounts(kHybrid);
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0].version, 1);
  EXPECT_EQ(mounts[0].mount, "/sys/fs/cgroup/memory");
  EXPECT_EQ(mounts[1].controllers, (std::vector<std::string>{"rw", "cpu", "cpuacct"}));
  EXPECT_EQ(mounts[2].version, 2);
}

TEST(Cgroup, FindsOurOwnGroup) {
  EXPECT_EQ(own_group(kGroups, "memory"), "/some/group");
  EXPECT_EQ(own_group(kGroups, "cpuacct"), "/");
  EXPECT_EQ(own_group(kGroups, ""), "/user");
  EXPECT_EQ(own_group(kGroups, "pids"), "/");
}

TEST(Cgroup, WithoutPlacesDoesNothing) {
  const auto group = Cgroup::make({}, 1000, 10);
  ASSERT_TRUE(group);
  EXPECT_TRUE(group->join());
  EXPECT_TRUE(group->empty());
  EXPECT_EQ(group->memory_kills(), 0u);
}

TEST(Cgroup, SaysWhereItMayNot) {
  const auto group = Cgroup::make({1, "/proc/self/nowhere", "", ""}, 1000, 10);
  ASSERT_FALSE(group);
  EXPECT_NE(group.error().where.find("/proc/self/nowhere"), std::string::npos);
}

}  // namespace
}  // namespace membound::jail
