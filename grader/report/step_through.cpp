// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/step_through.hpp"

#include <algorithm>
#include <set>

#include "grader/report/access_picture.hpp"
#include "grader/report/html_template.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::MemoryAccess;

// Global memory stands above the lanes, shared memory below them.
constexpr double kWidth = 700, kLeft = 62, kPlot = 624, kBox = 18;
constexpr double kHeading = 66, kSectorsTop = 130, kLanesTop = 215, kBanksTop = 300, kWords = 54;
constexpr int kLanes = 32, kBanks = 32;
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

bool takes_part(const MemoryAccess& access, int lane) { return ((access.mask >> lane) & 1) != 0; }

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
    return "to the end of this step: " + std::to_string(sectors) + " sectors, " +
           std::to_string(wavefronts) + " wavefronts";
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
  draw_count(svg, bottom, std::to_string(access.units) + " sectors in one request", false);
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
    told += (told.empty() ? "" : "; ") + name_of(access) + ", " + cost_in_words(access);
  }
  Svg svg(kWidth, title,
          where + ". " + std::to_string(accesses.size()) + " accesses: " + told + ".", kLooks);
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

bool has_steps(std::string_view svg) { return svg.find("class=\"mb-step\"") != svg.npos; }

std::string steps_script() {
  return "<script>\n" + std::string(template_text("steps")) + "</script>\n";
}

}  // namespace membound::report
