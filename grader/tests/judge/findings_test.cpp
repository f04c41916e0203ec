// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/findings.hpp"

#include <gmock/gmock.h>

#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/counters_profile.hpp"

namespace membound::judge {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json line(int number, const char* kind, int requests, int units, int ideal) {
  const std::string base = kind;
  const std::string unit = base.starts_with("shared") ? "wavefronts" : "sectors";
  return {{"file", "/x/kernel.cu"},
          {"line", number},
          {"counters",
           {{base + "_requests", requests},
            {base + "_" + unit, units},
            {base + "_ideal_" + unit, ideal}}}};
}

json kernel(const std::string& name, const std::vector<json>& lines) {
  return {{"name", name}, {"display_name", name + "(float*)"}, {"lines", lines}};
}

/// One predicted case, with a kernel whose SMs idle for so many of 100 ns.
course::StageMeasurement predicted(double idle_ns, double reference_idle_ns) {
  const auto kernels = [](double ns) {
    return json::array({{{"name", "k"},
                         {"case", "large"},
                         {"predicted_ns", 100},
                         {"bounds", {{{"name", "idle multiprocessors"}, {"ns", ns}}}}}});
  };
  course::StageMeasurement measurement;
  measurement.device.virtual_name = "vgpu:h200";
  measurement.timings.resize(1);
  measurement.timings[0].label = "large";
  measurement.counters = {{"kernels", kernels(idle_ns)},
                          {"reference", {{"kernels", kernels(reference_idle_ns)}}}};
  return measurement;
}

course::StageResult timed(double speed, double ceiling, double ratio) {
  course::StageResult result;
  result.speed = speed;
  result.ceiling = ceiling;
  result.ratio = ratio;
  return result;
}

std::vector<std::string> edges(const course::StageMeasurement& measurement,
                               const course::StageResult& result) {
  std::vector<std::string> kinds;
  for (const course::Finding& finding : edge_findings(measurement, result))
    kinds.push_back(finding.kind);
  return kinds;
}

TEST(EdgeFindings, ASpeedWithinOnePercentOfTheCeilingIsSaid) {
  EXPECT_THAT(edges(predicted(0, 0), timed(98, 100, 1)), testing::IsEmpty());
  EXPECT_THAT(edges(predicted(0, 0), timed(99.5, 100, 1)), testing::ElementsAre("near-ceiling"));
  EXPECT_THAT(edges(predicted(0, 0), timed(100, 100, 1.2)),
              testing::ElementsAre("beyond-reference"));
}

TEST(EdgeFindings, WorkSoUnevenThatMostSmsIdleIsSaidUnlessTheReferencesIs) {
  EXPECT_THAT(edges(predicted(49, 0), timed(50, 100, 1)), testing::IsEmpty());
  EXPECT_THAT(edges(predicted(60, 0), timed(50, 100, 1)),
              testing::ElementsAre("idle-multiprocessors"));
  EXPECT_THAT(edges(predicted(60, 60), timed(50, 100, 1)), testing::IsEmpty());
}

TEST(EdgeFindings, SayNothingOfMeasuredTimes) {
  course::StageMeasurement measurement = predicted(60, 0);
  measurement.device.virtual_name = "";
  EXPECT_THAT(edges(measurement, timed(100, 100, 1.2)), testing::IsEmpty());
}

TEST(SourceLines, SumLaunchesAndDivideByRequests) {
  const json counters = {{"kernels",
                          {kernel("mine", {line(24, "global_store", 10, 320, 40)}),
                           kernel("mine", {line(24, "global_store", 30, 960, 120),
                                           line(20, "global_load", 10, 40, 40)})}}};
  const auto lines = source_lines(counters);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].line, 20);
  EXPECT_EQ(lines[0].access, "load");
  EXPECT_EQ(lines[1].access, "store");
  EXPECT_EQ(lines[1].requests, 40u);
  EXPECT_DOUBLE_EQ(lines[1].per_request, 32);
  EXPECT_DOUBLE_EQ(lines[1].ideal_per_request, 4);
  EXPECT_DOUBLE_EQ(units_per_request(lines, "", "store"), 32);
}

TEST(SourceLines, LeaveOutWhatHasTheWrongType) {
  const json good = line(24, "global_load", 10, 40, 40);
  json odd = good;
  odd["file"] = 7;
  odd["line"] = "24";
  odd["counters"]["global_load_sectors"] = 1e300;
  const auto lines = source_lines({{"kernels", {3, kernel("k", {5, odd}), {{"lines", 4}}}}});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].file, "");
  EXPECT_EQ(lines[0].line, 0);
  EXPECT_EQ(lines[0].per_request, 0);
}

