// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/data_flow.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "grader/base/demangle.hpp"

namespace membound::harness {
namespace {

using runner::Call;
using runner::CallKind;
using runner::MemoryUse;

/// The operation that wrote each place of memory last.
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

/// An operation of a program, and from which ones before it what it reads came.
struct Operation {
  CallKind kind;
  std::set<std::size_t> reads_from;  ///< places in the list of all
  bool reads_unwritten = false;
};

/// A program's operations in their order, and which of them copied out.
struct Operations {
  std::vector<Operation> all;
  std::vector<std::size_t> copied_out;  ///< places in `all`
};

Operations operations_of(const std::vector<Call>& calls) {
  Operations work;
  LastWriters writers;
  std::vector<std::size_t> anywhere;  // work that may have written any memory
  for (const Call& call : calls) {
    if (!has_worked(call)) continue;
    const std::size_t own = work.all.size();
    Operation& now = work.all.emplace_back(Operation{call.kind, {}, false});
    const std::vector<MemoryUse> uses = memory_uses_of(call);
    for (const MemoryUse& use : uses) {
      if (use.writes) continue;
      const bool is_written = writers.each(
          use.begin, use.end, [&](std::size_t writer) { now.reads_from.insert(writer); });
      now.reads_from.insert(anywhere.begin(), anywhere.end());
      if (!is_written && anywhere.empty()) now.reads_unwritten = true;
    }
    for (const MemoryUse& use : uses) {
      if (!use.writes) continue;
      if (use.is_anywhere())
        anywhere.push_back(own);
      else
        writers.write(use.begin, use.end, own);
    }
    if (call.kind == CallKind::kCopyOut) work.copied_out.push_back(own);
  }
  return work;
}

/// Which operations those of `open` came through, and only through copies where `copies_only`.
std::vector<bool> came_through(const std::vector<Operation>& all, std::vector<std::size_t> open,
                               bool copies_only) {
  std::vector<bool> marked(all.size(), false);
  while (!open.empty()) {
    const std::size_t now = open.back();
    open.pop_back();
    if (marked[now]) continue;
    marked[now] = true;
    if (copies_only && all[now].kind == CallKind::kLaunch) continue;
    open.insert(open.end(), all[now].reads_from.begin(), all[now].reads_from.end());
  }
  return marked;
}

}  // namespace

DataFlow follow_data(const std::vector<Call>& calls, const std::vector<bool>& wanted) {
  const auto [all, copied_out] = operations_of(calls);
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < std::min(copied_out.size(), wanted.size()); ++i)
    if (wanted[i]) asked.push_back(copied_out[i]);

  DataFlow flow;
  flow.arrived = came_through(all, asked, false);
  const std::vector<bool> copied = came_through(all, asked, true);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!copied[i]) continue;
    flow.took_copied_in = flow.took_copied_in || all[i].kind == CallKind::kCopyIn;
    flow.took_filled = flow.took_filled || all[i].kind == CallKind::kFill;
    flow.took_unwritten =
        flow.took_unwritten || (all[i].kind != CallKind::kLaunch && all[i].reads_unwritten);
  }
  return flow;
}

namespace {

using runner::Call;
using runner::CallKind;

/// The places of each word in what was copied back, made when the first is asked for.
class Places {
 public:
  explicit Places(const CopiedBack& back) : back_(back) {}

  /// Of `word`: where the replay has `wanted`, else any; nothing where it was never copied back.
  [[nodiscard]] std::optional<std::size_t> find(std::uint32_t word, std::uint32_t wanted) {
    if (order_.size() != back_.first.size()) {
      order_.resize(back_.first.size());
      std::iota(order_.begin(), order_.end(), std::size_t{0});
      std::ranges::sort(order_, {}, [&](std::size_t place) { return key(place); });
    }
    const std::pair both(word, wanted);
    const auto at =
        std::ranges::lower_bound(order_, both, {}, [&](std::size_t place) { return key(place); });
    if (at != order_.end() && key(*at) == both) return *at;
    if (at != order_.end() && back_.first[*at] == word) return *at;
    if (at != order_.begin() && back_.first[*std::prev(at)] == word) return *std::prev(at);
    return {};
  }

 private:
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> key(std::size_t place) const {
    return {back_.first[place], back_.again[place]};
  }

