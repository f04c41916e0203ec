// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/call_rule_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "grader/base/demangle.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/harness/program/data_flow.hpp"
#include "grader/harness/program/stream_order.hpp"
#include "grader/harness/program/timeline.hpp"

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;
using Calls = std::vector<Call>;
using Breach = std::optional<std::string>;

std::string number_text(double number) {
  char text[32];
  constexpr double kRounding = 1e-9;  // of sums of times
  std::snprintf(text, sizeof text, "%.3g", std::abs(number) < kRounding ? 0 : number);
  return text;
}
std::string whole(double number) { return std::to_string(static_cast<long long>(number)); }

/// "launch 2 (scale)": the n-th of the record, as people count.
std::string nth_launch(const Calls& calls, std::size_t index) {
  const auto n =
      std::count_if(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                    [](const Call& call) { return call.kind == CallKind::kLaunch; });
  return "launch " + std::to_string(n) + " (" + base::short_function_name(calls[index].kernel) +
         ")";
}

Breach launches(const Case& c) {
  const auto count = std::count_if(c.calls.begin(), c.calls.end(),
                                   [&](const Call& call) { return c.is_launch(call); });
  if (static_cast<double>(count) >= c.number) return {};
  return c.kernel + " was launched " + base::counted(count, "time") + ", expected at least " +
         whole(c.number) + ".";
}

std::string extents(const std::array<std::uint32_t, 3>& of) {
  return std::to_string(of[0]) + " x " + std::to_string(of[1]);
}

Breach two_dimensions(const Case& c) {
  const Call* seen = nullptr;
  for (const Call& call : c.calls) {
    if (!c.is_launch(call)) continue;
    if (call.grid[1] > 1 && call.block[1] > 1) return {};
    seen = &call;
  }
  if (seen == nullptr) return c.kernel + " was not launched.";
  return c.kernel + " was launched with " + extents(seen->grid) + " blocks of " +
         extents(seen->block) + " threads, expected more than one of both along y.";
}

Breach dynamic_shared_memory(const Case& c) {
  std::uint32_t most = 0;
  for (const Call& call : c.calls)
    if (c.is_launch(call)) most = std::max(most, call.shared_bytes);
  if (most >= c.number) return {};
  return "Launches of " + c.kernel + " gave each block " + base::counted(most, "byte") +
         " of dynamic shared memory at most, expected at least " + whole(c.number) + ".";
}

Breach calls_succeed(const Case& c) {
  for (std::size_t i = 0; i < c.calls.size(); ++i)
    if (!c.calls[i].succeeded())
      return "Call " + std::to_string(i + 1) + " (" + std::string(to_string(c.calls[i].kind)) +
             ") gave CUDA error " + std::to_string(c.calls[i].code) + ".";
  return {};
}

Breach copies_back(const Case& c) {
  double bytes = 0;
  for (const Call& call : c.calls)
    if (call.kind == CallKind::kCopyOut && call.succeeded())
      bytes += static_cast<double>(call.bytes);
  if (bytes >= c.number) return {};
  return whole(bytes) + " bytes were copied from the device to the host, expected at least " +
         whole(c.number) + ".";
}

Breach checks_launches(const Case& c) {
  const std::size_t none = c.calls.size();
  std::size_t unchecked = none;
  for (std::size_t i = 0; i < c.calls.size(); ++i) {
    if (c.calls[i].kind == CallKind::kErrorCheck) unchecked = none;
    if (c.calls[i].kind != CallKind::kLaunch || c.calls[i].graph != 0) continue;
    if (unchecked != none) break;
    unchecked = i;
  }
  if (unchecked == none) return {};
  return "Nobody looked whether " + nth_launch(c.calls, unchecked) + " gave an error.";
}

