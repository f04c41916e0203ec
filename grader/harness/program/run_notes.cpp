// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/run_notes.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "grader/base/printable.hpp"
#include "grader/harness/program/spans.hpp"

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;

constexpr std::size_t kMostPrinted = 400;
constexpr double kNsPerMs = 1e6;

/// Work beside work: "" where there is at most one piece, or a device without a timeline.
std::string saving(const std::vector<Call>& calls) {
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
      "saved. Of it kernels %.3g ms, copies in %.3g, copies out %.3g.",
      alone / kNsPerMs, ran / kNsPerMs, 100 * (1 - ran / alone), parts[0] / kNsPerMs,
      parts[1] / kNsPerMs, parts[2] / kNsPerMs);
  return text;
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
                                   bool tells_timeline) {
  std::vector<std::string> notes = {tells_timeline ? saving(calls) : ""};
  for (const Kept& kept : kKept) notes.push_back(left_behind(calls, kept));
  notes.push_back(words(printed));
  std::erase(notes, "");
  return notes;
}

}  // namespace membound::harness
