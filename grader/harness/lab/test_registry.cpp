// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/lab/test_registry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/contract.hpp"
#include "grader/harness/cases/failure_text.hpp"
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

namespace {

// Filled before main() by the macros' static objects; function-local, so that they exist by then.
std::vector<detail::LabTestEntry>& entries() {
  static std::vector<detail::LabTestEntry> list;
  return list;
}

std::optional<LabProgram>& program() {
  static std::optional<LabProgram> one;
  return one;
}

void register_one(StageRun& run, const detail::LabTestEntry& entry) {
  testing::RegisterTest(run.stage().kernel.c_str(), entry.name, nullptr, nullptr, entry.file,
                        entry.line, [&run, make = entry.make]() -> LabTest* {
                          LabTest* test = make();
                          test->attach(run);
                          return test;
                        });
}

}  // namespace

namespace detail {

bool add_lab_test(const LabTestEntry& entry) {
  entries().push_back(entry);
  return true;
}

bool set_lab_program(LabProgram lab_program) {
  MEMBOUND_CHECK(!program());
  program() = std::move(lab_program);
  return true;
}

}  // namespace detail

const std::vector<detail::LabTestEntry>& lab_tests() { return entries(); }

const LabProgram* lab_program() { return program() ? &*program() : nullptr; }

std::vector<detail::LabTestEntry> tests_in_turn(const Options& options) {
  std::vector<detail::LabTestEntry> tests;
  if (!options.easier_half) tests = tests_before_the_labs();
  std::vector<detail::LabTestEntry> own = lab_tests();
  const auto last = std::stable_partition(own.begin(), own.end(),
                                          [](const auto& test) { return !test.after_timing; });
  const std::ptrdiff_t before_timing = last - own.begin();
  const std::ptrdiff_t count = options.easier_half ? (before_timing + 1) / 2 : before_timing;
  tests.insert(tests.end(), own.begin(), own.begin() + count);
  if (!options.quick) tests.push_back(test_after_the_labs());
  if (!options.easier_half) tests.insert(tests.end(), last, own.end());
  const char* const file = own.empty() ? "" : own.front().file;
  int line = 0;
  for (detail::LabTestEntry& test : tests) {
    test.file = file;
    test.line = line = std::max(test.line, line + 1);
  }
  return tests;
}

namespace {

std::shared_ptr<const LabOracle>& lab_oracle() {
  static std::shared_ptr<const LabOracle> one;
  return one;
}

/// The numbers of a standard test.
enum class Numbers {
  kReadable,  ///< small whole ones, unless the oracle says which
  kConstant,  ///< one alone
  kAllBits    ///< whatever the oracle lets an input hold
};

/// Fixture of the standard tests.
class OracleTest : public LabTest {
 protected:
  /// Runs the stage for these sizes and compares all of its output.
  void check(const std::vector<std::int64_t>& sizes, Numbers numbers) {
    const LabOracle& oracle = *lab_oracle();
    std::vector<HostArray> inputs;
    std::vector<GuardedMemory> memory;
    std::vector<void*> d_inputs;
    for (TimedBuffer& buffer : choose(oracle.inputs(sizes), numbers)) {
      inputs.push_back(drawn(buffer, random_bits(seed(), inputs.size())));
      memory.emplace_back(inputs.back().size(), element_bytes(buffer.type), inputs.back().data(),
                          Role::kInput);
    }
    for (const GuardedMemory& one : memory) d_inputs.push_back(one.data());
    const TimedBuffer output = oracle.output(sizes);
    const HostArray zeros(output.size_bytes(), std::byte{0});
    const GuardedMemory d_output(output.size_bytes(), element_bytes(output.type),
                                 output.initial == Initial::kZero ? zeros.data() : nullptr,
                                 Role::kOutput);
    SCOPED_TRACE(about(sizes));
    ASSERT_TRUE(launch_with("", sizes, oracle.arguments(sizes, d_inputs, d_output.data())));
    HostArray got(output.size_bytes());
    d_output.copy_to(got.data());
    const HostArray right = oracle.expected(sizes, inputs);
    base::with_type(output.type, [&](auto value) {
      using T = decltype(value);
      ASSERT_TRUE(arrays_equal(values_of<T>(got), values_of<T>(right), oracle.shape(sizes),
                               oracle.tolerance()));
    });
  }

  /// The test of that name, for kernels of as many sizes as the lab's.
  void run_standard(std::string_view name) {
    const LabOracle& oracle = *lab_oracle();
    constexpr std::int64_t kElementsOfASlowOracle = 1 << 17;
    std::int64_t full = std::int64_t{multiprocessors()} * kThreadsOfAMultiprocessor * kTurns;
    if (!oracle.is_element_by_element()) full = std::min(full, kElementsOfASlowOracle);
    const Numbers numbers = name == "ConstantInputs"   ? Numbers::kConstant
                            : name == "EveryBitCounts" ? Numbers::kAllBits
                                                       : Numbers::kReadable;
    const auto all = sizes_of_test(name, oracle.size_count(), full);
    for (const auto& sizes : all) ASSERT_NO_FATAL_FAILURE(check(sizes, numbers));
    if (name != "SecondLaunchGivesTheSame") return;
    {
      SCOPED_TRACE("in the second of two launches; the first was right");
      ASSERT_NO_FATAL_FAILURE(check(all.front(), numbers));
    }
    draw_anew();
    SCOPED_TRACE("in a launch on other numbers in the same arrays");
    check(all.front(), numbers);
  }

