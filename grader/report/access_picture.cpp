// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/access_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "grader/base/strings.hpp"
#include "grader/report/markdown_html.hpp"
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

namespace {

// Global memory stands above the lanes, shared memory below them.
constexpr double kBox = 18;
constexpr double kHeading = 66, kSectorsTop = 130, kLanesTop = 215, kBanksTop = 300, kWords = 54;
constexpr double kLane = kPlot / kLanes;
constexpr std::size_t kMostLevelLabels = 12;  // more labels stand on end

// Lanes are blue, sectors orange, shared memory green, as in all pictures.
constexpr const char* kLooks = R"(
    .mb-lane{fill:#dce9f6;stroke:#2f6fb0}.mb-bank{fill:#e8f4ec;stroke:#2f7d4f}
    .mb-idle{fill:#fcfbf8;opacity:.75}.mb-served{fill:none;stroke:#24292f;stroke-width:2}
    .mb-way{fill:none;stroke:#2f6fb0;stroke-width:1.5}.mb-past{opacity:.3}
    @media screen and (prefers-color-scheme:dark){
    .mb-lane{fill:#1d3550;stroke:#6aa9e6}.mb-bank{fill:#17261d;stroke:#63c08a}
    .mb-idle{fill:#16191d}.mb-served{stroke:#e6e8eb}.mb-way{stroke:#6aa9e6}}
)";

double middle_of_lane(int lane) { return kLeft + (lane + 0.5) * kLane; }

std::string name_of(const MemoryAccess& access) {
  const std::string place = access.line > 0 ? "line " + std::to_string(access.line)
                                            : "PTX line " + std::to_string(access.ptx_line);
  return place + ", " + (access.is_shared() ? "shared " : "") + access.kind;
}

/// What was asked of memory up to a step.
struct Sums {
  int sectors = 0, wavefronts = 0;

  void add(const MemoryAccess& access) {
    (access.is_shared() ? wavefronts : sectors) += access.units;
  }
  [[nodiscard]] std::string text() const {
    return "to the end of this step: " + base::counted(sectors, "sector") + ", " +
           base::counted(wavefronts, "wavefront");
  }
};

/// A row of 32 numbered boxes.
void draw_row(Svg& svg, double top, std::string_view name, std::string_view look) {
  svg.text(kLeft - 8, top + 13, kSmallText, "faint", "end", name);
  for (int i = 0; i < kLanes; ++i) {
    svg.box(kLeft + i * kLane, top, kLane - 1.5, kBox, look);
    svg.text(middle_of_lane(i) - 0.75, top + 13, kSmallText, "ink", "middle", std::to_string(i));
  }
}

void draw_idle_lanes(Svg& svg, const MemoryAccess& access) {
  for (int lane = 0; lane < kLanes; ++lane)
    if (!takes_part(access, lane))
      svg.box(kLeft + lane * kLane - 1, kLanesTop - 1, kLane + 0.5, kBox + 2, "idle");
}

/// The path of a line from a lane to what it wants.
std::string way(int lane, double from, double x, double to) {
  return "M" + coordinate(middle_of_lane(lane) - 0.75) + " " + coordinate(from) + "L" +
         coordinate(x) + " " + coordinate(to);
}

void draw_count(Svg& svg, double bottom, const std::string& text, bool hidden) {
  svg.begin("count", hidden);
  svg.text(kLeft, bottom + 26, 12.5, "strong", "start", text);
  svg.end();
}

/// All at once: an access to global memory is one request.
void draw_sectors(Svg& svg, double bottom, const MemoryAccess& access) {
  const std::vector<SectorUse> sectors = sectors_of(access);
  const double width = std::min(96.0, kPlot / static_cast<double>(sectors.size()));
  svg.text(kLeft - 8, kSectorsTop + 13, kSmallText, "faint", "end", "sector");
  std::string ways;
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    const double x = kLeft + static_cast<double>(i) * width;
    svg.box(x, kSectorsTop, width - 1.5, kBox, "frame");
    const std::string label = "+" + std::to_string(sectors[i].offset);
    if (sectors.size() <= kMostLevelLabels)
      svg.text(x + width / 2, kSectorsTop - 6, kSmallText, "ink", "middle", label);
    else if (width >= kSmallText)
      svg.upward_text(x + width / 2 + 3.5, kSectorsTop - 4, kSmallText, "ink", label);
    for (const int lane : sectors[i].lanes) {
      const auto within =
          static_cast<double>(access.offsets[static_cast<std::size_t>(lane)] - sectors[i].offset);
      ways +=
          way(lane, kLanesTop, x + width * (within + access.bytes / 2.0) / 32, kSectorsTop + kBox);
    }
  }
  svg.begin("turn");
  svg.path(ways, "way");
  draw_count(svg, bottom, base::counted(access.units, "sector") + " in one request", false);
  svg.end();
}

void draw_banks(Svg& svg, double bottom, const MemoryAccess& access) {
  for (int turn = 1; turn <= access.units; ++turn) {
    std::set<int> served;
    std::string ways;
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto& words = access.wavefronts[static_cast<std::size_t>(lane)];
      for (std::size_t w = 0; w < words.size(); ++w) {
        if (words[w] != turn) continue;
        const auto bank =
            static_cast<int>((access.offsets[static_cast<std::size_t>(lane)] / 4 + w) % kBanks);
        served.insert(bank);
        ways += way(lane, kLanesTop + kBox, middle_of_lane(bank) - 0.75, kBanksTop);
      }
    }
    svg.begin("turn");
    svg.path(ways, "way");
    for (const int bank : served)
      svg.box(kLeft + bank * kLane, kBanksTop, kLane - 1.5, kBox, "served");
    draw_count(svg, bottom,
               "wavefront " + std::to_string(turn) + " of " + std::to_string(access.units),
               turn < access.units);
    svg.end();
  }
}

}  // namespace

std::string draw_steps(const std::vector<MemoryAccess>& accesses, const std::string& title,
                       const std::string& where, bool standalone) {
  const auto dearest = std::max_element(
      accesses.begin(), accesses.end(),
      [](const MemoryAccess& a, const MemoryAccess& b) { return a.units < b.units; });
  Sums sums;
  std::string told;
  for (const MemoryAccess& access : accesses) {
    sums.add(access);
    base::add_word(told, name_of(access) + ", " + cost_in_words(access), "; ");
  }
  Svg svg(kWidth, title,
          where + ". " + base::counted(accesses.size(), "access") + ": " + told + ".", kLooks);
  svg.text(12, 22, 14, "strong", "start", title);
  svg.text(12, 40, 11.5, "faint", "start", where);
  draw_row(svg, kLanesTop, "lane", "lane");
  const bool shared = std::any_of(accesses.begin(), accesses.end(),
                                  [](const MemoryAccess& access) { return access.is_shared(); });
  if (shared) draw_row(svg, kBanksTop, "bank", "bank");
  const double bottom = (shared ? kBanksTop : kLanesTop) + kBox;
  sums = {};
  for (auto access = accesses.begin(); access != accesses.end(); ++access) {
    sums.add(*access);
    svg.begin("step", access != dearest);
    svg.text(12, kHeading, 12.5, "strong", "start",
             "Step " + std::to_string(access - accesses.begin() + 1) + " of " +
                 std::to_string(accesses.size()) + ": " + name_of(*access) + ", " +
                 cost_in_words(*access));
    draw_idle_lanes(svg, *access);
    access->is_shared() ? draw_banks(svg, bottom, *access) : draw_sectors(svg, bottom, *access);
    svg.text(kLeft, bottom + 44, kSmallText, "faint", "start", sums.text());
    svg.end();
  }
  return svg.finish(bottom + kWords, standalone);
}

namespace {

// A moving picture: each access as a row of lanes above the 32-byte sectors that it touches, a
// panel each.
constexpr double kPanelTop = 62, kPanelHeight = 148, kLanesToSectors = 66;
constexpr double kSecondsALane = 0.06, kSecondsAPanel = 2.6, kSecondsOfRest = 3.4;

/// The moment at which a part appears, as a class; every moment has a rule in moving_looks().
std::string appears(int panel, int lane) {
  return "go mb-p" + std::to_string(panel) + " mb-t" + std::to_string(lane);
}

/// What moves: parts appear one after the other, and all begin again. Nothing moves on paper or for
/// those who asked their system for less motion: they see all parts at once.
std::string moving_looks(std::size_t panels) {
  const double round = static_cast<double>(panels) * kSecondsAPanel + kSecondsOfRest;
  std::string css =
      "\n    @media screen and (prefers-reduced-motion:no-preference){\n"
      "    .mb-go{animation:mb-go " +
      coordinate(round) +
      "s infinite both;"
      "animation-delay:calc(var(--p)*" +
      coordinate(kSecondsAPanel) + "s + var(--t)*" + coordinate(kSecondsALane) +
      "s)}\n"
      "    @keyframes mb-go{0%{opacity:0}2%{opacity:1}72%{opacity:1}76%{opacity:0}"
      "100%{opacity:0}}\n    ";
  for (std::size_t panel = 0; panel < panels; ++panel)
    css += ".mb-p" + std::to_string(panel) + "{--p:" + std::to_string(panel) + "}";
  for (int lane = 0; lane <= kLanes; ++lane)
    css += ".mb-t" + std::to_string(lane) + "{--t:" + std::to_string(lane) + "}";
  return css + "}\n";
}

int bytes_used(const std::vector<SectorUse>& sectors) {
  int bytes = 0;
  for (const SectorUse& sector : sectors) bytes += sector.bytes_used;
  return bytes;
}

/// One access from `top` down: each lane lights up with its way and its bytes, and its sector once.
void draw_panel(Svg& svg, double top, int panel, const MemoryAccess& access) {
  const std::vector<SectorUse> sectors = sectors_of(access);
  const double lanes_bottom = top + 12 + kBox, sectors_top = lanes_bottom + kLanesToSectors;
  const double slot = std::min(kLane, kPlot / static_cast<double>(sectors.size()));
  const double first = kLeft + (kPlot - slot * static_cast<double>(sectors.size())) / 2;
  svg.text(kLeft - 8, top + 25, kSmallText, "faint", "end", "lane");
  svg.text(kLeft - 8, sectors_top + 13, kSmallText, "faint", "end", "sector");
  for (int lane = 0; lane < kLanes; ++lane)
    svg.box(kLeft + lane * kLane, top + 12, kLane - 1.5, kBox, "hatch");
  for (std::size_t i = 0; i < sectors.size(); ++i)
    svg.box(first + slot * static_cast<double>(i), sectors_top, slot - 1.5, kBox, "hatch");
  std::set<std::uint64_t> lit;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!takes_part(access, lane)) continue;
    const std::uint64_t at = offset_of(access, lane), start = at / kSectorBytes * kSectorBytes;
    const auto sector = std::ranges::find(sectors, start, &SectorUse::offset);
    const double x = first + slot * static_cast<double>(sector - sectors.begin());
    const double scale = (slot - 1.5) / static_cast<double>(kSectorBytes);
    const double word = x + scale * static_cast<double>(at - start);
    svg.begin(appears(panel, lane));
    if (lit.insert(start).second) svg.box(x, sectors_top, slot - 1.5, kBox, "frame");
    svg.box(kLeft + lane * kLane, top + 12, kLane - 1.5, kBox, "lane");
    svg.path(way(lane, lanes_bottom, word + scale * access.bytes / 2, sectors_top), "way");
    svg.box(word, sectors_top, scale * access.bytes, kBox, "cell");
    svg.end();
  }
  svg.begin(appears(panel, kLanes));
  svg.text(kLeft, sectors_top + kBox + 18, 12.5, "strong", "start",
           count_of(access.units, "sector") + ": " +
               amount(access.units * static_cast<double>(kSectorBytes)) + " bytes move, " +
               amount(bytes_used(sectors)) + " are used");
  svg.end();
}

}  // namespace

std::string draw_moving(const std::vector<MemoryAccess>& accesses, const std::string& title,
                        const std::string& where, bool standalone) {
  std::vector<const MemoryAccess*> global;
  std::string told;
  for (const MemoryAccess& access : accesses) {
    if (access.is_shared()) continue;
    global.push_back(&access);
    base::add_word(told, name_of(access) + ", " + cost_in_words(access), "; ");
  }
  Svg svg(kWidth, title, where + ". " + told + ".",
          std::string(kLooks) + moving_looks(global.size()));
  svg.text(12, 22, 14, "strong", "start", title);
  svg.text(12, 40, 11.5, "faint", "start", where);
  double top = kPanelTop;
  for (std::size_t panel = 0; panel < global.size(); ++panel) {
    svg.text(12, top, 12.5, "ink", "start", "its " + global[panel]->kind);
    draw_panel(svg, top, static_cast<int>(panel), *global[panel]);
    top += kPanelHeight;
  }
  return svg.finish(top - 4, standalone);
}

bool has_steps(std::string_view svg) { return svg.find("class=\"mb-step\"") != svg.npos; }

std::string steps_script() {
  return "<script>\n" + std::string(template_text("steps")) + "</script>\n";
}

}  // namespace membound::report
