// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A result as one HTML page that needs nothing beside it: what was decided, the source with
/// what each line costs, pictures of the accesses, what bounds the kernel. Decides nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/course/lab_result.hpp"
#include "grader/report/profile_text.hpp"
#include "grader/report/result_text.hpp"

namespace membound::report {

/// What a page shows of a lab's stages that stands in no result, by the stage's number.
struct PageParts {
  std::map<int, std::string> pictures;  ///< the bytes of a PNG: a picture, and what became of it
  /// One for each check of the stage that is remembered, this one's last.
  std::map<int, std::vector<course::RooflineDot>> dots;
  std::set<int> untouched;  ///< "not started", as in a terminal
  WholeLab lab;
};

/// The whole page. Looks follow the reader's light or dark theme; nothing is fetched.
[[nodiscard]] std::string render_html(const course::Result& result, const SourceText& source,
                                      const PageParts& parts = {});

/// The part of a page that shows `kernel`, a kernel of `stage`: templates/kernel.html.
[[nodiscard]] std::string kernel_section(const course::StageResult& stage,
                                         const course::KernelProfile& kernel,
                                         const SourceText& source);

// The instruction roofline of a kernel: how many warp instructions it executes for each byte of
// DRAM traffic, how fast, and which of the two roofs is above it. Source of the form: Ding and
// Williams, "An Instruction Roofline Model for GPUs", PMBS 2019.

/// Where the kernel is and where the roofs are. All rates are predicted by the timing model.
struct Roofline {
  double instructions_per_byte = 0;  ///< warp instructions over DRAM bytes
  double reached = 0;                ///< 1e9 warp instructions per second
  double issue_roof = 0;             ///< the same, were issue slots the only limit
  double dram_gbs = 0;               ///< GB/s, were DRAM the only limit
  [[nodiscard]] double roof_at(double intensity) const {
    return intensity * dram_gbs < issue_roof ? intensity * dram_gbs : issue_roof;
  }
};

/// Nothing where the model gave no DRAM traffic or no instructions.
[[nodiscard]] std::optional<Roofline> roofline_of(const course::KernelProfile& kernel);

/// The picture, 700 pixels wide.
[[nodiscard]] std::string draw_roofline(const Roofline& roofline, const std::string& title,
                                        bool standalone = false);

/// The way of a stage from check to check: "0.4 operations a byte, 5.9 Tops/s; then 8 at 8.4
/// Tops/s"; empty for fewer than two dots.
[[nodiscard]] std::string way_on_roofline(const std::vector<course::RooflineDot>& dots);

/// The same of all stages as one picture: the dots of a stage are joined in their order, the last
/// one is full and has the stage's number. Empty for fewer than two dots.
[[nodiscard]] std::string draw_ways(const std::map<int, std::vector<course::RooflineDot>>& dots);

}  // namespace membound::report