TEST(SourceLines, NameLoadsFromConstantMemoryBesideOneWordForAll) {
  const json row = {{"file", "kernel.cu"},
                    {"line", 9},
                    {"counters", {{"constant_load_requests", 10}, {"constant_load_words", 300}}}};
  const auto lines = source_lines({{"kernels", {kernel("k", {row})}}});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].access, "constant load");
  EXPECT_DOUBLE_EQ(lines[0].per_request, 30);
  EXPECT_DOUBLE_EQ(lines[0].ideal_per_request, 1);
}

/// Four loads that the machine code has as one of two wavefronts.
json joined_load(const char* counted_by) {
  json row = line(7, "shared_load", 10, 20, 20);
  row["counters"].update({{"shared_load_wavefronts", 20},
                          {"shared_load_ideal_wavefronts", 20},
                          {"ptx_shared_load_requests", 40},
                          {"ptx_shared_load_wavefronts", 40},
                          {"ptx_shared_load_ideal_wavefronts", 40}});
  json of = kernel("k", {row});
  of["shared_accesses"] = counted_by;
  return {{"kernels", {of}}};
}

TEST(SourceLines, SayWhatSharedLoadsAreCountedBy) {
  const auto known = source_lines(joined_load("machine code"));
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].unit, "wavefronts");
  EXPECT_EQ(known[0].requests, 10u);
  EXPECT_DOUBLE_EQ(known[0].per_request, 2);
  const auto unknown = source_lines(joined_load("PTX"));
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].unit, "wavefronts (as PTX has it)");
}

TEST(SourceLines, ForComparisonsAreThoseOfThePtx) {
  for (const char* counted_by : {"machine code", "PTX"}) {
    const auto lines = source_lines(joined_load(counted_by), CountedBy::kPtx);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].unit, "wavefronts");
    EXPECT_EQ(lines[0].requests, 40u);
    EXPECT_DOUBLE_EQ(lines[0].per_request, 1);
  }
}

TEST(SourceLines, KeepTemplateInstancesApart) {
  json single = kernel("k", {line(24, "global_load", 10, 40, 40)});
  json twice = kernel("k", {line(24, "global_load", 10, 80, 80)});
  single["display_name"] = "void k<float>(float*)";
  twice["display_name"] = "void k<double>(double*)";
  const auto lines = source_lines({{"kernels", {single, twice}}});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].instance, "double");
  EXPECT_EQ(lines[0].per_request, 8);
  EXPECT_EQ(lines[1].instance, "float");
  EXPECT_EQ(lines[1].per_request, 4);
}

TEST(SourceLines, LeaveOutTheHarnesssKernelsAndAnythingElse) {
  const json harness = kernel("membound_launch_of_x", {line(24, "global_store", 1, 1, 1)});
  EXPECT_TRUE(source_lines({{"kernels", {harness}}}).empty());
  EXPECT_TRUE(source_lines(nullptr).empty());
  EXPECT_TRUE(source_lines({{"kernels", json::array()}}).empty());
}

course::StageMeasurement with_counters(const std::vector<json>& lines) {
  course::StageMeasurement measurement;
  measurement.counters = {{"kernels", {kernel("mine", lines)}}};
  return measurement;
}

std::vector<course::Finding> speed(const course::StageMeasurement& measurement) {
  course::Lab lab;
  lab.hints["write-pattern"] = {"a", "b", "c"};
  course::Stage stage;
  stage.number = 3;
  stage.name = "tiled";
  lab.stages.resize(3);
  lab.stages[1].number = 2;
  lab.stages[1].title = "One thread per element";
  return speed_findings(lab, stage, measurement, source_lines(measurement.counters));
}

TEST(Findings, NameTheLineThatWastesMostFirst) {
  const auto all = speed(
      with_counters({line(20, "global_load", 10, 80, 40), line(24, "global_store", 10, 320, 40),
                     line(30, "shared_load", 10, 10, 10)}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kind, "uncoalesced-store");
  EXPECT_EQ(all[0].line, 24);
  EXPECT_EQ(all[0].hint_tag, "write-pattern");
  EXPECT_THAT(all[0].text, HasSubstr("takes 32 sectors, ideal 4"));
  EXPECT_EQ(all[1].kind, "uncoalesced-load");
}

TEST(Findings, TellALineOnceForAllTemplateInstances) {
  course::StageMeasurement measurement;
  json kernels = json::array();
  for (const char* name : {"k<float>(float*)", "k<double>(double*)"}) {
    json one = kernel("k", {line(24, "global_store", 10, 320, 40)});
    one["display_name"] = name;
    kernels.push_back(one);
  }
  measurement.counters = {{"kernels", kernels}};
  EXPECT_EQ(speed(measurement).size(), 1u);
}

json advice(const char* rule, double gain) {
  return {{"rule", rule},
          {"fault", "it"},
          {"gain", gain},
          {"what", "store: 32 sectors"},
          {"line", 7},
          {"value", 5},
          {"counter", "theoretical_global_sectors"},
          {"file", "/x/kernel.cu"},
          {"remedy", "do"},
          {"handout", "h"},
          {"section", "s"}};
}

TEST(Findings, FollowTheClockButForWhatTheReferenceHasAsWell) {
  course::StageMeasurement measurement;
  json mine = kernel("mine", {line(24, "shared_load", 10, 320, 10)});
  mine["advice"] = {advice("uncoalesced", 2), advice("barriers", 1.2)};
  json theirs = kernel("theirs", {});
  theirs["advice"] = {advice("barriers", 1.15)};
  measurement.counters = {{"kernels", {mine}}, {"reference", {{"kernels", {theirs}}}}};
  const auto all = speed(measurement);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].kind, "uncoalesced");
  EXPECT_EQ(all[0].line, 7);
  EXPECT_EQ(all[0].advice, "do");
  EXPECT_THAT(all[0].text, HasSubstr("2 times as fast without it"));
  EXPECT_EQ(all[0].hint_tag, "write-pattern");
}

