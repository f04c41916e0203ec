// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/block_strata.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "grader/vgpu/exec/critical_path/block_recorder.hpp"
#include "grader/vgpu/exec/launch/prepare.hpp"
#include "grader/vgpu/exec/observe/summary.hpp"
#include "grader/vgpu/exec/state/observer.hpp"
#include "grader/vgpu/exec/traffic/cache_observer.hpp"
#include "grader/vgpu/exec/traffic/l2_footprint.hpp"
#include "grader/vgpu/memory/coalescer.hpp"

namespace membound::vgpu::exec {

BlockChoice::BlockChoice(std::uint64_t blocks, std::uint32_t sms, std::uint32_t slots,
                         std::uint64_t seed, Ends ends, std::uint32_t most)
    : wave_(std::uint64_t{sms} * slots), sms_(sms), slots_(slots), most_(most), seed_(seed) {
  const auto add = [&](std::uint64_t first, std::uint64_t end) {
    if (end > first) strata_.push_back({first, end - first});
  };
  const bool last_alone = blocks > 1 && ends != Ends::kFirst;
  const std::uint64_t first = ends == Ends::kLast ? 0 : 1;
  const std::uint64_t last = last_alone ? blocks - 1 : blocks;
  const std::uint64_t last_wave = (blocks - 1) / wave_ * wave_;
  add(0, first);
  add(first, std::min(wave_, last));
  add(wave_, last_wave);
  if (last_wave > 0) add(last_wave, last);
  if (last_alone) add(last, blocks);
}

std::vector<std::uint64_t> BlockChoice::take(const Stratum& stratum, std::uint32_t& groups,
                                             std::uint32_t draw) const {
  const std::uint64_t end = stratum.first + stratum.blocks;
  const std::uint64_t begin = stratum.first / wave_ * wave_;  // of its first wave
  const std::uint64_t waves = std::max<std::uint64_t>(1, stratum.blocks / wave_);
  const std::uint64_t in_wave = std::min(wave_, end - begin);
  const std::uint64_t deep = held_by_sm(stratum);
  const std::uint64_t run = std::min<std::uint64_t>(deep, most_);
  std::vector<std::uint64_t> whole;  // SMs all of whose blocks belong to the stratum
  for (std::uint64_t sm = 0; sm < std::min<std::uint64_t>(sms_, in_wave); ++sm)
    if (begin + sm >= stratum.first && begin + (deep - 1) * sms_ + sm < end) whole.push_back(sm);

  std::vector<std::uint64_t> chosen;
  groups = std::min(groups, static_cast<std::uint32_t>(whole.size()));
  if (groups == 0 || groups * run >= stratum.blocks) {
    if (draw > 0) return chosen;
    groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(sms_, stratum.blocks));
    chosen.resize(stratum.blocks);
    std::iota(chosen.begin(), chosen.end(), stratum.first);
    return chosen;
  }
  const std::uint64_t before = std::uint64_t{draw} * groups;
  constexpr std::uint64_t kFarApart = 32;  // waves: then no two of a few draws share one
  if (before + groups > whole.size() && waves < kFarApart) return chosen;
  const std::uint64_t start = random(stratum.first, 0) + before;
  // Draws are spread over the waves as evenly as any number of them can be: by the golden ratio.
  constexpr double kGolden = 0.6180339887498949;
  const double place = static_cast<double>(random(stratum.first, 1) >> 11) * 0x1p-53;
  const double turn = place + kGolden * draw;
  const auto wave =
      static_cast<std::uint64_t>((turn - std::floor(turn)) * static_cast<double>(waves));
  for (std::uint64_t i = 0; i < run; ++i)
    for (std::uint64_t g = 0; g < groups; ++g)
      chosen.push_back(begin + wave * wave_ + i * deep / run * sms_ +
                       whole[(start + g) % whole.size()]);
  return chosen;
}

double BlockChoice::part_of_group(const Stratum& stratum) const {
  const auto held = static_cast<double>(held_by_sm(stratum));
  return std::min(held, static_cast<double>(most_)) / held;
}

/// Of each wave; of the last one, which may be short, at least.
std::uint64_t BlockChoice::held_by_sm(const Stratum& stratum) const {
  const std::uint64_t begin = stratum.first / wave_ * wave_;
  const std::uint64_t in_wave = std::min(wave_, stratum.first + stratum.blocks - begin);
  return std::clamp<std::uint64_t>(in_wave / sms_, 1, slots_);
}

