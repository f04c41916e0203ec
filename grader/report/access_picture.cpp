// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/access_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::MemoryAccess;

constexpr double kWidth = 700, kLeft = 62, kRight = 14, kRowHeight = 13, kTop = 58;
constexpr double kPlot = kWidth - kLeft - kRight;
constexpr int kLanes = 32, kBanks = 32;
constexpr std::uint64_t kSectorBytes = 32;
constexpr double kGap = 5;  // between sectors that do not follow each other

bool takes_part(const MemoryAccess& access, int lane) { return ((access.mask >> lane) & 1) != 0; }

std::uint64_t offset_of(const MemoryAccess& access, int lane) {
  return access.offsets[static_cast<std::size_t>(lane)];
}

std::string count_of(int count, const std::string& thing) {
  return amount(count) + " " + thing + (count == 1 ? "" : "s");
}

std::string subtitle(const MemoryAccess& access, const std::string& where) {
  const int lanes = __builtin_popcount(access.mask);
  std::string text = access.instruction + ": " + count_of(lanes, "lane") + " of " +
                     count_of(access.bytes, "byte") + " each";
  if (!where.empty()) text += "; " + where;
  return text;
}

/// Titles, the lanes' names and the rows of lanes that do not take part.
void draw_frame(Svg& svg, const MemoryAccess& access, const std::string& title,
                const std::string& where, double top) {
  svg.text(12, 22, 14, "strong", "start", title);
  svg.text(12, 40, 11.5, "faint", "start", subtitle(access, where));
  svg.text(kLeft - 8, top - 6, kSmallText, "faint", "end", "lane");
  for (int lane = 0; lane < kLanes; ++lane) {
    const double y = top + lane * kRowHeight;
    if (lane % 4 == 0 || lane == kLanes - 1)
      svg.text(kLeft - 8, y + kRowHeight - 2.5, kSmallText, "ink", "end", std::to_string(lane));
    if (takes_part(access, lane)) continue;
    svg.box(kLeft, y, kPlot, kRowHeight, "hatch");
    svg.line(kLeft, y + kRowHeight / 2, kLeft + kPlot, y + kRowHeight / 2, "dash");
  }
}

struct Columns {
  std::vector<double> x;
  double width = 0;
  bool apart = false;  ///< whether some sector does not follow the one before
};

Columns place_columns(const std::vector<SectorUse>& sectors) {
  double gaps = 0;
  for (std::size_t i = 1; i < sectors.size(); ++i)
    gaps += sectors[i].offset != sectors[i - 1].offset + kSectorBytes;
  Columns columns;
  columns.apart = gaps > 0;
  columns.width = std::min(96.0, (kPlot - gaps * kGap) / static_cast<double>(sectors.size()));
  double x = kLeft;
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    if (i > 0 && sectors[i].offset != sectors[i - 1].offset + kSectorBytes) x += kGap;
    columns.x.push_back(x);
    x += columns.width;
  }
  return columns;
}

/// The lanes' bytes in one sector; true to scale, so that order and gaps can be seen.
void draw_sector(Svg& svg, const MemoryAccess& access, const SectorUse& sector, double x,
                 double width, double top) {
  svg.begin("sector");
  svg.box(x, top, width, kLanes * kRowHeight, "frame");
  for (const int lane : sector.lanes) {
    const double within = static_cast<double>(offset_of(access, lane) - sector.offset);
    svg.box(x + width * within / kSectorBytes, top + lane * kRowHeight + 1,
            std::max(3.0, width * access.bytes / kSectorBytes), kRowHeight - 2, "cell");
  }
  svg.end();
}

std::string finish_with(Svg& svg, double y, const std::string& cost, const std::string& legend,
                        bool standalone) {
  svg.text(12, y, 12.5, "strong", "start", cost);
  svg.text(12, y + 18, kSmallText, "faint", "start", legend);
  return svg.finish(y + 30, standalone);
}

std::string usage_in_words(const MemoryAccess& access, const std::vector<SectorUse>& sectors) {
  double used = 0;
  for (const SectorUse& sector : sectors) used += sector.bytes_used;
  const auto moved = static_cast<double>(sectors.size() * kSectorBytes);
  char share[32];
  std::snprintf(share, sizeof share, "%.3g %%", 100 * used / moved);
  return cost_in_words(access) + ": " + amount(used) + " of " + amount(moved) + " bytes used (" +
         share + ").";
}

std::string draw_sectors(const MemoryAccess& access, const std::string& title,
                         const std::string& where, bool standalone) {
  const std::vector<SectorUse> sectors = sectors_of(access);
  const Columns columns = place_columns(sectors);
  const bool narrow = columns.width < 40;
  std::size_t longest = 0;
  for (const SectorUse& sector : sectors)
    longest = std::max(longest, std::to_string(sector.offset).size() + 1);
  const double top = kTop + 16 + (narrow ? 7.2 * static_cast<double>(longest) : 12);
  const std::string cost = usage_in_words(access, sectors);
  Svg svg(kWidth, title, subtitle(access, where) + ". " + cost);
  draw_frame(svg, access, title, where, top);
  svg.text(kLeft, kTop + 4, kSmallText, "faint", "start",
           "sectors of 32 bytes; their offset in bytes from the first line touched");
  const double bottom = top + kLanes * kRowHeight;
  const bool atomic = access.kind == "atomic";
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    const SectorUse& sector = sectors[i];
    const double x = columns.x[i], middle = x + columns.width / 2;
    draw_sector(svg, access, sector, x, columns.width, top);
    const std::string label = "+" + std::to_string(sector.offset);
    if (narrow)
      svg.upward_text(middle + 3.5, top - 4, kSmallText, "ink", label);
    else
      svg.text(middle, top - 5, kSmallText, "ink", "middle", label);
    svg.text(middle, bottom + 13, kSmallText, "ink", "middle", std::to_string(sector.bytes_used));
    if (atomic)
      svg.text(middle, bottom + 26, kSmallText, "ink", "middle", std::to_string(sector.visits));
  }
  svg.text(kLeft - 8, bottom + 13, kSmallText, "faint", "end", "bytes");
  if (atomic) svg.text(kLeft - 8, bottom + 26, kSmallText, "faint", "end", "visits");
  return finish_with(
      svg, bottom + (atomic ? 50 : 37), cost,
      std::string("Blue: the bytes a lane asks for. Frame: what is moved for them.") +
          (columns.apart ? " Space between frames: memory nobody asked for." : ""),
      standalone);
}

