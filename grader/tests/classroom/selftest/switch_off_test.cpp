// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Does each defence do anything? With it switched off, the attacks it is there for must come out
/// otherwise than they have to; and with it on again, as they have to.
#include <gmock/gmock.h>

#include <cstdlib>
#include <sstream>

#include "grader/base/failpoint.hpp"
#include "grader/classroom/selftest/run_case.hpp"
#include "grader/sandbox/jail/jail.hpp"

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
    const auto compiler = compilers::find_compiler(compilers::DeviceCompiler::kNvcc,
                                                   compilers::compiler_places(MEMBOUND_SOURCE_DIR));
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
    bench.device = judge::virtual_gpu("h200", MEMBOUND_BUILD_DIR);
    const auto prepared = prepare(bench);
    EXPECT_TRUE(prepared);
    const auto result = run_case(bench, one);
    EXPECT_TRUE(result) << base::to_string(result.error());
    std::error_code ignored;
    fs::remove_all(bench.scratch, ignored);
    return result ? *result : CaseOutcome{};
  }

 private:
  compilers::CompilerInfo compiler_;
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

/// "a,b" as its names.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream text(list);
  for (std::string name; std::getline(text, name, ',');) names.push_back(name);
  return names;
}

/// A user number of its own can only be given by root; Landlock keeps signals in from ABI 6 on.
bool is_in_force(const std::string& defence) {
  if (defence == "jail.user") return jail::probe().drops_user;
  if (defence == "jail.landlock") return jail::probe().landlock_abi >= 6;
  return true;
}

TEST_F(SwitchOff, EachOfSeveralLinesOfDefenceHoldsByItself) {
  for (const Case& one : cases_with_a_switch()) {
    const std::vector<std::string> names = names_in(one.switch_off);
    for (const std::string& kept : names) {
      if (names.size() == 1 || !is_in_force(kept)) continue;
      std::string others;
      for (const std::string& name : names)
        if (name != kept) others += (others.empty() ? "" : ",") + name;
      SCOPED_TRACE(one.id + " with " + kept + " alone");
      setenv("MEMBOUND_SWITCH_OFF", others.c_str(), 1);
      const CaseOutcome with_one = outcome(one);
      EXPECT_TRUE(with_one.as_expected) << with_one.got << " " << with_one.detail;
    }
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