/// SplitMix64 of the seed and two numbers.
std::uint64_t BlockChoice::random(std::uint64_t a, std::uint64_t b) const {
  std::uint64_t z = seed_ + (a + 1) * 0x9E3779B97F4A7C15u + (b + 1) * 0xD1B54A32D192ED03u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

namespace {

using counters::BlockWork;
using counters::Counters;

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

/// Sums of every counter times a weight.
class WeightedSum {
 public:
  WeightedSum() : sums_(counters::all_counters().size(), 0) {}
  void add(const Counters& one, double weight) {
    const auto rows = counters::all_counters();
    for (std::size_t i = 0; i < rows.size(); ++i)
      sums_[i] += weight * static_cast<double>(one.*rows[i].member);
  }
  [[nodiscard]] Counters rounded() const {
    Counters all;
    const auto rows = counters::all_counters();
    for (std::size_t i = 0; i < rows.size(); ++i) all.*rows[i].member = whole(sums_[i]);
    return all;
  }

 private:
  std::vector<double> sums_;
};

/// A word that more than one stratum wanted is wanted by all blocks alike; another one is taken for
/// a block's own.
std::uint64_t hottest(std::vector<StratumWork>& strata, memory::HotWords StratumWork::*words) {
  struct Word {
    double scaled = 0;
    std::uint64_t counted = 0;
    std::uint32_t strata = 0;
  };
  std::unordered_map<std::uint64_t, Word> all;
  for (StratumWork& stratum : strata) {
    (stratum.*words).each([&](std::uint64_t address, std::uint64_t count) {
      Word& word = all[address];
      word.scaled += stratum.weight_of_counters() * static_cast<double>(count);
      word.counted += count;
      ++word.strata;
    });
  }
  std::uint64_t most = 0;
  for (const auto& [address, word] : all)
    most = std::max(most, word.strata > 1 ? whole(word.scaled) : word.counted);
  return most;
}

/// Different sectors of the launch: an array has no more than it has.
std::uint64_t distinct(const std::vector<StratumWork>& strata,
                       std::vector<ArrayTally::Row> StratumWork::*rows) {
  std::vector<double> touched;
  std::vector<std::uint64_t> sectors;
  for (const StratumWork& stratum : strata) {
    const auto& of = stratum.*rows;
    touched.resize(std::max(touched.size(), of.size()), 0);
    sectors.resize(touched.size(), 0);
    for (std::size_t i = 0; i < of.size(); ++i) {
      touched[i] += stratum.weight_of_counters() * static_cast<double>(of[i].touched_sectors);
      sectors[i] = of[i].sectors;
    }
  }
  double sum = 0;
  for (std::size_t i = 0; i < touched.size(); ++i)
    sum += i == 0 ? touched[i] : std::min(touched[i], static_cast<double>(sectors[i]));
  return whole(sum);
}

/// Different sectors that the blocks of a wave read, of all waves. `wave` blocks run at once.
std::uint64_t distinct_by_wave(const std::vector<StratumWork>& strata, std::uint64_t wave) {
  double sum = 0;
  for (const StratumWork& stratum : strata) {
    const auto blocks = static_cast<double>(stratum.blocks);
    const double at_once = std::min(blocks, static_cast<double>(wave));
    const double each = at_once / blocks * stratum.weight_of_counters();
    for (std::size_t i = 0; i < stratum.reads.size(); ++i) {
      const double touched = static_cast<double>(stratum.reads[i].touched_sectors) * each;
      const auto most = static_cast<double>(stratum.reads[i].sectors);
      sum += blocks / at_once * (i == 0 ? touched : std::min(touched, most));
    }
  }
  return whole(sum);
}

/// Of `repeated` reads, those that L2 serves because their array is small and wanted often, as the
/// vector of a matrix-vector product: between two reads of one of its sectors pass `l2_sectors` by
/// the number of that sector's reads. L1 is taken to serve all arrays alike.
std::uint64_t kept_repeats(const std::vector<StratumWork>& strata, std::uint64_t l2_bytes,
                           std::uint64_t l2_sectors, std::uint64_t repeated) {
  /// Of the half of L2 that loads find: less than all of it, so that neither the order of blocks
  /// nor what is stored in the meantime matters.
  constexpr double kSmall = 1.0 / 8;
  const double most = kSmall * static_cast<double>(l2_bytes) / 2 / memory::kSectorBytes;
  std::vector<ArrayTally::Row> rows;
  std::vector<double> touched, asked;
  for (const StratumWork& stratum : strata) {
    touched.resize(std::max(touched.size(), stratum.reads.size()), 0);
    asked.resize(touched.size(), 0);
    rows.resize(touched.size());
    for (std::size_t i = 0; i < stratum.reads.size(); ++i) {
      const ArrayTally::Row& row = stratum.reads[i];
      touched[i] += stratum.weight_of_counters() * static_cast<double>(row.touched_sectors);
      asked[i] += stratum.weight_of_counters() * static_cast<double>(row.asked_sectors);
      rows[i].sectors = row.sectors;
    }
  }
  double kept = 0, all_repeats = 0, all_asked = 0;
  for (const double each : asked) all_asked += each;
  const double from_l2 = all_asked > 0 ? static_cast<double>(l2_sectors) / all_asked : 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const double distinct =
        i == 0 ? touched[i] : std::min(touched[i], static_cast<double>(rows[i].sectors));
    const double repeats = std::max(0.0, asked[i] - distinct);
    all_repeats += repeats;
    if (i == 0 || distinct > most || distinct == 0) continue;
    const double uses = asked[i] * from_l2 / distinct;  // of each sector
    if (uses > 1 && static_cast<double>(l2_sectors) / uses <= most) kept += repeats;
  }
  return all_repeats > 0 ? whole(static_cast<double>(repeated) * kept / all_repeats) : 0;
}

/// The kinds of a stratum's blocks in launch order: those that ran, over and over, in this many
/// stretches at most.
void deal_out(const StratumWork& stratum, counters::LaunchWork& work) {
  constexpr std::uint64_t kMostStretches = 4096;
  const std::uint64_t ran = stratum.of.size();
  const std::uint64_t stretches = std::min(stratum.blocks, std::max(ran, kMostStretches));
  for (std::uint64_t i = 0; i < stretches; ++i) {
    const BlockWork& of = stratum.of[i % ran];
    const std::uint64_t blocks =
        stratum.blocks * (i + 1) / stretches - stratum.blocks * i / stretches;
    if (work.runs.empty() || !(work.kinds[work.runs.back().kind] == of)) {
      const auto known = std::find(work.kinds.begin(), work.kinds.end(), of);
      work.runs.push_back({static_cast<std::size_t>(known - work.kinds.begin()), 0});
      if (known == work.kinds.end()) work.kinds.push_back(of);
    }
    work.runs.back().blocks += blocks;
  }
}

}  // namespace

