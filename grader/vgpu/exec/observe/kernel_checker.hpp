// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One checker of a running launch, which reports what would be a bug on a GPU even if it went well
/// here, and what the checkers of a launch found, each place once. Each kernel checker has a file
/// (memcheck, racecheck, synccheck, initcheck) and a row in device_code/checkers/checkers.def. Left
/// out: checkers that look only when the program ends (runtime/device).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/vgpu/exec/state/execution_state.hpp"
#include "grader/vgpu/exec/state/observer.hpp"

namespace membound::vgpu::exec {

/// Findings of one place are counted, not repeated. Of a place's findings that of the lowest block
/// is kept, so that what is reported does not depend on the number of worker threads.
class CheckFindings {
 public:
  /// A place: two findings with equal keys are one.
  struct Key {
    const Step* step = nullptr;
    std::string kind;
    const Step* other = nullptr;                   ///< of a race
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  /// A finding of a thread of `warp`. `make` gives the CheckReport; it is called for the first
  /// finding of a place, and again for one of more weight, or of as much and of a lower block.
  template <typename Make>
  void add(const Warp& warp, const Key& key, Make make, std::uint32_t weight = 0) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
      Entry& entry = found->second;
      ++entry.report.count;
      if (weight < entry.weight) return;
      if (weight == entry.weight && warp.block->linear >= entry.block) return;
      const std::uint64_t count = entry.report.count;
      entry = {make(), warp.block->linear, weight};
      entry.report.count = count;
      return;
    }
    entries_[key] = {make(), warp.block->linear, weight};
  }

  /// A finding after the launch, where the place has none yet.
  void add_at_end(const Key& key, CheckReport report) {
    entries_.try_emplace(key, Entry{std::move(report), 0, 0});
  }

  /// The first `most` in the order of the program; of a place's kinds, the alphabet's. Who reads
  /// too early finds nothing written: where a race is told, that is left out.
  [[nodiscard]] std::vector<CheckReport> take(std::size_t most) {
    std::set<const Step*> racing;
    for (const auto& [key, entry] : entries_)
      if (key.kind == "data race") racing.insert({key.step, key.other});
    std::erase_if(entries_, [&](const auto& each) {
      return each.first.kind == "uninitialised read" && racing.contains(each.first.step);
    });
    leave_one_of_each_barrier();
    std::vector<CheckReport> all;
    for (auto& [key, entry] : entries_) {
      // By a name of its own: clang 14 captures no structured binding.
      const CheckReport& one = entry.report;
      const auto same = std::find_if(all.begin(), all.end(), [&one](const CheckReport& told) {
        return have_one_cause(told, one);
      });
      if (same == all.end()) {
        all.push_back(std::move(entry.report));
        continue;
      }
      const std::uint64_t count = same->count + entry.report.count;
      // Of a race, what comes later in the program is told: before it something is missing.
      const bool is_told = entry.report.other && entry.report.weight >= same->weight;
      if (is_told) std::swap(*same, entry.report);
      same->count = count;
    }
    if (all.size() > most) all.resize(most);
    return all;
  }

 private:
  /// Lanes of one warp that do not come say more than how many threads do not; and a remark is none
  /// where something is wrong.
  void leave_one_of_each_barrier() {
    constexpr std::array<std::string_view, 3> kKinds = {"divergent barrier", "barrier after exit",
                                                        "return before a barrier"};
    for (std::size_t i = 0; i + 1 < kKinds.size(); ++i) {
      std::set<const Step*> told;
      for (const auto& [key, entry] : entries_)
        if (key.kind == kKinds[i]) told.insert(key.step);
      std::erase_if(entries_, [&](const auto& each) {
        return std::find(kKinds.begin() + i + 1, kKinds.end(), each.first.kind) != kKinds.end() &&
               told.contains(each.first.step);
      });
    }
  }
  /// What the iterations of an unrolled loop do wrong to one array at one line is one mistake; one
  /// missing barrier makes two lines race from both sides.
  [[nodiscard]] static bool have_one_cause(const CheckReport& one, const CheckReport& other) {
    if (one.kind != other.kind || one.other.has_value() != other.other.has_value()) return false;
    const auto number = [](const Place& place) {
      return std::pair(place.file, place.line != 0 ? place.line : place.ptx_line);
    };
    if (!one.other) return number(one.place) == number(other.place) && one.array == other.array;
    const auto lines = [&](const CheckReport& race) {
      return std::minmax({number(race.place), number(race.other->place)});
    };
    return lines(one) == lines(other);
  }
  struct Entry {
    CheckReport report;
    std::uint64_t block = 0;
    std::uint32_t weight = 0;
  };
  std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

/// A byte for each byte, 0 or 1; grows with what is touched.
class LocalBytes {
 public:
  void clear() {
    for (auto& lane : marks_) lane.clear();
  }
  /// The bytes of [offset, offset + bytes) of one lane; valid until the next call.
  [[nodiscard]] std::uint8_t* at(std::uint32_t lane, std::uint64_t offset, std::uint32_t bytes) {
    auto& all = marks_[lane];
    if (all.size() < offset + bytes) all.resize(offset + bytes, 0);
    return all.data() + offset;
  }
  void set(std::uint32_t lanes, std::uint64_t offset, std::uint32_t bytes, std::uint8_t value) {
    for (; lanes != 0; lanes &= lanes - 1)
      std::fill_n(at(static_cast<std::uint32_t>(std::countr_zero(lanes)), offset, bytes), bytes,
                  value);
  }

 private:
  std::array<std::vector<std::uint8_t>, 32> marks_;
};

/// What the same read once more would be to a checker, as long as nobody writes and no barrier
/// opens.
enum class SameRead : std::uint8_t {
  kMatters,   ///< it must hear of it
  kUnmissed,  ///< it does not ask for it
  kSettled    ///< it found nothing, and would find nothing
};

/// Overrides what it is for, of Observer's hooks and of these; hears in the order of the program
/// of each block, from several worker threads.
class KernelChecker : public Observer {
 public:
  /// Does it override check()?
  [[nodiscard]] virtual bool hears_accesses() const { return false; }
  /// … also those to shared and local memory by blocks that Launch::sample leaves out?
  [[nodiscard]] virtual bool hears_all_blocks() const { return false; }
  /// Accesses come here, with `shape` known, to global and shared memory only. `lanes` are
  /// those to look at: of lanes that read one place only the first.
  virtual SameRead check(const WarpAccess&, std::uint32_t /*lanes*/) { return SameRead::kUnmissed; }
  void access(const WarpAccess&) final {}
  /// Asynchronous copies are written; `shape` is known.
  virtual void check_landing(const WarpAccess&) {}
  /// Accesses to local memory; all lanes of the mask.
  virtual void check_local(const WarpAccess&) {}
  /// All workers have ended; once.
  virtual void launch_ends() {}
  /// Must the launch be taken back and run by one worker, because what was found depends on who
  /// came first?
  [[nodiscard]] virtual bool must_repeat() const { return false; }
  /// Undoes everything the launch wrote.
  virtual void take_back() {}
};

/// make_memcheck(launch, findings), …: each kernel checker's file defines its own.
#define MEMBOUND_KERNEL_CHECKER(name, at_right_results, words, finds) \
  std::unique_ptr<KernelChecker> make_##name(Launch& launch, CheckFindings& findings);
#include "grader/device_code/checkers/checkers.def"

}  // namespace membound::vgpu::exec
