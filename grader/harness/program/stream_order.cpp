// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/stream_order.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "grader/base/demangle.hpp"

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;

constexpr std::uint32_t kDefaultStream = 0;

/// How many operations of each stream's work are done.
using Clock = std::map<std::uint32_t, std::uint64_t>;

void join(Clock& clock, const Clock& other) {
  for (const auto& [stream, count] : other) clock[stream] = std::max(clock[stream], count);
}

/// A stretch of device memory that an operation uses.
struct Use {
  std::uint64_t begin = 0, end = 0;
  bool writes = false;
};
bool meet(const Use& a, const Use& b) {
  return (a.writes || b.writes) && a.begin < b.end && b.begin < a.end;
}

/// "(float*, std::pair<int, int> const*)": a parameter each.
std::vector<std::string_view> parameters_of(std::string_view list) {
  std::vector<std::string_view> all;
  if (list.size() < 2) return all;
  list = list.substr(1, list.size() - 2);
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && (list[i] == '(' || list[i] == '<')) ++depth;
    if (i < list.size() && (list[i] == ')' || list[i] == '>')) --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    all.push_back(list.substr(start, i - start));
    start = i + 1;
  }
  return all;
}

std::vector<Use> uses_of(const Call& call) {
  if (!call.succeeded()) return {};
  std::vector<Use> uses;
  switch (call.kind) {
    case CallKind::kCopyOnDevice:
      for (const std::uint64_t from : call.arguments)
        uses.push_back({from, from + call.bytes, false});
      [[fallthrough]];
    case CallKind::kCopyIn:
    case CallKind::kFill:
    case CallKind::kAllocateInOrder:  // before it is there, and when it is gone, nobody may use it
    case CallKind::kFreeInOrder:
      uses.push_back({call.address, call.address + call.bytes, true});
      return uses;
    case CallKind::kCopyOut:
      return {{call.address, call.address + call.bytes, false}};
    case CallKind::kLaunch: {
      // The parameters of an extern "C" kernel are unknown; it is taken to read.
      const std::string list = base::parse_function_name(call.kernel).parameters;
      const auto parameters = parameters_of(list);
      for (std::size_t i = 0; i < call.arguments.size(); ++i)
        if (call.arguments[i] != 0)
          uses.push_back({call.arguments[i], call.arguments[i] + 1,
                          i < parameters.size() && parameters[i].ends_with('*') &&
                              !parameters[i].ends_with("const*")});
      return uses;
    }
    default:
      return {};
  }
}

/// What is known to be done wherever something new may begin.
class Order {
 public:
  /// What is done before the call's stream goes on; for work, before it begins.
  Clock& before(std::uint32_t stream) {
    Clock& clock = streams_[stream];
    join(clock, host_);
    if (stream == kDefaultStream) {
      for (const auto& [other, theirs] : streams_)
        if (other != stream && !non_blocking_.contains(other)) join(clock, theirs);
    } else if (!non_blocking_.contains(stream)) {
      join(clock, streams_[kDefaultStream]);
    }
    return clock;
  }

  void follow(const Call& call) {
    if (!call.succeeded()) return;
    switch (call.kind) {
      case CallKind::kCreateStream:
        if (call.non_blocking) non_blocking_.insert(call.stream);
        return;
      case CallKind::kRecordEvent:
        events_[call.event] = before(call.stream);
        return;
      case CallKind::kStreamWaits: {
        Clock& clock = before(call.stream);
        join(clock, events_[call.event]);
        return;
      }
      case CallKind::kWaitEvent:
      case CallKind::kAskEvent:
        host_sees(events_[call.event]);
        return;
      case CallKind::kWaitStream:
      case CallKind::kAskStream:
        host_sees(before(call.stream));
        return;
      case CallKind::kWaitDevice:
        for (const auto& [stream, clock] : streams_) host_sees(clock);
        return;
      case CallKind::kFree:  // waits for the device, too
      case CallKind::kFreeOfHost:
        for (const auto& [stream, clock] : streams_) join(host_, clock);
        return;
      default:
        if (call.host_waits) host_sees(before(call.stream));
    }
  }