void StratumWork::add(StratumWork&& more) {
  blocks = more.blocks;
  of.insert(of.end(), more.of.begin(), more.of.end());
  counters.totals += more.counters.totals;
  std::map<std::pair<std::string, std::uint32_t>, Counters> lines;
  for (const auto* list : {&counters.lines, &more.counters.lines})
    for (const counters::LineCounters& line : *list) lines[{line.file, line.line}] += line.counters;
  counters.lines.clear();
  for (auto& [place, sum] : lines) counters.lines.push_back({place.first, place.second, sum});
  const auto join = [](auto& all, const auto& fresh) {
    all.resize(std::max(all.size(), fresh.size()));
    return std::min(all.size(), fresh.size());
  };
  auto& classes = counters.work.instructions;
  for (std::size_t i = 0, n = join(classes, more.counters.work.instructions); i < n; ++i)
    classes[i] += more.counters.work.instructions[i];
  for (auto rows : {&StratumWork::reads, &StratumWork::writes}) {
    for (std::size_t i = 0, n = join(this->*rows, more.*rows); i < n; ++i) {
      (this->*rows)[i].touched_sectors += (more.*rows)[i].touched_sectors;
      (this->*rows)[i].asked_sectors += (more.*rows)[i].asked_sectors;
      (this->*rows)[i].sectors = (more.*rows)[i].sectors;
    }
  }
  long_warps += more.long_warps;
  left_warps += more.left_warps;
  hottest.add(more.hottest);
  busiest.add(more.busiest);
  busiest_sectors.add(more.busiest_sectors);
}

