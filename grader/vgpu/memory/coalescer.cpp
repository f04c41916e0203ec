// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/coalescer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "grader/vgpu/memory/address_sets.hpp"
#include "grader/vgpu/memory/shared_banks.hpp"

namespace membound::vgpu::memory {
namespace {

/// Where blocks are 16 wide and the column alone counts, half of a warp asks for what the other
/// does.
bool halves_agree(const std::uint64_t* addresses, std::uint32_t mask) {
  return mask == 0xFFFFFFFFu && std::equal(addresses, addresses + 16, addresses + 16);
}

/// load_passes() of lanes that want words in ascending order, so that equal ones are neighbours; 0
/// of others.
std::uint32_t ascending_word_passes(const std::uint64_t* addresses, std::uint32_t mask,
                                    std::uint64_t origin) {
  std::array<std::uint8_t, kLanes> words{};  // of each data bank
  std::array<std::uint8_t, 4> lines{};       // of each tag bank
  std::uint64_t last_word = 0, last_line = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[std::countr_zero(rest)] - origin;
    const std::uint64_t word = address / 4 + 1, line = address / kLineBytes + 1;
    if (word < last_word) return 0;
    words[(word - 1) % kLanes] += word != last_word;
    if (line != last_line) ++lines[tag_bank(line - 1)];
    last_word = word;
    last_line = line;
  }
  return std::max(*std::max_element(words.begin(), words.end()),
                  *std::max_element(lines.begin(), lines.end()));
}

}  // namespace

Coalesced coalesce(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes) {
  if (mask == 0) return {};
  Coalesced result{1, 1, 0, 0};
  std::uint32_t distinct = 1;
  std::uint64_t previous = addresses[std::countr_zero(mask)];
  bool ascending = true;
  for (std::uint32_t rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {
    const std::uint64_t address = addresses[std::countr_zero(rest)];
    ascending = ascending && address >= previous;
    distinct += address != previous;
    result.sectors += address / kSectorBytes != previous / kSectorBytes;
    result.lines += address / kLineBytes != previous / kLineBytes;
    previous = address;
  }
  if (!ascending && halves_agree(addresses, mask)) {
    const Coalesced half = coalesce(addresses, 0xFFFFu, bytes);
    return {half.sectors, half.lines, ideal_sectors(half.sectors, kLanes, bytes), half.bytes};
  }
  if (!ascending) {
    NumberSet places, sectors, lines;
    distinct = result.sectors = result.lines = 0;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const std::uint64_t address = addresses[std::countr_zero(rest)];
      distinct += places.insert(address);
      result.sectors += sectors.insert(address / kSectorBytes);
      result.lines += lines.insert(address / kLineBytes);
    }
  }
  result.ideal_sectors =
      ideal_sectors(result.sectors, static_cast<std::uint32_t>(std::popcount(mask)), bytes);
  result.bytes = distinct * bytes;
  return result;
}

std::uint32_t load_passes(const std::uint64_t* addresses, std::uint32_t mask, std::uint32_t bytes,
                          std::uint64_t origin) {
  if (mask == 0) return 0;
  if (bytes <= 4)
    if (const std::uint32_t passes = ascending_word_passes(addresses, mask, origin)) return passes;
  std::array<std::uint32_t, kLanes> offsets{};  // what is the same above 4 GiB changes no bank
  std::array<std::uint8_t, 4> lines{};
  NumberSet seen;
  std::uint64_t previous = ~std::uint64_t{0};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t address = addresses[lane] - origin;
    offsets[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(address);
    const std::uint64_t line = address / kLineBytes;
    if (line != previous && seen.insert(line)) ++lines[tag_bank(line)];
    previous = line;
  }
  const std::uint32_t looked_up = *std::max_element(lines.begin(), lines.end());
  const auto returned = static_cast<std::uint32_t>(std::popcount(mask)) * bytes;
  return std::max({looked_up, bank_passes(offsets.data(), mask, bytes),
                   (returned + kLineBytes - 1) / kLineBytes});
}

std::uint64_t lowest_line(const std::uint64_t* addresses, std::uint32_t mask) {
  std::uint64_t lowest = ~std::uint64_t{0};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    lowest = std::min(lowest, addresses[std::countr_zero(rest)]);
  return lowest / kLineBytes * kLineBytes;
}

std::uint32_t atomic_turns(const std::uint64_t* addresses, std::uint32_t mask,
                           std::array<SectorTurns, kLanes>& out) {
  std::array<std::uint64_t, kLanes> sorted;
  std::uint32_t count = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    sorted[count++] = addresses[std::countr_zero(rest)];
  std::sort(sorted.begin(), sorted.begin() + count);
  std::uint32_t sectors = 0, same = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t sector = sorted[i] / kSectorBytes;
    if (sectors == 0 || out[sectors - 1].sector != sector) out[sectors++] = {sector, 0};
    same = i > 0 && sorted[i] == sorted[i - 1] ? same + 1 : 1;
    out[sectors - 1].turns = std::max(out[sectors - 1].turns, same);
  }
  return sectors;
}

