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
  struct Work {
    CallKind kind;
    std::set<std::size_t> reads_from;
    bool reads_unwritten = false;
  };
  LastWriters writers;
  std::vector<Work> all;
  std::vector<std::size_t> asked, anywhere;  // the latter: work that may have written any memory
  std::size_t copies = 0;
  for (const Call& call : calls) {
    if (!has_worked(call)) continue;
    Work work{call.kind, {}, false};
    const std::vector<MemoryUse> uses = memory_uses_of(call);
    for (const MemoryUse& use : uses) {
      if (use.writes) continue;
      const bool is_written = writers.each(
          use.begin, use.end, [&](std::size_t writer) { work.reads_from.insert(writer); });
      work.reads_from.insert(anywhere.begin(), anywhere.end());
      if (!is_written && anywhere.empty()) work.reads_unwritten = true;
    }
    for (const MemoryUse& use : uses) {
      if (!use.writes) continue;
      if (use.is_anywhere())
        anywhere.push_back(all.size());
      else
        writers.write(use.begin, use.end, all.size());
    }
    if (call.kind == CallKind::kCopyOut) {
      if (copies < wanted.size() && wanted[copies]) asked.push_back(all.size());
      ++copies;
    }
    all.push_back(std::move(work));
  }

  DataFlow flow;
  flow.arrived.assign(all.size(), false);
  /// Marks whatever these came through, and only through copies where `copies_only`.
  const auto mark = [&](std::vector<std::size_t> open, std::vector<bool>& marked,
                        bool copies_only) {
    while (!open.empty()) {
      const std::size_t now = open.back();
      open.pop_back();
      if (marked[now]) continue;
      marked[now] = true;
      if (copies_only && all[now].kind == CallKind::kLaunch) continue;
      open.insert(open.end(), all[now].reads_from.begin(), all[now].reads_from.end());
    }
  };
  mark(asked, flow.arrived, false);
  std::vector<bool> copied(all.size(), false);
  mark(asked, copied, true);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!copied[i]) continue;
    flow.took_copied_in = flow.took_copied_in || all[i].kind == CallKind::kCopyIn;
    flow.took_filled = flow.took_filled || all[i].kind == CallKind::kFill;
    flow.took_unwritten =
        flow.took_unwritten || (all[i].kind != CallKind::kLaunch && all[i].reads_unwritten);
  }
  return flow;
}

}  // namespace membound::harness