Breach frees_memory(const Case& c) {
  std::map<std::uint64_t, std::uint64_t> held;
  for (const Call& call : c.calls) {
    if (!call.succeeded()) continue;
    const bool allocates =
        call.kind == CallKind::kAllocate || call.kind == CallKind::kAllocateInOrder;
    if (allocates && call.address != 0)  // of 0 bytes there is none
      held[call.address] = call.bytes;
    if (call.kind == CallKind::kFree || call.kind == CallKind::kFreeInOrder)
      held.erase(call.address);
  }
  if (held.empty()) return {};
  std::uint64_t bytes = 0;
  for (const auto& [address, size] : held) bytes += size;
  return base::counted(held.size(), "allocation") + " with " + base::counted(bytes, "byte") +
         (held.size() == 1 ? " was" : " were") + " left at the end.";
}

/// The place in the record where the event was last recorded before `end`.
std::optional<std::size_t> recorded_at(const Calls& calls, std::uint32_t event, std::size_t end) {
  for (std::size_t i = end; i-- > 0;)
    if (calls[i].kind == CallKind::kRecordEvent && calls[i].succeeded() && calls[i].event == event)
      return i;
  return {};
}

Breach times_with_events(const Case& c) {
  bool asked = false;
  for (std::size_t i = 0; i < c.calls.size(); ++i) {
    const Call& question = c.calls[i];
    if (question.kind != CallKind::kElapsed || !question.succeeded()) continue;
    asked = true;
    const auto first = recorded_at(c.calls, question.event, i);
    const auto second = recorded_at(c.calls, question.second_event, i);
    if (!first || !second || *first > *second) continue;
    for (std::size_t between = *first; between < *second; ++between)
      if (c.is_launch(c.calls[between])) return {};
  }
  return asked ? "The time between two events was asked for, but no launch of " + c.kernel +
                     " lies between them."
               : std::string("No time between two events was asked for with success.");
}

Breach streams(const Case& c) {
  std::set<std::uint32_t> used;
  for (const Call& call : c.calls)
    if (c.is_launch(call)) used.insert(call.stream);
  if (static_cast<double>(used.size()) >= c.number) return {};
  return c.kernel + " was launched in " + base::counted(used.size(), "stream") +
         ", expected at least " + whole(c.number) + ".";
}

Breach kernels_overlap(const Case& c) {
  const double saved = kernel_time_saved(c);
  if (saved >= c.number) return {};
  return "Running kernels side by side saved " + number_text(saved) +
         " of their time on the timeline, expected at least " + number_text(c.number) + ".";
}

Breach copies_overlap(const Case& c) {
  const double share = copies_beside_kernels(c);
  if (share >= c.number) return {};
  return "A kernel ran during " + number_text(share) +
         " of the time that copies took on the timeline, expected at least " +
         number_text(c.number) + ".";
}

Breach stream_waits(const Case& c) {
  double count = 0;
  for (std::size_t i = 0; i < c.calls.size(); ++i) {
    const Call& wait = c.calls[i];
    if (wait.kind != CallKind::kStreamWaits || !wait.succeeded() || wait.graph != 0) continue;
    const auto at = recorded_at(c.calls, wait.event, i);
    if (at && c.calls[*at].stream != wait.stream) ++count;
  }
  if (count >= c.number) return {};
  return "A stream waited for an event of another one " + whole(count) +
         " times, expected at least " + whole(c.number) + ".";
}

/// "launch 2 (scale) in stream 1", "call 7 (copy-in) in the default stream".
std::string named_work(const Calls& calls, std::size_t index) {
  const Call& call = calls[index];
  const std::string name =
      call.kind == CallKind::kLaunch
          ? nth_launch(calls, index)
          : "call " + std::to_string(index + 1) + " (" + std::string(to_string(call.kind)) + ")";
  return name + " in " +
         (call.stream == 0 ? "the default stream" : "stream " + std::to_string(call.stream));
}

Breach orders_work(const Case& c) {
  if (c.calls.size() > kMostCallsFollowed)
    return "The program made " + base::counted(c.calls.size(), "call") +
           "; whether its work is ordered is followed through " +
           std::to_string(kMostCallsFollowed) + ".";
  const auto pair = first_unordered(c.calls);
  if (!pair) {
    const auto copy = first_unawaited(c.calls);
    if (!copy) return {};
    return "The host never waited for " + named_work(c.calls, *copy) +
           ", so what it reads may not have arrived; freeing memory comes too late.";
  }
  return "Nothing orders " + named_work(c.calls, pair->earlier) + " and " +
         named_work(c.calls, pair->later) + ", and both use the same memory, one of them to write.";
}

