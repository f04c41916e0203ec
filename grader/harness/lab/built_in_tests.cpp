// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/built_in_tests.hpp"

#include "grader/harness/lab/stage_run.hpp"

namespace membound::harness {
namespace {

class HasTheRightSignature : public LabTest {
  void TestBody() override { EXPECT_TRUE(run().check_signatures()); }
};

class LaunchesWithinLimits : public LabTest {
  void TestBody() override { EXPECT_TRUE(run().check_launches()); }
};

class ReachesItsBar : public LabTest {
  void TestBody() override {
    if (!run().all_passed()) GTEST_SKIP() << "not timed, because a test before it failed";
    EXPECT_TRUE(run().check_speed());
  }
};

template <typename Test>
detail::LabTestEntry entry(const char* name, int line) {
  return {name, "", __FILE__, line, []() -> LabTest* { return new Test; }};
}

}  // namespace

std::vector<detail::LabTestEntry> tests_before_the_labs() {
  return {entry<HasTheRightSignature>("HasTheRightSignature", __LINE__),
          entry<LaunchesWithinLimits>("LaunchesWithinLimits", __LINE__)};
}

detail::LabTestEntry test_after_the_labs() {
  return entry<ReachesItsBar>("ReachesItsBar", __LINE__);
}

}  // namespace membound::harness