TEST(Findings, NameTheStageThatIsAsFast) {
  course::StageMeasurement measurement;
  measurement.similar_stage = 2;
  const auto all = speed(measurement);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].text, HasSubstr("stage 2 (One thread per element)"));
}

TEST(Findings, NameLocalMemoryAndLowOccupancyOnce) {
  course::StageMeasurement measurement;
  course::KernelFacts facts;
  facts.name = "k<float>";
  facts.local_bytes = 64;
  facts.occupancy = 0.125;
  facts.registers = 200;
  measurement.kernels = {facts, facts};
  const auto all = speed(measurement);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0].text, HasSubstr("64 bytes per thread in local memory"));
  EXPECT_THAT(all[0].advice, HasSubstr("constants alone"));
  EXPECT_THAT(all[1].text, HasSubstr("12.5 %"));
}

TEST(Findings, NameALoadFromConstantMemoryWhoseLanesWantManyWords) {
  const auto all_of = [](int words) {
    course::StageMeasurement measurement;
    const json row = {
        {"file", "kernel.cu"},
        {"line", 9},
        {"counters", {{"constant_load_requests", 10}, {"constant_load_words", words}}}};
    measurement.counters = {{"kernels", {kernel("k", {row})}}};
    return speed_findings(course::Lab{}, {}, measurement, source_lines(measurement.counters));
  };
  const auto all = all_of(300);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].line, 9);
  EXPECT_THAT(all[0].text, HasSubstr("takes 30 words, ideal 1. Constant memory serves one word"));
  EXPECT_TRUE(all_of(10).empty());
}

TEST(Findings, PassOnCheckersReportsAndThrottling) {
  course::StageMeasurement measurement;
  measurement.counters = {{"reports",
                           {{{"checker", "racecheck"},
                             {"text", "two threads, one word"},
                             {"file", "k.cu"},
                             {"line", 7}}}}};
  measurement.timings.resize(1);
  measurement.timings[0].throttle_reasons = {"power"};
  const auto all = side_findings(measurement);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kind, "racecheck");
  EXPECT_EQ(all[0].line, 7);
  EXPECT_THAT(all[1].text, HasSubstr("power"));
}

TEST(CompileHints, SpeakOfTheFirstErrorThatIsKnown) {
  EXPECT_THAT(compilers::compile_hint("k.cu(3): error: identifier \"rowz\" is undefined"),
              HasSubstr("typing error"));
  EXPECT_THAT(
      compilers::compile_hint("k.cu(3): error: expected a \";\"\nk.cu(9): error: x is undefined"),
      HasSubstr("';' is missing"));
  EXPECT_THAT(compilers::compile_hint("k.cu(3): error: argument of type \"const float *\" is "
                                      "incompatible with parameter of type \"void *\""),
              HasSubstr("the destination"));
  EXPECT_THAT(compilers::compile_hint("k.cu(3): error: more than one instance of overloaded "
                                      "function \"min\" matches the argument list"),
              HasSubstr("two values of one type"));
  EXPECT_THAT(compilers::compile_hint("k.cu:3:5: error: extended character “ is not valid"),
              HasSubstr("type it anew"));
  EXPECT_THAT(compilers::compile_hint("ptxas k.ptx, line 3; error : Not a name of any known "
                                      "instruction\nptxas fatal : Ptx assembly aborted"),
              HasSubstr("asm(…)"));
  EXPECT_THAT(compilers::compile_hint("k.cu:1:10: fatal error: a.cuh: No such file or directory"),
              HasSubstr("can be included"));
  EXPECT_THAT(compilers::compile_hint("something new"), HasSubstr("first error"));
}

}  // namespace
}  // namespace membound::judge
