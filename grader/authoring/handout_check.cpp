// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <pugixml.hpp>
#include <regex>
#include <sstream>

#include "grader/authoring/checks.hpp"
#include "grader/authoring/lines.hpp"
#include "grader/authoring/snippets.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text_files.hpp"
#include "grader/base/text_lines.hpp"
#include "grader/report/svg.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

// Targets of Markdown links and images in `file` that are files of the tree.
void check_links(const LabFolders& folders, const fs::path& file, std::set<fs::path>& linked,
                 Drifts& drifts) {
  static const std::regex kLink(R"(\]\(([^)\s]+)\))");
  const std::vector<std::string> lines = read_lines(file);
  bool in_code = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (base::trimmed(lines[i]).starts_with("```")) in_code = !in_code;
    if (in_code) continue;
    for (std::sregex_iterator it(lines[i].begin(), lines[i].end(), kLink), end; it != end; ++it) {
      const std::string target = (*it)[1].str();
      if (target.find("://") != std::string::npos || target.starts_with("#")) continue;
      const fs::path path = file.parent_path() / target.substr(0, target.find('#'));
      linked.insert(path.lexically_normal());
      if (fs::exists(path)) continue;
      drifts.push_back({folders.shown(file), static_cast<int>(i) + 1,
                        "the link to " + target + " leads nowhere", "a file of the tree",
                        "correct the link"});
    }
  }
}

/// The parts that a handout has stand in the house's order.
void check_order(const LabFolders& folders, const fs::path& handout, Drifts& drifts) {
  constexpr std::string_view kParts[] = {"## The picture", "## The idea", "## The lab",
                                         "## After you are done"};
  std::size_t last = 0;
  const std::vector<std::string> lines = read_lines(handout);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto part = std::find(std::begin(kParts), std::end(kParts), lines[i]);
    if (part == std::end(kParts)) continue;
    const auto place = static_cast<std::size_t>(part - std::begin(kParts));
    if (place < last)
      drifts.push_back({folders.shown(handout), static_cast<int>(i) + 1,
                        "\"" + lines[i] + "\" stands below \"" + std::string(kParts[last]) + "\"",
                        "picture, idea, lab, after you are done", "move it up"});
    last = std::max(last, place);
  }
}

void check_figure(const LabFolders& folders, const fs::path& file, Drifts& drifts) {
  const auto drifted = [&](std::string found, std::string expected, std::string advice) {
    drifts.push_back(
        {folders.shown(file), 0, std::move(found), std::move(expected), std::move(advice)});
  };
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_file(file.c_str());
  if (!parsed || !document.child("svg")) {
    drifted(parsed ? std::string("it has no <svg> element") : parsed.description(),
            "a well-formed SVG picture", "open it in a browser and mend it");
    return;
  }
  const std::string style = document.child("svg").child("style").text().get();
  if (style.find("prefers-color-scheme") == std::string::npos)
    drifted("its colours are those of a light page", "a <style> with colours for a dark page too",
            "copy that of another figure");
  for (const pugi::xpath_node& label : document.select_nodes("//*[@font-size]")) {
    const double size = label.node().attribute("font-size").as_double();
    if (size >= report::kSmallText) continue;
    drifted(
        "a label of " + report::coordinate(size) + " pixels: \"" + label.node().text().get() + "\"",
        "labels of " + report::coordinate(report::kSmallText) + " pixels or more",
        "make it larger, or the text shorter");
    return;
  }
}

/// A picture in letters, which the terminal shows above the picture's caption.
void check_drawing(const LabFolders& folders, const fs::path& file, Drifts& drifts) {
  constexpr std::size_t kColumns = 76;  // of 80, less the margins of code
  const auto drifted = [&](int line, std::string found, std::string expected) {
    drifts.push_back({folders.shown(file), line, std::move(found), std::move(expected), ""});
  };
  if (!fs::exists(fs::path(file).replace_extension(".svg")))
    drifted(0, "there is no picture of this name", "a drawing in letters of a picture beside it");
  const auto text = base::read_file(file);
  if (!text) return drifted(0, base::to_string(text.error()), "a text");
  std::istringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto columns = static_cast<std::size_t>(
        std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
    if (columns > kColumns || line.find('\t') != std::string::npos)
      drifted(number, std::to_string(columns) + " columns", "76 at most, and no tab");
  }
}

}  // namespace

void check_handout(const LabFolders& folders, Drifts& drifts) {
  std::set<fs::path> linked;
  const fs::path handout = folders.handout / "handout.md";
  check_links(folders, handout, linked, drifts);
  check_links(folders, folders.lab / "README.md", linked, drifts);
  check_links(folders, folders.solution / "NOTES.md", linked, drifts);
  check_snippets(folders, handout, drifts);
  check_order(folders, handout, drifts);

  std::error_code unreadable;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folders.handout / "figures", unreadable)) {
    if (entry.path().extension() == ".svg") check_figure(folders, entry.path(), drifts);
    if (entry.path().extension() == ".txt") {
      check_drawing(folders, entry.path(), drifts);
      continue;
    }
    if (entry.path().extension() == ".yml") continue;  // figure_drift looks for its picture
    if (linked.contains(entry.path().lexically_normal())) continue;
    drifts.push_back({folders.shown(entry.path()), 0, "no page shows this figure",
                      "a link in the handout", "show it or remove it"});
  }
}

}  // namespace membound::authoring
