// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

constexpr double kPlotWidth = 700, kHeight = 300;
constexpr double kPlotLeft = 74, kPlotRight = 24, kPlotTop = 46, kBottom = 52;

/// Powers of ten that enclose [low, high].
struct Scale {
  double low = 0, high = 0, from = 0, to = 0;
  Scale(double low_, double high_, double from_, double to_)
      : low(std::floor(std::log10(low_))),
        high(std::ceil(std::log10(high_))),
        from(from_),
        to(to_) {
    if (high <= low) high = low + 1;
  }
  [[nodiscard]] double at(double value) const {
    return from + (std::log10(value) - low) / (high - low) * (to - from);
  }
};

double bound_ns(const course::KernelProfile& kernel, const char* name) {
  for (const course::TimeBound& bound : kernel.bounds)
    if (bound.name == name) return bound.ns;
  return 0;
}

std::string power_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

void draw_axes(Svg& svg, const Scale& x, const Scale& y) {
  for (double power = x.low; power <= x.high; ++power) {
    const double value = std::pow(10, power);
    svg.line(x.at(value), y.from, x.at(value), y.to, "grid");
    svg.text(x.at(value), y.from + 15, kSmallText, "ink", "middle", power_text(value));
  }
  for (double power = y.low; power <= y.high; ++power) {
    const double value = std::pow(10, power);
    svg.line(x.from, y.at(value), x.to, y.at(value), "grid");
    svg.text(x.from - 6, y.at(value) + 3.5, kSmallText, "ink", "end", power_text(value));
  }
  svg.line(x.from, y.from, x.to, y.from, "axis");
  svg.line(x.from, y.from, x.from, y.to, "axis");
  svg.text((x.from + x.to) / 2, y.from + 33, kSmallText, "faint", "middle",
           "warp instructions per byte of DRAM traffic");
  svg.upward_text(16, y.from - 8, kSmallText, "faint", "1e9 warp instructions a second");
}

}  // namespace

std::optional<Roofline> roofline_of(const course::KernelProfile& kernel) {
  const double issue_ns = bound_ns(kernel, "issue slots");
  const double dram_ns = bound_ns(kernel, "DRAM bandwidth");
  if (issue_ns <= 0 || dram_ns <= 0 || kernel.predicted_ns <= 0 || kernel.dram_bytes == 0)
    return std::nullopt;
  const auto instructions = static_cast<double>(kernel.warp_instructions);
  const auto bytes = static_cast<double>(kernel.dram_bytes);
  return Roofline{instructions / bytes, instructions / kernel.predicted_ns, instructions / issue_ns,
                  bytes / dram_ns};
}

std::string draw_roofline(const Roofline& r, const std::string& title, bool standalone) {
  const double ridge = r.issue_roof / r.dram_gbs;
  const double low = std::min(ridge, r.instructions_per_byte) / 3;
  const double high = std::max(ridge, r.instructions_per_byte) * 3;
  const Scale x(low, high, kPlotLeft, kPlotWidth - kPlotRight);
  const double left = std::pow(10, x.low), right = std::pow(10, x.high);
  const Scale y(std::min(r.reached, r.roof_at(left)), r.issue_roof * 1.5, kHeight - kBottom,
                kPlotTop);
  const double share = r.reached / r.roof_at(r.instructions_per_byte);
  const std::string words = amount(100 * share) + " % of the roof above it";
  Svg svg(kPlotWidth, title, words + "; predicted by the timing model");
  svg.text(12, 22, 14, "strong", "start", title);
  draw_axes(svg, x, y);
  const double bend = std::clamp(ridge, left, right);
  svg.line(x.at(left), y.at(r.roof_at(left)), x.at(bend), y.at(r.roof_at(bend)), "roof");
  svg.line(x.at(bend), y.at(r.roof_at(bend)), x.at(right), y.at(r.roof_at(right)), "roof");
  svg.text(kPlotWidth - kPlotRight, y.at(r.issue_roof) - 6, kSmallText, "ink", "end",
           "issue slots: " + amount(r.issue_roof) + "e9 a second");
  svg.text(x.at(left) + 8, kPlotTop + 12, kSmallText, "ink", "start",
           "slope: DRAM, " + amount(r.dram_gbs) + " GB/s");
  const double px = x.at(r.instructions_per_byte), py = y.at(r.reached);
  svg.line(px, py, px, y.at(r.roof_at(r.instructions_per_byte)), "dash");
  svg.circle(px, py, 5, "mark");
  const bool at_right = px > kPlotWidth / 2;
  svg.text(px + (at_right ? -10 : 10), py + 14, 11, "strong", at_right ? "end" : "start",
           "this kernel: " + words);
  return svg.finish(kHeight, standalone);
}

}  // namespace membound::report
