// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs the profiler programs and the labs on the virtual GPU and compares its counters with what
/// Nsight Compute counted on an H200, launch by launch: exact ones for equality, modelled ones for
/// their error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "grader/tests/vgpu/profiler/truth.hpp"

namespace membound::profiler {
namespace {

using vgpu::counters::CounterInfo;

const Sections& truth() {
  static const Sections sections = read_truth(MEMBOUND_PROFILER_TRUTH);
  return sections;
}

/// "global", "03-transpose reference": runs what the section is about.
std::vector<Launch> run_section(const std::string& section) {
  const std::size_t space = section.find(' ');
  if (space == std::string::npos) return run_program(section);
  for (const LabRun& run : read_labs(MEMBOUND_PROFILER_LABS))
    if (run.lab == section.substr(0, space)) return run_lab(run, section.substr(space + 1));
  return {};
}

class Section : public ::testing::TestWithParam<const char*> {};

TEST_P(Section, EveryExactCounterEqualsTheProfilers) {
  const std::string section = GetParam();
  ASSERT_TRUE(truth().contains(section)) << "no truth: run make_truth.sh on a GPU";
  const std::vector<Launch>& expected = truth().at(section);
  const std::vector<Launch> found = run_section(section);
  ASSERT_EQ(found.size(), expected.size()) << "other launches than under the profiler";
  std::vector<Deviation> deviations = read_deviations(MEMBOUND_PROFILER_DEVIATIONS);
  std::erase_if(deviations, [&](const Deviation& d) { return d.section != section; });
  std::vector<int> differences(deviations.size(), 0);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(found[i].kernel, expected[i].kernel) << "launch " << i;
    for (const CounterInfo& row : vgpu::counters::all_counters()) {
      const auto metric = expected[i].numbers.find(row.metric);
      if (row.certainty == "modelled" || metric == expected[i].numbers.end()) continue;
      const double value = found[i].numbers.at(std::string(row.name));
      if (value == metric->second) continue;
      const auto known =
          std::find_if(deviations.begin(), deviations.end(),
                       [&](const Deviation& d) { return d.covers(section, found[i], row.name); });
      if (known != deviations.end())
        ++differences[static_cast<std::size_t>(known - deviations.begin())];
      else
        ADD_FAILURE() << "launch " << i << " " << found[i].name << ": " << row.name << " is "
                      << value << ", the profiler's " << row.metric << " is " << metric->second;
    }
  }
  for (std::size_t d = 0; d < deviations.size(); ++d)
    EXPECT_GT(differences[d], 0) << deviations[d].name
                                 << " no longer differs: take it off the list";
}

INSTANTIATE_TEST_SUITE_P(Profiler, Section, ::testing::Values(MEMBOUND_PROFILER_SECTIONS),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST(Truth, EveryExactCounterWithAMetricIsCompared) {
  for (const CounterInfo& row : vgpu::counters::all_counters()) {
    if (row.metric.empty()) continue;
    EXPECT_TRUE(truth().at("global").front().numbers.contains(row.metric))
        << row.name << ": " << row.metric << " is not in the truth";
  }
}

/// "shared_ ideal_shared" -> "`shared_` `ideal_shared`".
std::string each_as_code(const std::string& words) {
  std::string text;
  std::istringstream in(words);
  for (std::string word; in >> word;) text += (text.empty() ? "`" : " `") + word + "`";
  return text;
}

TEST(Deviations, AreTheTableOfTheDocumentation) {
  std::set<std::string> documented, known;
  std::ifstream file(MEMBOUND_SOURCE_DIR "/docs/counters.md");
  bool in_table = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| section |"))
      in_table = true;
    else if (!line.starts_with("|"))
      in_table = false;
    else if (in_table && !line.starts_with("| ---"))
      documented.insert(line);
  }
  for (const Deviation& d : read_deviations(MEMBOUND_PROFILER_DEVIATIONS))
    known.insert("| " + d.section + " | `" + d.name + "` | " + each_as_code(d.counters) + " | " +
                 d.reason + " |");
  EXPECT_EQ(documented, known);
}

/// How far a modelled counter is off, over the launches of some sections whose metric is at least
/// `floor` (below, the profiler sees mostly what is not the kernel's).
struct Claim {
  const char* counter;
  std::vector<std::string> sections;
  double floor;
  double median, worst;  ///< as docs/counters.md states them
};

const std::vector<std::string> kLabs = {"01-reverse-array reference", "03-transpose reference",
                                        "04-reduction reference", "06-shortcut reference"};
std::vector<std::string> with_labs(std::vector<std::string> sections) {
  sections.insert(sections.end(), kLabs.begin(), kLabs.end());
  return sections;
}

const Claim kClaims[] = {
    {"atomic_sectors", {"atomics"}, 1, 0, 0.75},
    {"reduction_sectors", with_labs({"atomics", "caches"}), 1, 0, 0.017},
    {"shared_atomic_requests", with_labs({"shared_atomics", "shared_increments"}), 1, 0, 0.78},
    {"shared_atomic_wavefronts", with_labs({"shared_atomics", "shared_increments"}), 1, 0, 0.78},
    {"texture_sectors", {"textures"}, 1, 0, 0.59},
    {"l1_load_hit_sectors", with_labs({"caches"}), 20000, 0.005, 0.04},
    {"l2_read_sectors", with_labs({"caches"}), 20000, 0.001, 1},
    {"l2_write_sectors", with_labs({"caches"}), 20000, 0.01, 0.33},
    {"dram_read_bytes", with_labs({"caches"}), 1 << 20, 0.01, 1},
    {"dram_write_bytes", with_labs({"caches"}), 1 << 20, 0.53, 6.2},
};

/// Runs a section once, however many claims are about it.
const std::vector<Launch>& run_once(const std::string& section) {
  static std::map<std::string, std::vector<Launch>> runs;
  const auto [run, fresh] = runs.try_emplace(section);
  if (fresh) run->second = run_section(section);
  return run->second;
}

void check_claim(const Claim& claim) {
  const CounterInfo* row = vgpu::counters::find_counter(claim.counter);
  ASSERT_NE(row, nullptr);
  std::vector<double> errors;
  std::string worst;
  for (const std::string& section : claim.sections) {
    const std::vector<Launch>& found = run_once(section);
    const std::vector<Launch>& expected = truth().at(section);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double should = expected[i].numbers.find(row->metric)->second;
      if (should < claim.floor) continue;
      const double is = found[i].numbers.find(claim.counter)->second;
      errors.push_back(std::abs(is - should) / should);
      if (errors.back() == *std::max_element(errors.begin(), errors.end()))
        worst = found[i].name + ": " + std::to_string(std::llround(is)) + " instead of " +
                std::to_string(std::llround(should));
    }
  }
  ASSERT_FALSE(errors.empty());
  std::sort(errors.begin(), errors.end());
  const auto equal = std::count(errors.begin(), errors.end(), 0.0);
  std::printf("| %s | %zu | %td | %.1f %% | %.1f %% | %s |\n", claim.counter, errors.size(), equal,
              errors[errors.size() / 2] * 100, errors.back() * 100, worst.c_str());
  EXPECT_LE(errors[errors.size() / 2], claim.median) << claim.counter;
  EXPECT_LE(errors.back(), claim.worst) << claim.counter << ", " << worst;
}

TEST(Modelled, EveryCounterWithAMetricHasAStatedError) {
  for (const CounterInfo& row : vgpu::counters::all_counters()) {
    if (row.certainty != "modelled" || row.metric.empty()) continue;
    EXPECT_TRUE(std::any_of(std::begin(kClaims), std::end(kClaims),
                            [&](const Claim& claim) { return claim.counter == row.name; }))
        << row.name << ": add a row to kClaims, and its line to docs/counters.md";
  }
}

/// Prints the table of docs/counters.md.
TEST(Modelled, CountersKeepWithinTheirStatedErrors) {
  for (const Claim& claim : kClaims) check_claim(claim);
}

}  // namespace
}  // namespace membound::profiler