counters::LaunchCounters scaled(std::vector<StratumWork>& strata, std::uint64_t l2_bytes,
                                std::uint64_t wave) {
  counters::LaunchCounters all;
  WeightedSum totals;
  std::map<std::pair<std::string, std::uint32_t>, WeightedSum> lines;
  std::vector<double> classes;
  for (const StratumWork& stratum : strata) {
    totals.add(stratum.counters.totals, stratum.weight_of_counters());
    for (const counters::LineCounters& line : stratum.counters.lines)
      lines[{line.file, line.line}].add(line.counters, stratum.weight_of_counters());
    const auto& of = stratum.counters.work.instructions;
    classes.resize(std::max(classes.size(), of.size()), 0);
    for (std::size_t i = 0; i < of.size(); ++i)
      classes[i] += stratum.weight_of_counters() * static_cast<double>(of[i]);
    deal_out(stratum, all.work);
  }
  all.totals = totals.rounded();
  all.totals.blocks = all.totals.warps = all.totals.threads = 0;
  for (const StratumWork& stratum : strata) {
    const Counters& of = stratum.counters.totals;
    all.totals.blocks += stratum.blocks;
    all.totals.warps += stratum.blocks * (of.warps / of.blocks);
    all.totals.threads += stratum.blocks * (of.threads / of.blocks);
  }
  for (const auto& [place, sum] : lines)
    all.lines.push_back({place.first, place.second, sum.rounded()});
  for (const double sum : classes) all.work.instructions.push_back(whole(sum));
  Counters& c = all.totals;
  c.hottest_atomic_address_count = hottest(strata, &StratumWork::hottest);
  c.busiest_atomic_piece_sectors = hottest(strata, &StratumWork::busiest);
  c.busiest_atomic_sector_turns = hottest(strata, &StratumWork::busiest_sectors);
  const std::uint64_t read = distinct(strata, &StratumWork::reads);
  const std::uint64_t from_l2 = std::max(c.l2_read_sectors, read);
  const Traffic traffic{from_l2, kept_repeats(strata, l2_bytes, from_l2, from_l2 - read), read,
                        distinct(strata, &StratumWork::writes)};
  c.dram_read_bytes = dram_read_bytes(traffic, l2_bytes);
  c.dram_write_bytes = dram_write_bytes(traffic);
  // Blocks of a wave go side by side through what they share: all of them wait for DRAM where one
  // does, unless an earlier wave has left it in L2.
  const std::uint64_t anew = std::max(read, distinct_by_wave(strata, wave));
  const std::uint64_t again = from_l2 - read;
  const Traffic of_waves{
      anew,
      again > 0 ? whole(static_cast<double>(anew - read) *
                        static_cast<double>(traffic.kept_read_sectors) / static_cast<double>(again))
                : 0,
      read, traffic.distinct_written_sectors};
  if (anew > 0)
    c.l2_waiting_sectors = whole(static_cast<double>(c.l2_waiting_sectors) *
                                 static_cast<double>(dram_read_bytes(of_waves, l2_bytes)) /
                                 static_cast<double>(anew * memory::kSectorBytes));
  return all;
}

double error_of(const std::vector<StratumWork>& strata) {
  double worst = 0;
  for (const auto part : {&BlockWork::issue_slots, &BlockWork::all_load_batches,
                          &BlockWork::chain_clocks, &BlockWork::all_shared_requests}) {
    double total = 0, variance = 0;
    for (const StratumWork& stratum : strata) {
      const auto ran = static_cast<double>(stratum.of.size());
      const auto blocks = static_cast<double>(stratum.blocks);
      double sum = 0, squares = 0;
      for (const BlockWork& of : stratum.of) sum += static_cast<double>(of.*part);
      const double mean = sum / ran;
      for (const BlockWork& of : stratum.of)
        squares += std::pow(static_cast<double>(of.*part) - mean, 2);
      total += blocks * mean;
      if (ran > 1) variance += blocks * (blocks - ran) * squares / (ran - 1) / ran;
    }
    if (total > 0) worst = std::max(worst, std::sqrt(variance) / total);
  }
  return worst;
}

namespace {

std::vector<std::unique_ptr<Worker>> run_chosen(Launch& state, BlockRecorder& recorder,
                                                Observer* observer) {
  state.instructions = 0;
  state.recorder = &recorder;
  state.observer = state.observer_of_unsampled = observer;
  return run_grid(state);
}

}  // namespace

StratumWork count_blocks(Launch& state, std::vector<std::uint64_t> blocks, std::uint32_t groups,
                         LastBlockPattern* last_block) {
  StratumWork work;
  BlockRecorder recorder(blocks.size());
  state.chosen = std::move(blocks);
  state.cached_sms = groups;
  state.observers_with_notes = 0;
  ObserverList observers;
  std::optional<CacheObserver> caches;
  if (state.request->caches.enabled) observers.add(caches.emplace(state));
  if (last_block != nullptr) observers.add(*last_block);
  const auto workers = run_chosen(state, recorder, observers.front());
  if (caches) caches->settle();
  work.counters = summarise(state, workers);
  if (caches) {
    caches->add_to(work.counters.totals);
    work.l1_kept = caches->l1_kept();
    work.reads = caches->reads()->rows();
    work.writes = caches->writes()->rows();
  }
  for (const auto& worker : workers) {
    if (worker->unequal_warps) work.l1_kept.reset();
    work.long_warps += worker->long_warps;
    work.left_warps += worker->left_warps;
    work.hottest.add(worker->hottest);
    work.busiest.add(worker->busiest_slices);
    work.busiest_sectors.add(worker->busiest_sectors);
  }
  counters::LaunchWork kinds;
  recorder.add_to(kinds);
  for (const counters::BlockRun& run : kinds.runs)
    work.of.insert(work.of.end(), run.blocks, kinds.kinds[run.kind]);
  return work;
}

std::uint64_t run_uncounted(Launch& state, std::vector<std::uint64_t> blocks) {
  BlockRecorder recorder(0);
  state.chosen = std::move(blocks);
  state.counts = false;
  const auto workers = run_chosen(state, recorder, nullptr);
  return summarise(state, workers).totals.warp_instructions;
}

}  // namespace membound::vgpu::exec
