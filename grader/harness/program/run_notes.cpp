// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/run_notes.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "grader/base/strings.hpp"
#include "grader/harness/program/spans.hpp"
#include "grader/harness/program/stream_order.hpp"

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;

constexpr std::size_t kMostPrinted = 400;
constexpr double kNsPerMs = 1e6;

/// Work beside work: "" where there is at most one piece, or a device without a timeline.
std::string saving(const std::vector<Call>& calls, Timeline timeline) {
  if (timeline == Timeline::kNone) return "";
  std::vector<Span> all;
  std::array<double, 3> parts{};  // kernels, copies in, copies out: each works beside the others
  for (const Call& call : calls) {
    if (!call.succeeded() || !runner::is_work(call.kind)) continue;
    all.push_back({call.start_ns, call.end_ns});
    const std::size_t part = call.kind == CallKind::kCopyIn    ? 1
                             : call.kind == CallKind::kCopyOut ? 2
                                                               : 0;
    parts[part] += call.end_ns - call.start_ns;
  }
  const double alone = total_ns(all), ran = covered_ns(all);
  if (all.size() < 2 || alone <= 0) return "";
  char text[200];
  std::snprintf(
      text, sizeof text,
      "On the timeline its work takes %.3g ms in turn and took %.3g ms as it ran: %.0f %% "
      "saved",
      alone / kNsPerMs, ran / kNsPerMs, 100 * (1 - ran / alone));
  std::string note = text;
  if (const auto least = least_time_ns(calls, timeline == Timeline::kCopiesBesideKernels)) {
    const double ideal = std::min(*least, ran);
    std::snprintf(text, sizeof text,
                  " of an ideal %.0f %% (%.3g ms: each piece as soon as what it needs is there)",
                  100 * (1 - ideal / alone), ideal / kNsPerMs);
    note += text;
  }
  std::snprintf(text, sizeof text, ". Of it kernels %.3g ms, copies in %.3g, copies out %.3g.",
                parts[0] / kNsPerMs, parts[1] / kNsPerMs, parts[2] / kNsPerMs);
  return note + text;
}

struct Kept {
  CallKind makes, ends;
  std::uint32_t Call::*number;
  const char* what;
  const char* remedy;
};
constexpr Kept kKept[] = {
    {CallKind::kCreateStream, CallKind::kDestroyStream, &Call::stream, "stream",
     "cudaStreamDestroy"},
    {CallKind::kCreateEvent, CallKind::kDestroyEvent, &Call::event, "event", "cudaEventDestroy"},
    {CallKind::kEndCapture, CallKind::kDestroyGraph, &Call::graph, "graph", "cudaGraphDestroy"},
    {CallKind::kInstantiateGraph, CallKind::kDestroyExecutable, &Call::graph, "executable graph",
     "cudaGraphExecDestroy"}};

std::string left_behind(const std::vector<Call>& calls, const Kept& kept) {
  std::set<std::uint32_t> held;
  for (const Call& call : calls) {
    // The streams inside a graph go with it.
    const bool of_graph = call.kind == CallKind::kCreateStream && call.graph != 0;
    if (!call.succeeded() || of_graph) continue;
    if (call.kind == kept.makes) held.insert(call.*kept.number);
    if (call.kind == kept.ends) held.erase(call.*kept.number);
  }
  if (held.empty()) return "";
  const bool one = held.size() == 1;
  return std::to_string(held.size()) + " " + kept.what + (one ? " was" : "s were") +
         " never given back: " + kept.remedy + ". It costs no points.";
}

std::string words(std::string_view printed) {
  std::string text = base::printable(printed.substr(0, kMostPrinted));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty()) return "";
  return "It printed:\n" + text + (printed.size() > kMostPrinted ? " …" : "");
}

}  // namespace

std::vector<std::string> run_notes(const std::vector<Call>& calls, std::string_view printed,
                                   Timeline timeline) {
  std::vector<std::string> notes = {saving(calls, timeline)};
  for (const Kept& kept : kKept) notes.push_back(left_behind(calls, kept));
  notes.push_back(words(printed));
  std::erase(notes, "");
  return notes;
}

}  // namespace membound::harness
