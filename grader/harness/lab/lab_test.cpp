// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/lab_test.hpp"

#include "grader/base/digest.hpp"
#include "grader/harness/device/runtime_extensions.hpp"
#include "grader/harness/lab/stage_run.hpp"

namespace membound::harness {

void LabTest::SetUp() {
  if (!run_->blocked().empty()) GTEST_SKIP() << "not run: " << run_->blocked();
}

void LabTest::skip_unless_all_passed() {
  if (device_checks()) GTEST_SKIP() << "not run where checkers look on";
  if (!IsSkipped() && !run_->all_passed())
    GTEST_SKIP() << "not run, because a test before it failed";
}

const course::Stage& LabTest::stage() const { return run_->stage(); }

std::uint64_t LabTest::seed() const {
  const testing::TestInfo& info = *testing::UnitTest::GetInstance()->current_test_info();
  return run_->session().seeds().derive(
      run_->session().options().seed,
      base::stable_hash(std::string(info.test_suite_name()) + "." + info.name()) + drawn_);
}

bool LabTest::on_virtual_gpu() const { return run_->session().device().computes_on_the_host(); }

int LabTest::multiprocessors() const { return run_->session().device().info().sm_count; }

testing::AssertionResult LabTest::far_blocks(std::span<const std::int64_t> size,
                                             const std::string& contract) {
  return run_->check_far_blocks(size, contract);
}

void LabTest::set_constant_bytes(const std::string& variable, std::span<const std::byte> bytes) {
  cuda_check(run_->session().student().fill_variable(variable, bytes), "filling constant memory");
}

testing::AssertionResult LabTest::launch_with(const std::string& instance,
                                              const std::vector<std::int64_t>& sizes,
                                              const KernelArguments& arguments) {
  return run_->launch(instance, sizes, arguments);
}

}  // namespace membound::harness
