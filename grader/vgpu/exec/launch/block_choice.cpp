// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/block_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace membound::vgpu::exec {

BlockChoice::BlockChoice(std::uint64_t blocks, std::uint32_t sms, std::uint32_t places,
                         std::uint64_t seed, Ends ends, std::uint32_t most)
    : wave_(std::uint64_t{sms} * places), sms_(sms), places_(places), most_(most), seed_(seed) {
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
                                             std::uint32_t round) const {
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
    if (round > 0) return chosen;
    groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(sms_, stratum.blocks));
    chosen.resize(stratum.blocks);
    std::iota(chosen.begin(), chosen.end(), stratum.first);
    return chosen;
  }
  const std::uint64_t before = std::uint64_t{round} * groups;
  constexpr std::uint64_t kFarApart = 32;  // waves: then no two of a few rounds share one
  if (before + groups > whole.size() && waves < kFarApart) return chosen;
  const std::uint64_t start = random(stratum.first, 0) + before;
  // Rounds are spread over the waves as evenly as any number of them can be: by the golden ratio.
  constexpr double kGolden = 0.6180339887498949;
  const double place = static_cast<double>(random(stratum.first, 1) >> 11) * 0x1p-53;
  const double turn = place + kGolden * round;
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
  return std::clamp<std::uint64_t>(in_wave / sms_, 1, places_);
}

/// SplitMix64 of the seed and two numbers.
std::uint64_t BlockChoice::random(std::uint64_t a, std::uint64_t b) const {
  std::uint64_t z = seed_ + (a + 1) * 0x9E3779B97F4A7C15u + (b + 1) * 0xD1B54A32D192ED03u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace membound::vgpu::exec
