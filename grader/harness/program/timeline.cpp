// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/timeline.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>

#include "grader/base/demangle.hpp"
#include "grader/base/strings.hpp"
#include "grader/harness/program/stream_order.hpp"

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;

double copy_time(const Case& c) {
  double all = 0, copies = 0;
  for (const Call& call : c.calls) {
    if (!call.succeeded() || !runner::is_work(call.kind)) continue;
    const double ns = call.end_ns - call.start_ns;
    all += ns;
    if (call.kind == CallKind::kCopyIn || call.kind == CallKind::kCopyOut) copies += ns;
  }
  return all > 0 ? copies / all : 0;
}

struct Count {
  std::string_view name;
  double (*share)(const Case& c);
};
constexpr double kPercent = 100;
constexpr std::array kCounts =
    std::to_array<Count>({{"kernel_time_saved_percent", kernel_time_saved},
                          {"copies_beside_kernels_percent", copies_beside_kernels},
                          {"copy_time_percent", copy_time}});

}  // namespace

bool Case::is_launch(const Call& call) const {
  return call.kind == CallKind::kLaunch && call.succeeded() &&
         base::short_function_name(call.kernel) == kernel;
}

double kernel_time_saved(const Case& c) {
  std::vector<Span> kernels;
  for (const Call& call : c.calls)
    if (c.is_launch(call)) kernels.push_back({call.start_ns, call.end_ns});
  const double alone = total_ns(kernels);
  return alone > 0 ? 1 - covered_ns(kernels) / alone : 0;
}

double copies_beside_kernels(const Case& c) {
  std::vector<Span> kernels, copies;
  for (const Call& call : c.calls) {
    if (!call.succeeded()) continue;
    if (call.kind == CallKind::kLaunch) kernels.push_back({call.start_ns, call.end_ns});
    if (call.kind == CallKind::kCopyIn || call.kind == CallKind::kCopyOut)
      copies.push_back({call.start_ns, call.end_ns});
  }
  const double all = total_ns(copies);
  double beside = 0;
  for (const Span& copy : copies) beside += covered_ns(within(kernels, copy));
  return all > 0 ? beside / all : 0;
}

std::map<std::string, double> program_counts(const std::string& kernel,
                                             const std::vector<runner::Call>& calls) {
  std::map<std::string, double> all;
  for (const Count& count : kCounts)
    all.emplace(count.name, kPercent * count.share({calls, kernel, 0}));
  return all;
}

namespace {

using runner::Call;
using runner::CallKind;

constexpr std::size_t kMostPrinted = 400;
constexpr double kNsPerMs = 1e6;

/// Work beside work: "" where there is at most one operation, or a device without a timeline.
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
    std::snprintf(
        text, sizeof text,
        " of an ideal %.0f %% (%.3g ms: each operation as soon as what it needs is there)",
        100 * (1 - ideal / alone), ideal / kNsPerMs);
    note += text;
  }
  std::snprintf(text, sizeof text, ". Of it kernels %.3g ms, copies in %.3g, copies out %.3g.",
                parts[0] / kNsPerMs, parts[1] / kNsPerMs, parts[2] / kNsPerMs);
  return note + text;
}

constexpr int kTimelineColumns = 56;
constexpr std::size_t kMostRows = 12;

char sign_of(CallKind kind) {
  return kind == CallKind::kCopyIn    ? '>'
         : kind == CallKind::kCopyOut ? '<'
         : kind == CallKind::kLaunch  ? 'K'
                                      : 'm';
}

/// What the device worked on, a row for each stream and a column for each stretch of time; a
/// stretch in which a stream did two things shows the later one. "" as for saving().
std::string drawn(const std::vector<Call>& calls, Timeline timeline) {
  if (timeline == Timeline::kNone) return "";
  double begin = 0, end = 0;
  std::size_t operations = 0;
  for (const Call& call : calls) {
    if (!call.succeeded() || !runner::is_work(call.kind)) continue;
    begin = operations++ == 0 ? call.start_ns : std::min(begin, call.start_ns);
    end = std::max(end, call.end_ns);
  }
  if (operations < 2 || end <= begin) return "";
  std::map<std::uint32_t, std::string> rows;
  const double column_ns = (end - begin) / kTimelineColumns;
  const auto column = [&](double ns) {
    return std::clamp(static_cast<int>((ns - begin) / column_ns), 0, kTimelineColumns - 1);
  };
  for (const Call& call : calls) {
    if (!call.succeeded() || !runner::is_work(call.kind)) continue;
    std::string& row = rows.try_emplace(call.stream, kTimelineColumns, '.').first->second;
    const int first = column(call.start_ns), last = column(call.end_ns - column_ns / 2);
    for (int at = first; at <= std::max(first, last); ++at)
      row[static_cast<std::size_t>(at)] = sign_of(call.kind);
  }
  char head[160];
  std::snprintf(head, sizeof head,
                "The timeline (K kernel, > copy to the device, < copy back; a column is %.3g us):",
                column_ns / 1e3);
  std::string text = head;
  for (const auto& [stream, row] : rows) {
    if (static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) == kMostRows)
      return text + "\nand " + base::counted(rows.size() - kMostRows, "stream") + " more";
    char name[24];
    std::snprintf(name, sizeof name, stream == 0 ? "\ndefault   " : "\nstream %-3u", stream);
    text += name + ("|" + row) + "|";
  }
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
                                   Timeline timeline, bool ended_well) {
  std::vector<std::string> notes = {saving(calls, timeline), drawn(calls, timeline)};
  if (ended_well) {
    for (const Kept& kept : kKept) notes.push_back(left_behind(calls, kept));
    notes.push_back(words(printed));
  }
  std::erase(notes, "");
  return notes;
}

}  // namespace membound::harness
