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
    EXPECT_TRUE(run().session().options().look ? run().look_at_timed_launches()
                                               : run().check_speed());
  }
};

template <typename Test>
detail::LabTestEntry entry(course::BuiltInTest test) {
  // The names are literals: a zero ends them.
  return {to_string(test).data(), "", "", 0, []() -> LabTest* { return new Test; }};
}

}  // namespace

std::vector<detail::LabTestEntry> tests_before_the_labs() {
  return {entry<HasTheRightSignature>(course::BuiltInTest::kSignature),
          entry<LaunchesWithinLimits>(course::BuiltInTest::kLaunch)};
}

detail::LabTestEntry test_after_the_labs() {
  return entry<ReachesItsBar>(course::BuiltInTest::kSpeed);
}

}  // namespace membound::harness
