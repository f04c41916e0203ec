// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fuzz target: every reader of JSON from outside gives a value or an error with a text for any
/// bytes: lab.json, measurements of a test program with the virtual GPU's counters, results, and
/// machine files.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/judge/findings.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace {

using namespace membound;

template <typename T>
void check(const base::Result<T>& result) {
  MEMBOUND_CHECK(result.ok() || !result.error().found.empty());
}

/// A lab with a hint for everything that findings look for.
const course::Lab& some_lab() {
  static const course::Lab* const kLab = [] {
    auto* lab = new course::Lab;
    lab->id = "03-transpose";
    lab->stages.resize(1);
    lab->stages[0].number = 1;
    for (const char* tag : {"bank-conflicts", "coalescing", "registers", "occupancy"})
      lab->hints[tag] = {"a", "b", "c"};
    return lab;
  }();
  return *kLab;
}

/// What becomes of a test program's lines, counters included.
void judge_measurements(std::string_view text) {
  const auto measurements = course::measurements_from_text(text, "fuzz.jsonl");
  check(measurements);
  if (!measurements) return;
  for (const course::StageMeasurement& measurement : *measurements) {
    const auto lines = judge::source_lines(measurement.counters);
    (void)judge::speed_findings(some_lab(), some_lab().stages[0], measurement, lines);
    (void)judge::side_findings(measurement);
    MEMBOUND_CHECK(!course::to_line(measurement).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(course::lab_from_text(text, "fuzz/lab.json", "fuzz/03-transpose"));
  check(course::stage_result_from_text(text, "fuzz.json"));
  check(vgpu::timing::read_machine(text, "fuzz.json"));
  (void)vgpu::timing::read_sources(text);
  judge_measurements(text);
  const auto counters = nlohmann::json::parse(text, nullptr, false);
  if (!counters.is_discarded()) (void)judge::source_lines(counters);
  return 0;
}