/// From light (first) to dark (last) in one hue; the number in the cell says the same.
std::string colour_of(int wavefront, int last) {
  const double share = last <= 1 ? 0.35 : static_cast<double>(wavefront - 1) / (last - 1);
  constexpr std::array<double, 3> kFirst{205, 226, 245}, kLast{20, 62, 110};
  std::array<int, 3> rgb{};
  for (std::size_t i = 0; i < 3; ++i)
    rgb[i] = static_cast<int>(std::lround(kFirst[i] + share * (kLast[i] - kFirst[i])));
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
  return text;
}

std::string draw_banks(const MemoryAccess& access, const std::string& title,
                       const std::string& where, bool standalone) {
  constexpr double kColumn = kPlot / kBanks, kHead = kTop + 26;
  const std::string cost = cost_in_words(access) + ".";
  Svg svg(kWidth, title, subtitle(access, where) + ". " + cost);
  draw_frame(svg, access, title, where, kHead);
  svg.text(kLeft, kTop + 4, kSmallText, "faint", "start",
           "the 32 banks of shared memory, 4 bytes wide");
  const double bottom = kHead + kLanes * kRowHeight;
  for (int bank = 0; bank <= kBanks; ++bank) {
    const double x = kLeft + bank * kColumn;
    svg.line(x, kHead, x, bottom, "rule");
    if (bank < kBanks)
      svg.text(x + kColumn / 2, kHead - 5, kSmallText, "ink", "middle", std::to_string(bank));
  }
  std::array<std::set<int>, kBanks> turns;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::vector<int>& served = access.wavefronts[static_cast<std::size_t>(lane)];
    for (std::size_t w = 0; w < served.size(); ++w) {
      const auto bank = static_cast<std::size_t>((offset_of(access, lane) / 4 + w) % kBanks);
      turns[bank].insert(served[w]);
      const double x = kLeft + static_cast<double>(bank) * kColumn, y = kHead + lane * kRowHeight;
      const bool dark = access.units > 1 && served[w] * 2 > access.units;
      svg.begin("word");
      svg.filled(x + 0.7, y + 0.6, kColumn - 1.4, kRowHeight - 1.2,
                 colour_of(served[w], access.units));
      svg.text(x + kColumn / 2, y + kRowHeight - 2.5, kSmallText, dark ? "ondark" : "onlight",
               "middle", std::to_string(served[w]));
      svg.end();
    }
  }
  svg.text(kLeft - 8, bottom + 13, kSmallText, "faint", "end", "turns");
  for (int bank = 0; bank < kBanks; ++bank)
    svg.text(kLeft + (bank + 0.5) * kColumn, bottom + 13, kSmallText, "ink", "middle",
             std::to_string(turns[static_cast<std::size_t>(bank)].size()));
  return finish_with(svg, bottom + 37, cost,
                     "A number: the wavefront that serves the word. A bank serves one word a "
                     "wavefront, to all lanes that want it.",
                     standalone);
}

}  // namespace

std::vector<SectorUse> sectors_of(const MemoryAccess& access) {
  std::map<std::uint64_t, SectorUse> found;
  std::map<std::uint64_t, std::set<std::uint64_t>> used;
  std::map<std::uint64_t, std::map<std::uint64_t, int>> wanted;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!takes_part(access, lane)) continue;
    const std::uint64_t at = offset_of(access, lane), start = at / kSectorBytes * kSectorBytes;
    found[start].offset = start;
    found[start].lanes.push_back(lane);
    for (int byte = 0; byte < access.bytes; ++byte)
      used[start].insert(at + static_cast<std::uint64_t>(byte));
    ++wanted[start][at];
  }
  std::vector<SectorUse> all;
  for (auto& [start, sector] : found) {
    sector.bytes_used = static_cast<int>(used[start].size());
    if (access.kind == "atomic") {
      for (const auto& [at, times] : wanted[start]) sector.visits = std::max(sector.visits, times);
    }
    all.push_back(std::move(sector));
  }
  // All lanes on one word: the compiler makes one operation of it, where the counters say so.
  if (all.size() == 1 && access.kind == "atomic") all.front().visits = access.units;
  return all;
}

std::string cost_in_words(const MemoryAccess& access) {
  const std::string unit = access.is_shared()        ? "wavefront"
                           : access.kind == "atomic" ? "sector visit"
                                                     : "sector";
  std::string text = count_of(access.units, unit) + " per request";
  if (access.ideal > 0) text += ", ideal " + amount(access.ideal);
  return text;
}

std::string draw_access(const MemoryAccess& access, const std::string& title,
                        const std::string& where, bool standalone) {
  return access.is_shared() ? draw_banks(access, title, where, standalone)
                            : draw_sectors(access, title, where, standalone);
}

}  // namespace membound::report
