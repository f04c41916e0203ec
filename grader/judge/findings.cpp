// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Findings about speed: what a right answer loses its time with, and what a predicted time does
/// not know.
#include "grader/judge/findings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <regex>
#include <set>

#include "grader/base/demangle.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/json_io.hpp"
#include "grader/device_code/checkers/checkers.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/vgpu/timing/model.hpp"

namespace membound::judge {
namespace {

using course::Finding;
using course::Verdict;

/// "block (1, 0, 0), thread (31, 0, 0)".
std::string thread_text(const nlohmann::json& report) {
  std::string text;
  for (const char* key : {"block", "thread"}) {
    if (!report.contains(key) || !report[key].is_array()) continue;
    std::string numbers;
    for (const nlohmann::json& number : report[key]) base::add_word(numbers, number.dump());
    base::add_word(text, std::string(key) + " (" + numbers + ")");
  }
  return text;
}

Finding checker_finding(const course::Lab& lab, const nlohmann::json& report) {
  Finding finding;
  std::string what, kind;
  course::read_field(report, "checker", finding.kind);
  course::read_field(report, "kind", kind);
  course::read_field(report, "text", what);
  course::read_field(report, "file", finding.file);
  course::read_field(report, "line", finding.line);
  course::read_field(report, "advice", finding.advice);
  const std::string kernel = base::short_function_name(course::text_or_empty(report, "kernel"));
  const std::string thread = thread_text(report);
  finding.text = kind + (kernel.empty() ? "" : " in " + kernel) +
                 (thread.empty() ? "" : ", " + thread) + ": " + what;
  std::string tag = kind;
  std::replace(tag.begin(), tag.end(), ' ', '-');
  finding.hint_tag = first_known_tag(lab, {tag, finding.kind});
  return finding;
}

/// The tags that fit, best first. What faulted or hung says more than the test that happened to be
/// running.
std::vector<std::string> tags_of(const course::Stage& stage, Verdict verdict, course::Cause abort,
                                 const course::TestOutcome* test) {
  const std::string tag = test == nullptr ? "" : test->hint_tag;
  const auto name = [](course::Cause cause) { return std::string(to_string(cause)); };
  if (verdict == Verdict::kSlow) return {"slow-" + stage.name};
  if (verdict == Verdict::kAmbiguous) return {tag, "slow-" + stage.name};
  if (course::row_of(verdict).ends_program) return {name(abort), tag};
  return {tag, test == nullptr ? "" : name(test->cause())};
}

/// Of what CUDA defines: worth knowing, and no fault.
bool is_remark(const nlohmann::json& report) {
  return report.is_object() && report.contains("remark") && report["remark"] == true;
}

bool is_allowed(const course::Lab& lab, int stage, const std::string& kind) {
  const auto& allowed = lab.unsafe.allowed;
  return std::any_of(allowed.begin(), allowed.end(), [&](const course::AllowedFinding& one) {
    return one.kind == kind && (one.stage == 0 || one.stage == stage);
  });
}

}  // namespace

const course::TestOutcome* first_failed(const course::StageMeasurement& measurement) {
  const auto found = std::find_if(measurement.tests.begin(), measurement.tests.end(),
                                  [](const course::TestOutcome& test) { return test.failed(); });
  return found == measurement.tests.end() ? nullptr : &*found;
}

std::string first_known_tag(const course::Lab& lab, const std::vector<std::string>& tags) {
  for (const std::string& tag : tags)
    if (!tag.empty() && lab.hints.contains(tag)) return tag;
  return "";
}

std::vector<Finding> failure_findings(const course::Lab& lab, const course::Stage& stage,
                                      const course::StageMeasurement& measurement,
                                      Verdict verdict) {
  const course::TestOutcome* const test = first_failed(measurement);
  Finding finding;
  finding.kind = course::row_of(verdict).ends_program ? std::string(to_string(measurement.abort))
                                                      : "failed-test";
  if (test != nullptr) {
    finding.test = test->name;
    finding.text = test->message;
  }
  if (finding.text.empty()) finding.text = measurement.abort_text;
  if (finding.test.empty() && finding.text.empty()) return {};
  // A lab's hint about faults is about addresses.
  if (finding.text.find("cudaErrorAssert") != std::string::npos)
    finding.advice =
        "find the threads for which the condition is false: let them printf their "
        "index and what is compared, in front of the assert";
  else
    finding.hint_tag = first_known_tag(lab, tags_of(stage, verdict, measurement.abort, test));
  return {finding};
}

std::vector<Finding> checker_findings(const course::Lab& lab,
                                      const course::StageMeasurement& measurement,
                                      bool at_right_results) {
  std::vector<Finding> all;
  if (!measurement.checks.is_array()) return all;
  for (const checkers::CheckerInfo& checker : checkers::kCheckers) {
    if (!checker.of_kernels || (at_right_results && !checker.at_right_results)) continue;
    for (const nlohmann::json& report : measurement.checks) {
      if (course::text_or_empty(report, "checker") != checker.name || is_remark(report)) continue;
      const std::string kind = course::text_or_empty(report, "kind");
      if (at_right_results && is_allowed(lab, measurement.stage, kind)) continue;
      all.push_back(checker_finding(lab, report));
    }
  }
  return all;
}

std::vector<Finding> remarks(const course::Lab& lab, const course::StageMeasurement& measurement) {
  std::vector<Finding> all;
  if (!measurement.checks.is_array()) return all;
  for (const nlohmann::json& report : measurement.checks) {
    if (!is_remark(report)) continue;
    all.push_back(checker_finding(lab, report));
    all.back().kind = course::kRemark;
  }
  return all;
}

std::vector<Finding> side_findings(const course::StageMeasurement& measurement) {
  std::vector<Finding> all;
  const nlohmann::json& counters = measurement.counters;
  if (counters.is_object() && counters.contains("reports")) {
    for (const nlohmann::json& report : counters["reports"]) {
      if (is_remark(report)) continue;
      Finding finding;
      finding.kind = course::text_or_empty(report, "checker");
      if (finding.kind.empty()) finding.kind = "checker";
      finding.text = course::text_or_empty(report, "text");
      finding.file = course::text_or_empty(report, "file");
      finding.line = static_cast<int>(course::number_or_zero(report, "line", 0, 1e9));
      all.push_back(std::move(finding));
    }
  }
  std::set<std::string> reasons;
  for (const course::Timing& timing : measurement.timings)
    reasons.insert(timing.throttle_reasons.begin(), timing.throttle_reasons.end());
  if (!reasons.empty()) {
    const std::string list = base::joined(reasons);
    all.push_back({"throttled",
                   "The GPU held its clock back while it was measured (" + list +
                       "). Student and reference were timed in turn, so the ratio is fair.",
                   "", "", "", 0});
  }
  return all;
}

namespace {

/// The array that a checker's text is about: "block_sum", "(allocation 3".
std::string array_in(const Finding& finding) {
  static const std::regex kArray(
      R"((?:of|end of|right after) ([A-Za-z_]\w*) \(\d+ bytes of shared|(allocation \d+))");
  std::smatch match;
  if (!std::regex_search(finding.text, match, kArray)) return "";
  return match[1].matched ? match[1].str() : match[2].str();
}

/// Of lanes that a warp's function names and that do not come, or the other way round.
bool is_about_lanes(const Finding& finding) {
  return holds(finding.text, "member mask") || holds(finding.text, "shuffle from a missing lane");
}

/// A place that many threads change, each after it has read it.
bool is_about_atomics(const Finding& finding) {
  return finding.advice.starts_with("use an atomic operation");
}

bool is_same_fault(const Finding& one, const Finding& other) {
  if (one.file != other.file) return false;
  if (is_about_lanes(one) && is_about_lanes(other)) return one.line == other.line;
  if (one.kind != other.kind) return false;
  if (one.kind == "memcheck") {
    // An optimiser moves loads: one without a guard may be told once more at the line of a use that
    // has one.
    const std::string array = array_in(one);
    const bool is_moved =
        !array.empty() && array == array_in(other) && holds(one.text, "out of bounds read") &&
        one.advice.starts_with("the guard is there") && holds(other.advice, "compare the index");
    return one.line == other.line || is_moved ||
           (!one.advice.empty() && one.advice == other.advice);
  }
  if (one.kind == "synccheck") return one.line == other.line;
  if (one.kind == "initcheck") {
    const std::string array = array_in(one);
    return one.line == other.line || (!array.empty() && array == array_in(other));
  }
  if (one.kind != "racecheck") return false;
  if (is_about_atomics(one) != is_about_atomics(other)) {
    // Who reads what many threads change by turns without an atomic has the same cause.
    const Finding& cause = is_about_atomics(one) ? one : other;
    const Finding& effect = is_about_atomics(one) ? other : one;
    return !array_in(one).empty() && array_in(one) == array_in(other) &&
           holds(effect.text, ":" + std::to_string(cause.line) + ";");
  }
  static const std::regex kBarrier(R"(put __sync(?:threads|warp)\(\))");
  return std::regex_search(one.advice, kBarrier) && std::regex_search(other.advice, kBarrier);
}

/// "after line 231, before the next …": of two such, the later line is right for both.
int line_after(const Finding& finding) {
  static const std::regex kAfter(R"(after line (\d+), before the next)");
  std::smatch match;
  return std::regex_search(finding.advice, match, kAfter) ? std::stoi(match[1]) : 0;
}

}  // namespace

void keep_one_a_fault(std::vector<Finding>& findings) {
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    const auto same = finding.test.empty() ? std::find_if(kept.begin(), kept.end(),
                                                          [&](const Finding& other) {
                                                            return other.test.empty() &&
                                                                   is_same_fault(finding, other);
                                                          })
                                           : kept.end();
    if (same == kept.end()) {
      kept.push_back(std::move(finding));
    } else if (is_about_atomics(finding) && !is_about_atomics(*same)) {
      *same = std::move(finding);
    } else if (line_after(finding) > line_after(*same) && line_after(*same) > 0) {
      same->advice = finding.advice;
    }
  }
  findings = std::move(kept);
}