Breach host_waits(const Case& c) {
  const auto count = std::count_if(c.calls.begin(), c.calls.end(),
                                   [](const Call& call) { return call.host_waits; });
  if (static_cast<double>(count) <= c.number) return {};
  return "The host waited for the device " + base::counted(count, "time") + ", expected at most " +
         whole(c.number) + ".";
}

Breach graph_launches(const Case& c) {
  std::set<std::uint32_t> with_kernel;
  for (const Call& call : c.calls)
    if (call.graph != 0 && c.is_launch(call)) with_kernel.insert(call.graph);
  std::map<std::uint32_t, double> count;
  double most = 0;
  for (const Call& call : c.calls)
    if (call.kind == CallKind::kLaunchGraph && call.succeeded() && with_kernel.contains(call.graph))
      most = std::max(most, ++count[call.graph]);
  if (most >= c.number) return {};
  const std::string launched = whole(most) + " " + base::noun_after(most, "time"),
                    expected =
                        "; expected one that is launched at least " + whole(c.number) + " times.";
  if (count.empty()) return "No graph with " + c.kernel + " was launched" + expected;
  if (count.size() == 1)
    return "The graph with " + c.kernel + " was launched " + launched + expected;
  return std::to_string(count.size()) + " graphs with " + c.kernel +
         " were launched, each of them " + (most > 1 ? "at most " : "") + launched + expected;
}

/// Which calls a decision is about.
enum class About {
  kAllCalls,
  kWorkThatArrived,  ///< all but work of which nothing came into the results
  kTimedWork         ///< as that, with launches that do the same once more
};
struct Decision {
  std::string_view name;
  Breach (*decide)(const Case& c);
  About about = About::kAllCalls;
};
constexpr std::array kDecisions = std::to_array<Decision>(
    {{"launches", launches, About::kWorkThatArrived},
     {"two-dimensions", two_dimensions, About::kWorkThatArrived},
     {"dynamic-shared-memory", dynamic_shared_memory, About::kWorkThatArrived},
     {"calls-succeed", calls_succeed},
     {"copies-back", copies_back, About::kWorkThatArrived},
     {"checks-launches", checks_launches},
     {"frees-memory", frees_memory},
     {"times-with-events", times_with_events, About::kTimedWork},
     {"streams", streams, About::kWorkThatArrived},
     {"kernels-overlap", kernels_overlap, About::kWorkThatArrived},
     {"copies-overlap", copies_overlap, About::kWorkThatArrived},
     {"stream-waits", stream_waits},
     {"orders-work", orders_work},
     {"host-waits", host_waits},
     {"graph-launches", graph_launches, About::kWorkThatArrived}});

/// A sentence about launches of the kernel that do not count, with a space before it; or "".
std::string left_out(const Evidence& evidence, const Case& all, const Case& kept) {
  const auto count = [](const Case& c) {
    return std::ranges::count_if(c.calls, [&](const Call& call) { return c.is_launch(call); });
  };
  const auto gone = count(all) - count(kept);
  if (evidence.arrived.empty() || gone == 0) return "";
  return " Of its " + base::counted(count(all), "launch") + " " + std::to_string(gone) +
         (gone == 1 ? " does" : " do") + " not count: nothing that it wrote came into the results.";
}

/// For each call whether it is work that came into the results, or a launch that read and wrote the
/// very same places as one that did: a kernel may be timed in several launches, the last of which
/// writes what all of them write.
std::vector<bool> does_the_work(const Evidence& evidence) {
  const auto key = [&](const Call& call, std::size_t work) {
    std::vector<std::array<std::uint64_t, 3>> places;
    if (work < evidence.uses.size())
      for (const runner::MemoryUse& use : evidence.uses[work])
        places.push_back({use.begin, use.end, use.writes ? 1U : 0U});
    return std::pair(call.kernel, places);
  };
  std::set<std::pair<std::string, std::vector<std::array<std::uint64_t, 3>>>> done;
  for (const bool second_time : {false, true}) {
    std::vector<bool> all;
    std::size_t work = 0;
    for (const Call& call : evidence.calls) {
      const bool is_launch = call.kind == CallKind::kLaunch && call.succeeded();
      const std::size_t now = has_worked(call) ? work++ : work;
      const bool arrived =
          has_worked(call) && (evidence.arrived.empty() || evidence.arrived.at(now));
      if (is_launch && arrived) done.insert(key(call, now));
      all.push_back(arrived || (is_launch && done.contains(key(call, now))));
    }
    if (second_time) return all;
  }
  return {};
}