 private:
  static constexpr std::int64_t kThreadsOfAMultiprocessor = 2048, kTurns = 4;

  static std::vector<TimedBuffer> choose(std::vector<TimedBuffer> inputs, Numbers numbers) {
    constexpr IntegerRange kReadable{0, 9999};
    for (TimedBuffer& input : inputs) {
      if (numbers == Numbers::kReadable && !input.integers) input.integers = kReadable;
      if (numbers != Numbers::kConstant) continue;
      if (input.integers) input.integers = IntegerRange{input.integers->high, input.integers->high};
      input.fill = Fill::kConstant;
    }
    return inputs;
  }

  static std::string about(const std::vector<std::int64_t>& sizes) {
    std::string text;
    for (const std::int64_t size : sizes) base::add_word(text, std::to_string(size), " x ");
    return "for the sizes " + text;
  }
};

template <std::size_t kRow>
class StandardTest : public OracleTest {
  void TestBody() override { run_standard(course::kOracleTests[kRow].name); }
};

template <std::size_t... kRow>
void add_standard_tests(std::index_sequence<kRow...> /*rows*/) {
  // The names are literals: a zero ends them.
  (detail::add_lab_test({course::kOracleTests[kRow].name.data(),
                         course::kOracleTests[kRow].hint_tag.data(), "", 0,
                         []() -> LabTest* { return new StandardTest<kRow>; }}),
   ...);
}

}  // namespace

base::Status register_oracle(const Options& options) {
  const auto lab = course::read_lab(options.lab_json);
  if (!lab) return lab.error();
  auto oracle = LabOracle::load(options.oracle);
  if (!oracle) return oracle.error();
  if ((*oracle)->size_count() != lab->size_names.size())
    return base::Error{base::ErrorKind::kInput, options.lab_json.string(),
                       std::to_string(lab->size_names.size()) + " names in \"sizes\"",
                       "a name for each of the " + std::to_string((*oracle)->size_count()) +
                           " whole numbers that the oracle takes",
                       "make lab.json and oracle.cpp agree"};
  lab_oracle() = *std::move(oracle);
  detail::set_lab_program(
      {.lab_id = lab->id,
       .signature = lab_oracle()->signature(),
       .timed_cases = [names = lab->size_names](const course::Stage&,
                                                std::span<const std::int64_t> size) {
         return std::vector<TimedCase>{timed_case_of(lab_oracle(), size, names)};
       }});
  add_standard_tests(std::make_index_sequence<course::kOracleTests.size()>());
  return base::Done{};
}

std::map<std::string, std::string> register_stage(StageRun& run) {
  std::map<std::string, std::string> hint_tags;
  for (const detail::LabTestEntry& test : tests_in_turn(run.session().options())) {
    register_one(run, test);
    hint_tags[test.name] = test.hint_tag;
  }
  return hint_tags;
}

namespace {

std::string messages_of(const testing::TestResult& result) {
  std::string text;
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (!part.failed() && !part.skipped()) continue;
    const std::string words = unwrap_message(part.message());
    text += (text.empty() || words.empty() ? "" : "\n") + words;
  }
  return text;
}

}  // namespace

void StageRecorder::add(StageRun& run, std::map<std::string, std::string> hint_tags) {
  entries_[run.stage().kernel] = {&run, std::move(hint_tags)};
}

void StageRecorder::OnTestSuiteStart(const testing::TestSuite& suite) {
  current_ = entries_.at(suite.name()).run;
  entries_.at(suite.name()).run->begin_stage();
}

void StageRecorder::OnTestStart(const testing::TestInfo& info) {
  entries_.at(info.test_suite_name()).run->begin_test(info.name());
}

void StageRecorder::OnTestEnd(const testing::TestInfo& info) {
  const Entry& entry = entries_.at(info.test_suite_name());
  const testing::TestResult& result = *info.result();
  course::TestOutcome outcome;
  outcome.name = info.name();
  outcome.skipped = result.Skipped();
  outcome.passed = result.Passed() && !outcome.skipped;
  outcome.message = messages_of(result);
  outcome.seconds = static_cast<double>(result.elapsed_time()) / 1e3;
  if (result.Failed()) {
    const auto tag = entry.hint_tags.find(outcome.name);
    outcome.hint_tag =
        choose_tag(tag == entry.hint_tags.end() ? "" : tag->second, entry.run->cause());
  }
  entry.run->end_test(std::move(outcome));
}

void StageRecorder::OnTestSuiteEnd(const testing::TestSuite& suite) {
  entries_.at(suite.name()).run->end_stage();
}

}  // namespace membound::harness
