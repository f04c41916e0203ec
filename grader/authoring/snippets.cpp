// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/snippets.hpp"

#include <algorithm>
#include <regex>

#include "grader/authoring/lines.hpp"
#include "grader/base/text_files.hpp"
#include "grader/base/text_lines.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::authoring {
namespace {

using Lines = std::vector<std::string>;

/// A marker in a handout and the fenced block below it.
struct Snippet {
  std::string file, region;
  std::size_t marker_line;            ///< index of the marker
  std::size_t first_line, past_last;  ///< the code between the fences; equal if there is no block
};

std::vector<Snippet> snippets_of(const Lines& lines) {
  static const std::regex kMarker(R"(\s*<!-- snippet: ([^#\s]+)#(\S+) -->\s*)");
  std::vector<Snippet> snippets;
  std::smatch match;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_match(lines[i], match, kMarker)) continue;
    Snippet snippet{match[1], match[2], i, i + 1, i + 1};
    if (i + 1 < lines.size() && base::trimmed(lines[i + 1]).starts_with("```")) {
      snippet.first_line = snippet.past_last = i + 2;
      while (snippet.past_last < lines.size() && base::trimmed(lines[snippet.past_last]) != "```") {
        ++snippet.past_last;
      }
    }
    snippets.push_back(snippet);
  }
  return snippets;
}

Lines without_margins(Lines lines) {
  while (!lines.empty() && base::trimmed(lines.front()).empty()) lines.erase(lines.begin());
  while (!lines.empty() && base::trimmed(lines.back()).empty()) lines.pop_back();
  std::size_t indent = std::string::npos;
  for (const std::string& line : lines) {
    if (!base::trimmed(line).empty()) indent = std::min(indent, line.find_first_not_of(' '));
  }
  for (std::string& line : lines) line.erase(0, std::min(indent, line.size()));
  return lines;
}

Lines stage_code(const Lines& lines, int stage) {
  Lines code;
  int current = 0;
  bool in_head = false;
  for (const std::string& line : lines) {
    if (const int head = course::stage_of_head(line); head != 0) {
      current = head;
      in_head = true;
    }
    if (in_head && !line.starts_with("//")) in_head = false;
    if (current == stage && !in_head) code.push_back(line);
  }
  return code;
}

std::optional<Lines> quoted(const std::filesystem::path& root, const Snippet& snippet) {
  return region_of(read_lines(root / snippet.file), snippet.region);
}

}  // namespace

std::optional<Lines> region_of(const Lines& lines, const std::string& name) {
  Lines region;
  if (name.starts_with("stage-")) {
    region = stage_code(lines, std::atoi(name.c_str() + std::string("stage-").size()));
  } else {
    const auto mark = [&](const std::string& text, auto from) {
      return std::find_if(from, lines.end(),
                          [&](const std::string& line) { return comment_of(line) == text; });
    };
    const auto first = mark("[" + name + "]", lines.begin());
    const auto last = mark("[/" + name + "]", first);
    if (first == lines.end() || last == lines.end()) return std::nullopt;
    region.assign(first + 1, last);
  }
  region = without_margins(std::move(region));
  if (region.empty()) return std::nullopt;
  return region;
}

void check_snippets(const LabFolders& folders, const std::filesystem::path& handout,
                    Drifts& drifts) {
  const Lines lines = read_lines(handout);
  for (const Snippet& snippet : snippets_of(lines)) {
    const int line = static_cast<int>(snippet.marker_line) + 1;
    const std::string what = snippet.file + "#" + snippet.region;
    const std::optional<Lines> source = quoted(folders.root, snippet);
    if (!source) {
      drifts.push_back({folders.shown(handout), line, "the snippet " + what + " is not there",
                        "a file of the tree and a region of it", "correct the marker"});
    } else if (!std::equal(source->begin(), source->end(),
                           lines.begin() + static_cast<std::ptrdiff_t>(snippet.first_line),
                           lines.begin() + static_cast<std::ptrdiff_t>(snippet.past_last))) {
      drifts.push_back({folders.shown(handout), line, "the code differs from " + what,
                        "the same lines", "membound dev check --fix rewrites it"});
    }
  }
}

base::Result<int> fix_snippets(const std::filesystem::path& root,
                               const std::filesystem::path& handout) {
  Lines lines = read_lines(handout);
  std::vector<Snippet> snippets = snippets_of(lines);
  int changed = 0;
  // From the last to the first, so that the line numbers of those before stay true.
  for (auto snippet = snippets.rbegin(); snippet != snippets.rend(); ++snippet) {
    std::optional<Lines> source = quoted(root, *snippet);
    if (!source) continue;
    const auto first = lines.begin() + static_cast<std::ptrdiff_t>(snippet->first_line);
    const auto last = lines.begin() + static_cast<std::ptrdiff_t>(snippet->past_last);
    if (std::equal(source->begin(), source->end(), first, last)) continue;
    const bool has_block = snippet->first_line == snippet->marker_line + 2;
    if (!has_block) {
      source->insert(source->begin(), "```cpp");
      source->push_back("```");
    }
    lines.insert(lines.erase(first, last), source->begin(), source->end());
    ++changed;
  }
  if (changed == 0) return 0;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  if (const base::Status written = base::write_file(handout, text); !written) {
    return written.error();
  }
  return changed;
}

}  // namespace membound::authoring