std::vector<MeasuredTime> measured_times(const Evidence& evidence, const std::string& kernel) {
  std::vector<MeasuredTime> all;
  std::vector<std::size_t> work_of;  // of each call: how many before it have worked
  std::size_t work = 0;
  for (const Call& call : evidence.calls) work_of.push_back(has_worked(call) ? work++ : work);
  const Case c{evidence.calls, kernel, 0};
  const std::vector<bool> counts = does_the_work(evidence);
  for (std::size_t i = 0; i < c.calls.size(); ++i) {
    const Call& question = c.calls[i];
    if (question.kind != CallKind::kElapsed || !question.succeeded()) continue;
    const auto first = recorded_at(c.calls, question.event, i);
    const auto second = recorded_at(c.calls, question.second_event, i);
    if (!first || !second || *first > *second) continue;
    MeasuredTime time{question.end_ns, 0, 0, 0};
    bool is_known = true;
    for (std::size_t at = *first; at < *second; ++at) {
      if (!c.is_launch(c.calls[at]) || !counts[at]) continue;
      ++time.launches;
      if (work_of[at] >= evidence.uses.size()) continue;
      for (const runner::MemoryUse& use : evidence.uses[work_of[at]]) {
        is_known = is_known && !use.is_anywhere();
        (use.writes ? time.written_bytes : time.read_bytes) +=
            static_cast<double>(use.end - use.begin);
      }
    }
    if (!is_known) time.read_bytes = time.written_bytes = 0;
    if (time.launches > 0) all.push_back(time);
  }
  return all;
}

/// The calls without work that a decision is not about.
Calls that_count(const Evidence& evidence, About about) {
  const std::vector<bool> works =
      about == About::kTimedWork ? does_the_work(evidence) : std::vector<bool>();
  Calls kept;
  std::size_t work = 0;
  for (std::size_t i = 0; i < evidence.calls.size(); ++i) {
    const Call& call = evidence.calls[i];
    const bool arrived = !has_worked(call) || evidence.arrived.at(work++);
    if (arrived || (!works.empty() && works[i])) kept.push_back(call);
  }
  return kept;
}

Breach decide(const course::CallDemand& demand, const std::string& kernel,
              const Evidence& evidence) {
  if (demand.rule->name == "device-results")
    return evidence.not_the_devices.empty() ? Breach() : evidence.not_the_devices;
  if (demand.rule->name == "compares-results")
    return evidence.not_noticed.empty() ? Breach() : evidence.not_noticed;
  if (demand.rule->name == "printed-figures")
    return invented_figure(evidence.printed, measured_times(evidence, kernel));
  const auto found = std::ranges::find(kDecisions, demand.rule->name, &Decision::name);
  MEMBOUND_CHECK(found != kDecisions.end());
  const Case all{evidence.calls, kernel, demand.number};
  if (evidence.arrived.empty() || found->about == About::kAllCalls) return found->decide(all);
  const Calls kept = that_count(evidence, found->about);
  const Case counted{kept, kernel, demand.number};
  Breach breach = found->decide(counted);
  if (breach) *breach += left_out(evidence, all, counted);
  return breach;
}

}  // namespace

std::optional<std::string> breach_of(const course::CallDemand& demand, const std::string& kernel,
                                     const Evidence& evidence) {
  auto breach = decide(demand, kernel, evidence);
  if (breach) *breach += " " + std::string(demand.rule->remedy);
  return breach;
}

}  // namespace membound::harness
