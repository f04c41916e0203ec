// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A class is held against times of the reference that were predicted once. That changes nothing
/// but the time it takes: verdicts, points, ratios and findings are those of a run beside the
/// reference.

#include "grader/classroom/selftest/corpus.hpp"
#include "grader/judge/class_reference_times.hpp"
#include "grader/tests/judge/sandboxed/sandboxed_fixture.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

class KnownTimes : public Sandboxed {
 protected:
  /// A graded run of all stages.
  CheckRequest graded(const std::string& lab_id, const fs::path& kernel) {
    CheckRequest request = request_for(lab_id, kernel);
    request.more_arguments.emplace_back("--counters");
    sandbox(request);
    request.sandbox->sample_seed = 77;  // as a batch has one for all its submissions
    return request;
  }

  ReferenceTimes times_of(const CheckRequest& request, const std::string& name = "times.json") {
    const fs::path reference = built_reference(request.place, *request.lab, request.compiler.kind);
    auto times = time_reference(request, reference, folder_.path() / name);
    EXPECT_TRUE(times.ok()) << base::to_string(times.error());
    return times ? *std::move(times) : ReferenceTimes{};
  }

  /// The same run beside the reference, and against its known times.
  void expect_no_difference(const std::string& lab_id, const fs::path& kernel) {
    SCOPED_TRACE(kernel.string());
    CheckRequest request = graded(lab_id, kernel);
    const course::Result beside = run(request);
    const ReferenceTimes times = times_of(request, lab_id + ".json");
    ASSERT_EQ(times.unusable, "");
    request.sandbox->reference_times = times.file;
    const course::Result against = run(request);
    ASSERT_EQ(against.stages.size(), beside.stages.size());
    for (std::size_t i = 0; i < beside.stages.size(); ++i)
      expect_same(against.stages[i], beside.stages[i]);
  }

  static void expect_same(const course::StageResult& a, const course::StageResult& b) {
    SCOPED_TRACE(b.kernel);
    EXPECT_EQ(a.verdict, b.verdict);
    EXPECT_EQ(a.points, b.points);
    EXPECT_EQ(a.ratio, b.ratio);
    ASSERT_EQ(a.tests.size(), b.tests.size());
    for (std::size_t t = 0; t < b.tests.size(); ++t)
      EXPECT_EQ(a.tests[t].passed, b.tests[t].passed);
    ASSERT_EQ(a.timings.size(), b.timings.size());
    for (std::size_t t = 0; t < b.timings.size(); ++t) {
      EXPECT_EQ(a.timings[t].student_ns, b.timings[t].student_ns);
      EXPECT_EQ(a.timings[t].reference_ns, b.timings[t].reference_ns);
      EXPECT_EQ(a.timings[t].ceiling, b.timings[t].ceiling);
      EXPECT_EQ(a.timings[t].similar_stage, b.timings[t].similar_stage);
    }
    ASSERT_EQ(a.findings.size(), b.findings.size());
    for (std::size_t f = 0; f < b.findings.size(); ++f)
      EXPECT_EQ(a.findings[f].text, b.findings[f].text);
  }

  /// What an attack of the corpus hands in.
  static std::string attack_text(const std::string& name) {
    const auto one = selftest::read_case(source() / "grader/tests/attacks" / (name + ".case"));
    EXPECT_TRUE(one) << base::to_string(one.error());
    return one ? one->submission : "";
  }

  /// The only stage's result of an attack of the corpus, held against known times.
  course::StageResult attack(const std::string& name) {
    CheckRequest request = request_for("01-reverse-array", kernel_of(attack_text(name)));
    request.stages = {1};
    request.more_arguments = {"--size", "65536"};
    sandbox(request);
    request.sandbox->reference_times = times_of(request).file;
    const course::Result result = run(request);
    return result.stages.empty() ? course::StageResult{} : result.stages.front();
  }
};

TEST_F(KnownTimes, ChangeNothingForARightAnswer) {
  expect_no_difference("01-reverse-array", source() / "solutions/01-reverse-array/kernel.cu");
}

// Some blocks of a wave read one more piece than others: which of them stand for all matters.
TEST_F(KnownTimes, ChangeNothingWhereBlocksDoUnequalWork) {
  expect_no_difference("04-reduction", source() / "solutions/04-reduction/kernel.cu");
}

TEST_F(KnownTimes, ChangeNothingForSlowAndWrongOnes) {
  const std::vector<fs::path> all = wrong_answers("01-reverse-array");
  ASSERT_GE(all.size(), 10u);
  std::size_t turn = 0;
  for (const fs::path& kernel : all)
    if (turn++ % 7 == 0) expect_no_difference("01-reverse-array", kernel);
}

TEST_F(KnownTimes, AreTheSameWheneverTheyArePredicted) {
  const CheckRequest request =
      graded("01-reverse-array", source() / "solutions/01-reverse-array/kernel.cu");
  const ReferenceTimes one = times_of(request, "one.json"), two = times_of(request, "two.json");
  EXPECT_EQ(one.sha256.size(), 64u);
  EXPECT_EQ(one.sha256, two.sha256);
}

TEST_F(KnownTimes, AreThoseOfTheBlocksThatTheSeedChooses) {
  CheckRequest request =
      graded("09-latency-hiding", source() / "solutions/09-latency-hiding/kernel.cu");
  const ReferenceTimes one = times_of(request, "one.json");
  request.sandbox->sample_seed = 78;
  const ReferenceTimes other = times_of(request, "other.json");
  EXPECT_EQ(one.unusable, "");
  EXPECT_EQ(other.unusable, "");
  EXPECT_NE(one.sha256, other.sha256);
}

TEST_F(KnownTimes, AnOutputThatIsWrongWhereItIsTimedIsFound) {
  EXPECT_EQ(attack("D-timing/64-one-size-for-nothing").verdict, course::Verdict::kWrong);
}

TEST_F(KnownTimes, AnInputThatIsChangedWhereItIsTimedIsSuspicious) {
  EXPECT_EQ(attack("E-semantics/80c-alters-when-timed").verdict, course::Verdict::kSuspicious);
}

// Held against what was drawn, where blocks that ran touched it.
TEST_F(KnownTimes, AnInputThatIsChangedByBlocksThatAreSampledIsSuspicious) {
  std::string text = attack_text("E-semantics/80c-alters-when-timed");
  const std::string when = "n == 65536";
  text.replace(text.find(when), when.size(), "n >= 1 << 28");
  CheckRequest request = request_for("01-reverse-array", kernel_of(text));
  request.stages = {1};
  EXPECT_EQ(run(request).stages.at(0).verdict, course::Verdict::kPassed) << "where none looks";
  sandbox(request);
  EXPECT_EQ(run(request).stages.at(0).verdict, course::Verdict::kSuspicious);
}

TEST_F(KnownTimes, OfAnotherLabAreRefused) {
  const ReferenceTimes others =
      times_of(graded("01-reverse-array", source() / "solutions/01-reverse-array/kernel.cu"));
  CheckRequest request = graded("03-transpose", source() / "solutions/03-transpose/kernel.cu");
  request.sandbox->reference_times = others.file;
  const course::Result result = run(request);
  ASSERT_FALSE(result.stages.empty());
  EXPECT_EQ(result.stages.front().verdict, course::Verdict::kInfraError);
}

TEST_F(KnownTimes, ThatSomebodyWroteByHandAreNoTimes) {
  EXPECT_FALSE(reference_times_from_text("{\"cases\": []}", "times.json"));
  EXPECT_FALSE(reference_times_from_text("no JSON", "times.json"));
}

}  // namespace
}  // namespace membound::judge
