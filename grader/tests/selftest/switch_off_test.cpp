// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Does each defence do anything? With it switched off, the attacks it is there for must come out
/// otherwise than they have to; and with it on again, as they have to.
#include <gmock/gmock.h>

#include <cstdlib>

#include "grader/base/switches.hpp"
#include "grader/jail/jail.hpp"
#include "grader/selftest/run_case.hpp"

namespace membound::selftest {
namespace {

namespace fs = std::filesystem;

std::vector<Case> cases_with_a_switch() {
  const auto all = read_corpus(fs::path(MEMBOUND_SOURCE_DIR) / "grader/tests/attacks");
  std::vector<Case> some;
  if (all)
    for (const Case& one : *all)
      if (!one.switch_off.empty()) some.push_back(one);
  return some;
}

/// A workbench on the virtual GPU of this build, in a folder that is removed.
class SwitchOff : public testing::Test {
 protected:
  void SetUp() override {
    if (!base::has_switches()) GTEST_SKIP() << "built without MEMBOUND_FAILPOINTS";
    if (!jail::probe().untrusted_ok()) GTEST_SKIP() << jail::probe().describe();
    const auto compiler = judge::find_compiler(judge::DeviceCompiler::kNvcc,
                                               judge::compiler_places(MEMBOUND_SOURCE_DIR));
    if (!compiler) GTEST_SKIP() << base::to_string(compiler.error());
    compiler_ = *compiler;
  }
  void TearDown() override { unsetenv("MEMBOUND_SWITCH_OFF"); }

  /// In a folder of its own: what is compiled without a defence must not be found with it.
  CaseOutcome outcome(const Case& one) const {
    std::string pattern = testing::TempDir() + "membound-switch-XXXXXX";
    Workbench bench;
    bench.root = MEMBOUND_SOURCE_DIR;
    bench.build = MEMBOUND_BUILD_DIR;
    bench.scratch = mkdtemp(pattern.data());
    bench.compiler = compiler_;
    bench.device = "vgpu:h200";
    bench.environment = {{"LD_LIBRARY_PATH", MEMBOUND_VGPU_FOLDER},
                         {"MEMBOUND_DEVICE", "vgpu:h200"}};
    const auto prepared = prepare(bench);
    EXPECT_TRUE(prepared);
    const auto result = run_case(bench, one);
    EXPECT_TRUE(result) << base::to_string(result.error());
    std::error_code ignored;
    fs::remove_all(bench.scratch, ignored);
    return result ? *result : CaseOutcome{};
  }

 private:
  judge::CompilerInfo compiler_;
};

TEST_F(SwitchOff, LetsAtLeastOneAttackThroughForEveryDefence) {
  for (const Case& one : cases_with_a_switch()) {
    SCOPED_TRACE(one.id + " without " + one.switch_off);
    setenv("MEMBOUND_SWITCH_OFF", one.switch_off.c_str(), 1);
    const CaseOutcome off = outcome(one);
    EXPECT_FALSE(off.as_expected) << "stopped all the same: " << off.got << " " << off.detail;
    unsetenv("MEMBOUND_SWITCH_OFF");
  }
}

TEST_F(SwitchOff, LeavesNothingInTheFolderForTemporaryFiles) {
  const auto count = [] {
    std::size_t found = 0;
    for (const auto& entry : fs::directory_iterator(fs::temp_directory_path()))
      found += entry.path().filename().string().starts_with("tmpxft") ? 1 : 0;
    return found;
  };
  const std::size_t before = count();
  const auto cases = cases_with_a_switch();
  ASSERT_FALSE(cases.empty());
  (void)outcome(cases.front());
  EXPECT_LE(count(), before);
}

}  // namespace
}  // namespace membound::selftest