namespace {

using course::SourceLine;

/// A line counts as wasteful from here on: units per request over ideal.
constexpr double kWasteful = 1.25;
/// And only if the reference's own lines of that kind are better by as much.
constexpr double kWorseThanReference = 1.10;
constexpr double kLowOccupancy = 0.25;
/// As fast as the ceiling, and faster than the reference answer, from this share on.
constexpr double kCeilingMargin = 0.01;
/// Of the predicted time, idle multiprocessors.
constexpr double kMostlyIdle = 0.5;

std::string rounded(double number) {
  char text[32];
  const bool whole = std::abs(number - std::round(number)) < 0.05;
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.1f", number);
  return text;
}

/// What a wasteful access is called, explained, and hinted at.
struct Waste {
  const char* access;
  const char* kind;
  const char* tag;
};
constexpr Waste kWastes[] = {{"store", "uncoalesced-store", "write-pattern"},
                             {"load", "uncoalesced-load", "read-pattern"},
                             {"shared load", "bank-conflicts", "bank-conflicts"},
                             {"shared store", "bank-conflicts", "bank-conflicts"},
                             {"constant load", "constant-addresses", "read-pattern"}};

Finding waste_finding(const Waste& waste, const SourceLine& line) {
  Finding finding;
  finding.kind = waste.kind;
  finding.file = line.file;
  finding.line = line.line;
  const std::string of = line.instance.empty() ? "" : " (" + line.instance + ")";
  finding.text = "each " + line.access + " of a warp takes " + rounded(line.per_request) + " " +
                 line.unit + ", ideal " + rounded(line.ideal_per_request) + of + ".";
  if (finding.kind == "bank-conflicts") {
    finding.text += " Lanes that want different words of one bank wait for each other.";
  } else if (finding.kind == "constant-addresses") {
    finding.text += " Constant memory serves one word at a time, to all lanes that want it.";
    finding.advice =
        "read from constant memory only what all lanes of a warp want at the same time; keep what "
        "each lane looks up at a place of its own in shared memory";
  } else {
    finding.text +=
        " A sector is 32 bytes that lie side by side; neighbouring lanes should share it.";
  }
  return finding;
}

/// The lines of one access kind that waste most, if the reference does better.
void add_waste(const course::Lab& lab, const Waste& waste, const std::vector<SourceLine>& lines,
               const std::vector<SourceLine>& reference,
               std::vector<std::pair<double, Finding>>& to) {
  for (const SourceLine& line : lines) {
    if (line.access != waste.access || line.ideal_per_request <= 0) continue;
    if (line.per_request < kWasteful * line.ideal_per_request) continue;
    const double reference_units = units_per_request(reference, line.instance, waste.access);
    if (reference_units > 0 && line.per_request < kWorseThanReference * reference_units) continue;
    Finding finding = waste_finding(waste, line);
    finding.hint_tag = first_known_tag(lab, {waste.tag});
    const double lost =
        (line.per_request - line.ideal_per_request) * static_cast<double>(line.requests);
    to.emplace_back(lost, std::move(finding));
  }
}

std::vector<Finding> waste_findings(const course::Lab& lab, const nlohmann::json& counters,
                                    const std::vector<SourceLine>& lines) {
  std::vector<SourceLine> reference;
  if (counters.is_object() && counters.contains("reference"))
    reference = source_lines(counters["reference"], CountedBy::kPtx);
  std::vector<std::pair<double, Finding>> weighed;
  for (const Waste& waste : kWastes) add_waste(lab, waste, lines, reference, weighed);
  std::stable_sort(weighed.begin(), weighed.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Finding> all;
  for (const auto& entry : weighed) {
    const Finding& finding = entry.second;
    // A line is told once, for the template instance in which it wastes most.
    const bool told = std::any_of(all.begin(), all.end(), [&](const Finding& other) {
      return other.kind == finding.kind && other.file == finding.file && other.line == finding.line;
    });
    if (!told) all.push_back(finding);
  }
  return all;
}

/// How large `rule`'s gain is for the reference answer's own kernels; 1 where it has none.
double gain_of_reference(const nlohmann::json& counters, const std::string& rule) {
  double gain = 1;
  if (!counters.contains("reference")) return gain;
  for (const course::KernelProfile& kernel : profiles(counters["reference"]))
    for (const course::SpeedAdvice& advice : kernel.advice)
      if (advice.rule == rule) gain = std::max(gain, advice.gain);
  return gain;
}

/// What the clock says of the kernel that takes longest, but for what the reference answer, which
/// sets the bar, has as well.
std::vector<Finding> advice_findings(const course::Lab& lab, const nlohmann::json& counters) {
  std::vector<Finding> all;
  const auto kernels = profiles(counters);
  const auto longest = std::max_element(kernels.begin(), kernels.end(), [](auto& a, auto& b) {
    return a.predicted_ns * a.launches < b.predicted_ns * b.launches;
  });
  if (longest == kernels.end()) return all;
  for (const course::SpeedAdvice& advice : longest->advice) {
    if (advice.gain < kWorseThanReference * gain_of_reference(counters, advice.rule)) continue;
    Finding finding;
    finding.kind = advice.rule;
    finding.text = rounded(advice.gain) + " times as fast without " + advice.fault + ": " +
                   advice.what + " (predicted)";
    finding.file = advice.file;
    finding.line = advice.line;
    finding.advice = advice.remedy;
    const char* const pattern = advice.what.starts_with("store") ? "write-pattern" : "read-pattern";
    const bool of_sectors = advice.counter == "theoretical_global_sectors";
    finding.hint_tag = first_known_tag(lab, {of_sectors ? pattern : advice.rule});
    all.push_back(std::move(finding));
  }
  return all;
}

/// Bytes that the kernels of the first case store to global memory, and the line that stores most.
struct Stored {
  double bytes = 0, most = 0;
  std::string file;
  int line = 0;
};
Stored stored(const nlohmann::json& counters) {
  Stored all;
  for (const nlohmann::json* one : kernels_of_first_case(counters)) {
    const nlohmann::json& kernel = *one;
    all.bytes += counted_in_ptx(kernel["counters"], "global_store_bytes");
    for (const nlohmann::json& line : kernel.value("lines", nlohmann::json::array())) {
      if (!line.is_object() || !line.contains("counters")) continue;
      const double bytes = counted_in_ptx(line["counters"], "global_store_bytes");
      if (bytes <= all.most) continue;
      all.most = bytes;
      all.file = course::text_or_empty(line, "file");
      all.line = static_cast<int>(course::number_or_zero(line, "line", 0, 1e9));
    }
  }
  return all;
}

/// Of a kernel that stores its results several times: threads that do each other's work.
std::vector<Finding> repeated_work(const nlohmann::json& counters) {
  constexpr double kRepeated = 1.8;
  // With fewer it is something else: a counter that is cleared beside a sum of 4 bytes, say.
  constexpr double kMuch = 4096;
  if (!counters.is_object() || !counters.contains("reference")) return {};
  const Stored student = stored(counters), reference = stored(counters["reference"]);
  if (reference.bytes <= 0 || student.bytes < kRepeated * reference.bytes) return {};
  if (student.bytes - reference.bytes < kMuch) return {};
  return {
      {"repeated-work",
       "the kernel stores " + rounded(student.bytes / reference.bytes) +
           " times as many bytes as the reference answer: each result is computed and stored "
           "more than once",
       "", "", student.file, student.line,
       "let no two threads take the same element: a loop over elements starts at the thread's "
       "number in the grid and strides by gridDim.x * blockDim.x, one over batches of a block "
       "starts at blockIdx.x and strides by gridDim.x. Where one thread stores an element in each "
       "round of a loop, let it add up in a variable and store once, after the loop"}};
}

Finding similar_finding(const course::Lab& lab, const course::Stage& stage, int similar) {
  Finding finding;
  finding.kind = "similar-stage";
  const course::Stage* const other = lab.stage(similar);
  const std::string title = other == nullptr ? "" : " (" + other->title + ")";
  finding.text = "Your kernel is about as fast as the reference answer of stage " +
                 std::to_string(similar) + title + ".";
  finding.text += similar < stage.number ? " What this stage adds to that one is not at work yet."
                                         : " So the idea is there; something else costs time.";
  return finding;
}

void add_kernel_facts(const course::Lab& lab, const course::StageMeasurement& measurement,
                      std::vector<Finding>& to) {
  std::set<std::string> told;  // a kernel may be listed once per type and size
  for (const Finding& finding : to) told.insert(finding.kind);  // by the clock, with its line
  for (const course::KernelFacts& kernel : measurement.kernels) {
    if (kernel.local_bytes > 0 && told.insert("local-memory").second) {
      to.push_back({"local-memory",
                    kernel.name + " keeps " + base::counted(kernel.local_bytes, "byte") +
                        " per thread in local memory, which lies in device memory: an array "
                        "indexed with a variable, or more values than registers.",
                    first_known_tag(lab, {"local-memory", "registers"}), "", "", 0,
                    "index such an array with constants alone (unroll the loop that walks it), or "
                    "give each thread fewer values"});
    }
    if (kernel.occupancy > 0 && kernel.occupancy < kLowOccupancy &&
        told.insert("low-occupancy").second) {
      to.push_back(
          {"low-occupancy",
           kernel.name + " fills only " + rounded(100 * kernel.occupancy) +
               " % of each multiprocessor's warps (" + base::counted(kernel.registers, "register") +
               " per thread, " +
               base::counted(kernel.static_shared_bytes + kernel.dynamic_shared_bytes, "byte") +
               " of shared memory per block): few warps are there to hide waiting.",
           first_known_tag(lab, {"occupancy"}), "", "", 0});
    }
  }
}

/// How much of the predicted time of a stage's slowest case is idle multiprocessors, 0 to 1.
double idle_share(const std::vector<course::KernelProfile>& kernels,
                  const std::vector<course::Timing>& timings) {
  const course::Timing* const slowest = course::slowest(timings);
  double idle_ns = 0, all_ns = 0;
  for (const course::KernelProfile& kernel : kernels) {
    if (slowest != nullptr && !kernel.label.empty() && kernel.label != slowest->label) continue;
    all_ns += kernel.launches * kernel.predicted_ns;
    for (const course::TimeBound& bound : kernel.bounds)
      if (bound.name == vgpu::timing::to_string(vgpu::timing::BoundKind::kIdleSms))
        idle_ns += kernel.launches * bound.ns;
  }
  return all_ns > 0 ? std::min(1.0, idle_ns / all_ns) : 0;
}

}  // namespace

std::vector<Finding> speed_findings(const course::Lab& lab, const course::Stage& stage,
                                    const course::StageMeasurement& measurement,
                                    const std::vector<SourceLine>& lines) {
  std::vector<Finding> all = advice_findings(lab, measurement.counters);
  const bool is_told = std::any_of(
      all.begin(), all.end(), [](const Finding& finding) { return finding.kind == "work-twice"; });
  // The cause of whatever else costs time; the clock sees it where no loop hides it.
  if (auto repeated = repeated_work(measurement.counters); !is_told && !repeated.empty())
    return repeated;
  if (all.empty()) all = waste_findings(lab, measurement.counters, lines);
  if (measurement.similar_stage > 0)
    all.push_back(similar_finding(lab, stage, measurement.similar_stage));
  add_kernel_facts(lab, measurement, all);
  return all;
}

std::vector<Finding> edge_findings(const course::StageMeasurement& measurement,
                                   const course::StageResult& result) {
  std::vector<Finding> all;
  if (measurement.device.virtual_name.empty() || !result.speed || !result.ratio) return all;
  if (result.ceiling && *result.speed >= (1 - kCeilingMargin) * *result.ceiling) {
    const bool passes_reference = *result.ratio > 1 + kCeilingMargin;
    all.push_back({std::string(passes_reference ? course::kBeyondReference : course::kNearCeiling),
                   std::string("the predicted speed is the ceiling's: the most that the same model "
                               "predicts for a plain copy or for the reference answer") +
                       (passes_reference ? ". Only a GPU can tell how fast it really is." : "."),
                   "", "", "", 0});
  }
  const nlohmann::json& counters = measurement.counters;
  const double idle = idle_share(profiles(counters), measurement.timings);
  const double reference_idle =
      counters.is_object() && counters.contains("reference")
          ? idle_share(profiles(counters["reference"]), measurement.timings)
          : 0;
  if (idle > kMostlyIdle && reference_idle <= kMostlyIdle)
    all.push_back({std::string(course::kMostlyIdleSms),
                   "most multiprocessors idle for " + rounded(100 * idle) +
                       " % of the predicted time, because the blocks are few or uneven; of such "
                       "work predictions are least exact.",
                   "", "", "", 0});
  return all;
}

}  // namespace membound::judge
