// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/data_flow.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;
using runner::MemoryUse;

/// The piece of work that wrote each place of memory last.
class LastWriters {
 public:
  void write(std::uint64_t begin, std::uint64_t end, std::size_t work) {
    if (begin >= end) return;
    split(begin);
    split(end);
    stretches_.erase(stretches_.lower_bound(begin), stretches_.lower_bound(end));
    stretches_[begin] = {end, work};
  }
  /// Calls see(work) for each writer of [begin, end); returns whether all of it was written.
  template <typename See>
  bool each(std::uint64_t begin, std::uint64_t end, See see) const {
    auto at = stretches_.upper_bound(begin);
    if (at != stretches_.begin() && std::prev(at)->second.end > begin) --at;
    bool is_whole = true;
    for (; at != stretches_.end() && at->first < end; ++at) {
      is_whole = is_whole && at->first <= begin;
      begin = at->second.end;
      see(at->second.work);
    }
    return is_whole && begin >= end;
  }

 private:
  struct Stretch {
    std::uint64_t end = 0;
    std::size_t work = 0;
  };
  /// No stretch goes on across this address.
  void split(std::uint64_t address) {
    auto at = stretches_.lower_bound(address);
    if (at == stretches_.begin()) return;
    --at;
    if (at->second.end <= address) return;
    stretches_[address] = at->second;
    at->second.end = address;
  }

  std::map<std::uint64_t, Stretch> stretches_;  // by their begin
};

std::vector<MemoryUse> memory_uses_of(const Call& call) {
  const MemoryUse own{call.address, call.address + call.bytes, call.kind != CallKind::kCopyOut};
  if (call.kind == CallKind::kLaunch) return call.uses;
  if (call.kind != CallKind::kCopyOnDevice || call.arguments.empty()) return {own};
  const std::uint64_t from = call.arguments.front();
  return {{from, from + call.bytes, false}, own};
}

}  // namespace

DataFlow follow_data(const std::vector<Call>& calls, const std::vector<bool>& wanted) {
  DataFlow flow;
  LastWriters writers;
  std::vector<std::set<std::size_t>> read_from;  // by work
  std::vector<std::size_t> open;
  std::vector<CallKind> kinds;
  std::size_t copies = 0;
  for (const Call& call : calls) {
    if (!has_worked(call)) continue;
    const std::size_t work = kinds.size();
    kinds.push_back(call.kind);
    read_from.emplace_back();
    bool is_known = true;
    const std::vector<MemoryUse> uses = memory_uses_of(call);
    for (const MemoryUse& use : uses)
      if (!use.writes)
        is_known &= writers.each(use.begin, use.end,
                                 [&](std::size_t writer) { read_from[work].insert(writer); });
    for (const MemoryUse& use : uses)
      if (use.writes) writers.write(use.begin, use.end, work);
    if (call.kind != CallKind::kCopyOut) continue;
    const bool is_wanted = copies < wanted.size() && wanted[copies];
    ++copies;
    if (!is_wanted) continue;
    open.push_back(work);
    flow.took_unwritten = flow.took_unwritten || !is_known;
    for (const std::size_t writer : read_from[work]) {
      flow.took_copied_in = flow.took_copied_in || kinds[writer] == CallKind::kCopyIn;
      flow.took_filled = flow.took_filled || kinds[writer] == CallKind::kFill;
    }
  }
  flow.arrived.assign(kinds.size(), false);
  while (!open.empty()) {
    const std::size_t work = open.back();
    open.pop_back();
    if (flow.arrived[work]) continue;
    flow.arrived[work] = true;
    open.insert(open.end(), read_from[work].begin(), read_from[work].end());
  }
  return flow;
}

}  // namespace membound::harness