  /// Whether the host has waited for the operation of that number, but for waits that free memory.
  [[nodiscard]] bool host_has_seen(std::uint32_t stream, std::uint64_t number) const {
    const auto found = seen_.find(stream);
    return found != seen_.end() && found->second >= number;
  }

 private:
  void host_sees(const Clock& clock) {
    join(host_, clock);
    join(seen_, clock);
  }

  std::map<std::uint32_t, Clock> streams_;
  std::map<std::uint32_t, Clock> events_;
  std::set<std::uint32_t> non_blocking_;
  Clock host_;  ///< done before whatever the host hands in next
  Clock seen_;  ///< done before the host goes on from a wait of its own
};

struct Work {
  std::size_t index;
  std::uint32_t stream;
  std::uint64_t number;  ///< in its stream, from 1
  std::vector<Use> uses;
};

bool uses_meet(const std::vector<Use>& a, const std::vector<Use>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Use& one) {
    return std::any_of(b.begin(), b.end(), [&](const Use& other) { return meet(one, other); });
  });
}

/// What was done with memory that lay there before is no business of the new owner's.
bool is_new_memory(const Call& call) {
  return call.succeeded() &&
         (call.kind == CallKind::kAllocate || call.kind == CallKind::kAllocateInOrder);
}
bool lies_in(const Use& use, const Call& memory) {
  return use.begin >= memory.address && use.end <= memory.address + memory.bytes;
}

}  // namespace

std::optional<Unordered> first_unordered(const std::vector<Call>& calls) {
  Order order;
  std::vector<Work> past;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    if (is_new_memory(call))
      for (Work& work : past)
        std::erase_if(work.uses, [&](const Use& use) { return lies_in(use, call); });
    Work work{i, call.stream, 0, uses_of(call)};
    if (!work.uses.empty()) {
      Clock& clock = order.before(call.stream);
      for (const Work& other : past) {
        const auto done = clock.find(other.stream);
        const bool is_done = done != clock.end() && done->second >= other.number;
        if (!is_done && uses_meet(other.uses, work.uses)) return Unordered{other.index, i};
      }
      work.number = ++clock[call.stream];
      past.push_back(std::move(work));
    }
    order.follow(call);
  }
  return {};
}

std::optional<std::size_t> first_unawaited(const std::vector<Call>& calls) {
  struct Copy {
    std::size_t index;
    std::uint32_t stream;
    std::uint64_t number;
  };
  Order order;
  std::vector<Copy> copies;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    if (call.kind == CallKind::kCopyOut && call.succeeded() && call.bytes > 0)
      copies.push_back({i, call.stream, ++order.before(call.stream)[call.stream]});
    order.follow(call);
  }
  const auto found = std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) {
    return !order.host_has_seen(copy.stream, copy.number);
  });
  return found == copies.end() ? std::nullopt : std::optional(found->index);
}

std::optional<double> least_time_ns(const std::vector<Call>& calls, bool kernels_in_turn) {
  if (calls.size() > kMostCallsFollowed) return {};
  struct Done {
    std::vector<Use> uses;
    double done_ns;
  };
  std::vector<Done> past;
  std::map<CallKind, double> part_free_ns;  // of the device: each direction of copies, kernels
  double all_done_ns = 0;
  for (const Call& call : calls) {
    if (is_new_memory(call))
      for (Done& operation : past)
        std::erase_if(operation.uses, [&](const Use& use) { return lies_in(use, call); });
    if (!call.succeeded() || !runner::is_work(call.kind)) continue;
    Done operation{uses_of(call), 0};
    for (const Done& other : past)
      if (uses_meet(other.uses, operation.uses))
        operation.done_ns = std::max(operation.done_ns, other.done_ns);
    const bool in_turn = call.kind == CallKind::kCopyIn || call.kind == CallKind::kCopyOut ||
                         (kernels_in_turn && call.kind == CallKind::kLaunch);
    if (in_turn) operation.done_ns = std::max(operation.done_ns, part_free_ns[call.kind]);
    operation.done_ns += call.end_ns - call.start_ns;
    if (in_turn) part_free_ns[call.kind] = operation.done_ns;
    all_done_ns = std::max(all_done_ns, operation.done_ns);
    past.push_back(std::move(operation));
  }
  return all_done_ns;
}

}  // namespace membound::harness