  const CopiedBack& back_;
  std::vector<std::size_t> order_;
};

std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

/// "kernel soften", "kernels echo and turn"; of those that were launched.
std::string names_of_kernels(const std::vector<Call>& calls) {
  std::set<std::string> names;
  for (const Call& call : calls)
    if (call.kind == CallKind::kLaunch && call.succeeded())
      names.insert(base::short_function_name(call.kernel));
  std::string text = names.size() == 1 ? "kernel " : "kernels ";
  std::size_t told = 0;
  for (const std::string& name : names) {
    if (told > 0) text += told + 1 == names.size() ? " and " : ", ";
    text += name;
    ++told;
  }
  return text;
}

bool any_launch_arrived(const std::vector<Call>& calls, const DataFlow& flow) {
  std::size_t work = 0;
  for (const Call& call : calls)
    if (has_worked(call) && flow.arrived[work++] && call.kind == CallKind::kLaunch) return true;
  return false;
}

std::string source_of(const DataFlow& flow) {
  if (flow.took_copied_in) return "what the host had copied to the device";
  return flow.took_filled ? "what a fill had written" : "memory that nobody has written";
}

}  // namespace

HandedInAgain hand_in_again(std::vector<std::uint32_t> output,
                            const std::vector<std::uint32_t>& expected, const CopiedBack& back) {
  HandedInAgain handed;
  handed.words = std::move(output);
  handed.copies.assign(back.ends.size(), false);
  Places places(back);
  std::size_t next = 0;  // usually the word after the latest one
  for (std::size_t i = 0; i < handed.words.size(); ++i) {
    std::uint32_t& word = handed.words[i];
    const std::uint32_t wanted = i < expected.size() ? expected[i] : 0;
    std::optional<std::size_t> place = next;
    const bool goes_on =
        next < back.first.size() && back.first[next] == word && back.again[next] == wanted;
    if (!goes_on) place = places.find(word, wanted);
    if (!place) {
      if (handed.strangers++ == 0) handed.first_stranger = i;
      continue;
    }
    word = back.again[*place];
    next = *place + 1;
    const auto copy = std::ranges::upper_bound(back.ends, *place) - back.ends.begin();
    handed.copies[static_cast<std::size_t>(copy)] = true;
  }
  return handed;
}

std::string why_not_the_devices(const Replay& replay, const HandedInAgain& handed,
                                const std::vector<std::uint32_t>& expected,
                                const std::string& name) {
  const std::size_t count = handed.words.size();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count && i < expected.size(); ++i)
    if (handed.words[i] != expected[i]) ++wrong;
  const std::string results =
      with_commas(wrong) + " of " + with_commas(count) + " results in \"" + name + "\"";
  const bool launched = std::ranges::any_of(replay.calls, [](const Call& call) {
    return call.kind == CallKind::kLaunch && call.succeeded();
  });
  if (!launched) return results + " are not a kernel's work: no kernel was launched.";
  const std::string kernels = names_of_kernels(replay.calls);
  if (replay.back.first.empty())
    return results + " are not what " + kernels +
           " wrote: nothing was copied from the device to the host.";
  if (handed.strangers > 0)
    return with_commas(handed.strangers) + " of " + with_commas(count) + " results in \"" + name +
           "\" are not what " + kernels +
           " wrote: no copy from the device brought them (the first "
           "is number " +
           with_commas(handed.first_stranger) + ", counted from 0).";
  const DataFlow flow = follow_data(replay.calls, handed.copies);
  if (!any_launch_arrived(replay.calls, flow))
    return results + " are not what " + kernels + " wrote: the copies to the host took " +
           source_of(flow) + ", and no kernel wrote any of it.";
  if (replay.replaced == 0)
    return results + " are not made of the inputs by " + kernels +
           ": no copy to the device brought any input.";
  return results + " are not made by " + kernels +
         " of the inputs that were copied to the device: the same calls with other inputs in those "
         "copies did not give the results of these inputs.";
}

std::string why_not_as_copied(const std::string& output, const std::string& changed,
                              const std::string& name) {
  constexpr std::size_t kWordBytes = sizeof(std::uint32_t);
  if (output.size() != changed.size()) return "";
  std::size_t same = 0;
  const std::size_t count = output.size() / kWordBytes;
  for (std::size_t i = 0; i < count; ++i)
    if (output.compare(i * kWordBytes, kWordBytes, changed, i * kWordBytes, kWordBytes) == 0)
      ++same;
  if (same == 0) return "";
  return with_commas(same) + " of " + with_commas(count) + " results in \"" + name +
         "\" are not what the copies from the device brought: in a run with other words in these "
         "copies they stayed as they were.";
}

}  // namespace membound::harness
