// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/program_profile.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "grader/base/filled_template.hpp"
#include "grader/base/result.hpp"
#include "grader/report/access_picture.hpp"
#include "grader/report/markdown_html.hpp"
#include "grader/report/profile_text.hpp"
#include "grader/report/result_page.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::KernelProfile;
using course::LineWork;
using course::SourceLine;

constexpr std::size_t kShownInFull = 8;
constexpr std::size_t kNameColumns = 14;  // what the others leave of 80

double all_launches_ns(const KernelProfile& kernel) {
  return kernel.predicted_ns * kernel.launches;
}

std::vector<KernelProfile> longest_first(std::vector<KernelProfile> kernels) {
  std::stable_sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
    return all_launches_ns(a) > all_launches_ns(b);
  });
  return kernels;
}

/// The .cu file in which the kernel executes most.
std::string file_of(const KernelProfile& kernel) {
  std::map<std::string, std::uint64_t> work;
  for (const LineWork& line : kernel.lines)
    if (std::filesystem::path(line.file).extension() == ".cu")
      work[line.file] += line.warp_instructions;
  const auto most = std::max_element(
      work.begin(), work.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == work.end() ? "" : most->first;
}

/// A kernel and what belongs to its file, as a stage's profile has it.
struct InFull {
  course::StageResult stage;
  SourceText source;
};

InFull in_full(const ProgramProfile& profile, const KernelProfile& kernel,
               const SourceReader& read) {
  const std::string file = file_of(kernel);
  InFull all;
  for (const SourceLine& line : profile.lines)
    if (line.file == file) all.stage.source_lines.push_back(line);
  KernelProfile own = kernel;
  std::erase_if(own.lines, [&](const LineWork& line) { return line.file != file; });
  all.stage.profiles.push_back(std::move(own));
  if (!file.empty()) all.source = read(file);
  return all;
}

/// "scale" of "void scale<float>(float*, int)".
std::string short_name(const KernelProfile& kernel) {
  const std::string name = kernel.name.substr(0, kernel.name.find('('));
  return name.starts_with("void ") ? name.substr(5) : name;
}

/// What stands below kHead.
std::vector<std::string> cells_of(const KernelProfile& kernel) {
  const double gbs =
      kernel.predicted_ns > 0 ? static_cast<double>(kernel.dram_bytes) / kernel.predicted_ns : 0;
  return {short_name(kernel), std::to_string(kernel.launches),       duration(kernel.predicted_ns),
          amount(gbs),        amount(100 * kernel.occupancy) + " %", kernel.bound};
}

const std::vector<std::string> kHead = {"kernel", "runs",      "time",
                                        "GB/s",   "occupancy", "what binds it"};

bool is_number(std::size_t column) { return column >= 1 && column <= 4; }

}  // namespace

std::string render_program(const ProgramProfile& profile, const SourceReader& read,
                           const Style& style) {
  std::string text =
      wrapped(profile.program + " on " + profile.device + "; times are predicted", style.width, 0);
  const auto kernels = longest_first(profile.kernels);
  std::vector<std::vector<Cell>> rows(1);
  for (std::size_t i = 0; i < kHead.size(); ++i) rows[0].push_back({kHead[i], is_number(i)});
  for (const KernelProfile& kernel : kernels) {
    std::vector<std::string> cells = cells_of(kernel);
    if (columns(cells[0]) > kNameColumns) cells[0] = padded(cells[0], kNameColumns);
    rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) rows.back().push_back({cells[i], is_number(i)});
  }
  text += "\n" + text_table(rows, style);
  for (std::size_t i = 0; i < std::min(kShownInFull, kernels.size()); ++i) {
    const InFull all = in_full(profile, kernels[i], read);
    text += render_kernel(all.stage, all.stage.profiles.front(), all.source, style);
  }
  if (kernels.size() > kShownInFull)
    text += "\n" + wrapped("and " + std::to_string(kernels.size() - kShownInFull) +
                               " more that take less time: see --html FILE",
                           style.width, 0);
  return text;
}

std::string program_page(const ProgramProfile& profile, const SourceReader& read) {
  nlohmann::json values = {{"style", template_text("style")}, {"narrow", template_text("narrow")},
                           {"title", profile.program},        {"device", profile.device},
                           {"head", nlohmann::json::array()}, {"script", steps_script()},
                           {"rows", nlohmann::json::array()}, {"kernels", nlohmann::json::array()}};
  for (const std::string& name : kHead) values["head"].push_back({{"name", name}});
  for (const KernelProfile& kernel : longest_first(profile.kernels)) {
    nlohmann::json cells = nlohmann::json::array();
    const auto texts = cells_of(kernel);
    for (std::size_t i = 0; i < texts.size(); ++i)
      cells.push_back({{"text", texts[i]}, {"number", is_number(i)}});
    values["rows"].push_back({{"cells", std::move(cells)}});
    const InFull all = in_full(profile, kernel, read);
    values["kernels"].push_back(
        {{"section", kernel_section(all.stage, all.stage.profiles.front(), all.source)}});
  }
  auto page =
      base::filled_template(std::string(template_text("program")), values, base::Quoting::kHtml);
  MEMBOUND_CHECK(page.ok());
  return *std::move(page);
}

}  // namespace membound::report