std::uint32_t atomic_sectors(const std::uint64_t* addresses, std::uint32_t mask) {
  std::array<SectorTurns, kLanes> turns;
  const std::uint32_t count = atomic_turns(addresses, mask, turns);
  std::uint32_t all = 0;
  for (std::uint32_t i = 0; i < count; ++i) all += turns[i].turns;
  return all;
}

WordLoop atomic_word_loop(const std::uint64_t* addresses, std::uint32_t mask) {
  constexpr std::uint32_t kWordBytes = 4;
  std::array<std::uint64_t, kLanes> words{};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    words[lane] = addresses[lane] / kWordBytes * kWordBytes;
  }
  WordLoop loop;
  loop.load = coalesce(words.data(), mask, kWordBytes);
  while (mask != 0) {
    const Coalesced swap = coalesce(words.data(), mask, kWordBytes);
    loop.turns += 1;
    loop.swaps.sectors += swap.sectors;
    loop.swaps.lines += swap.lines;
    loop.swaps.ideal_sectors += swap.ideal_sectors;
    loop.swaps.bytes += swap.bytes;
    loop.swap_sectors += atomic_sectors(words.data(), mask);
    NumberSet served;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (served.insert(words[lane])) mask &= ~(1u << lane);
    }
  }
  return loop;
}

StoredSectors stored_sectors(const std::uint64_t* addresses, std::uint32_t mask,
                             std::uint32_t bytes) {
  std::array<std::uint64_t, kLanes> sorted;
  std::uint32_t count = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    sorted[count++] = addresses[std::countr_zero(rest)];
  if (!std::is_sorted(sorted.begin(), sorted.begin() + count))
    std::sort(sorted.begin(), sorted.begin() + count);
  StoredSectors store;
  if (count == 0) return store;
  store.lowest = sorted[0];
  store.end = sorted[count - 1] + bytes;
  std::uint32_t filled = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i == 0 || sorted[i] != sorted[i - 1]) filled += bytes;
    if (i == 0 || sorted[i] / kLineBytes != sorted[i - 1] / kLineBytes) store.lines += 1;
    const bool last = i + 1 == count || sorted[i + 1] / kSectorBytes != sorted[i] / kSectorBytes;
    if (!last) continue;
    store.bytes += filled;
    store.partial += filled < kSectorBytes;
    filled = 0;
  }
  return store;
}

namespace {

/// The share of a burst's sectors that L1 holds long enough: half where the stores and the lines of
/// each make `kRoom`. Warps that have not loaded all store at once, and leave each other a third.
double held_share(double stores, double lines, bool loaded) {
  constexpr double kRoom = 50, kAtOnce = 3;
  const double taken = stores * lines * (loaded ? 1 : kAtOnce) / kRoom;
  return 1 / (1 + taken * taken * taken * taken);
}

}  // namespace

WriteCombiner::Filled WriteCombiner::add(const StoredSectors& store) {
  constexpr std::uint64_t kNear = 32;
  if (store.bytes == store.end - store.lowest) return {};  // in a row: cut off at its ends
  const std::uint64_t place = store.lowest - first_ + kNear;
  const bool goes_on = stores_ > 0 && place < 2 * kNear && (places_ >> place & 1) == 0 &&
                       store.end - end_ + kNear < 2 * kNear;
  if (!goes_on) {
    first_ = begin_ = store.lowest;
    end_ = store.end;
    places_ = std::uint64_t{1} << kNear;
    stores_ = bytes_ = partial_ = lines_ = 0;
  } else {
    places_ |= std::uint64_t{1} << place;
    begin_ = std::min(begin_, store.lowest);
    end_ = std::max(end_, store.end);
  }
  stores_ += 1;
  bytes_ += store.bytes;
  partial_ += store.partial;
  lines_ += store.lines;
  if (bytes_ < end_ - begin_) return {};
  const double share = held_share(stores_, static_cast<double>(lines_) / stores_, loaded_);
  const auto filled = static_cast<std::uint32_t>(std::lround(share * partial_));
  const Filled result{filled, filled - filled / stores_};
  stores_ = 0;
  return result;
}

std::uint32_t distinct_addresses(const std::uint64_t* addresses, std::uint32_t mask) {
  NumberSet set;
  std::uint32_t count = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
    count += set.insert(addresses[std::countr_zero(rest)]);
  return count;
}

}  // namespace membound::vgpu::memory
