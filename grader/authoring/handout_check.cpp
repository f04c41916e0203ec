// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/handout_check.hpp"

#include <algorithm>
#include <pugixml.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "grader/authoring/lab_check.hpp"
#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/experiment.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/report/handout.hpp"
#include "grader/report/svg.hpp"

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

namespace {

bool is_heading(const std::string& line, const std::string& section) {
  const std::size_t marks = line.find_first_not_of('#');
  return marks > 0 && marks != std::string::npos && base::trimmed(line.substr(marks)) == section;
}

}  // namespace

void check_experiments(const LabFolders& folders, Drifts& drifts) {
  const std::string table = folders.shown(folders.handout / "experiments.json");
  std::vector<course::Experiment> all;
  if (const auto read = course::read_experiments_of(folders.handout, all); !read) {
    const base::Error& error = read.error();
    drifts.push_back({error.where.empty() ? table : folders.shown(error.where), 0, error.found,
                      error.expected, error.advice});
    return;
  }
  const std::vector<std::string> lines = read_lines(folders.handout / "handout.md");
  for (const course::Experiment& each : all) {
    const auto shows = [&](const auto& matches) {
      return std::any_of(lines.begin(), lines.end(), matches);
    };
    const std::string command = "membound experiment " + each.name;
    if (!shows([&](const std::string& line) { return is_heading(line, each.section); }))
      drifts.push_back({table, 0, each.name + " stands in no section \"" + each.section + "\"",
                        "a heading of the handout", "correct \"section\""});
    // Followed by no other word: "strides" is the beginning of "strides-wrapped".
    if (!shows([&](const std::string& line) {
          const std::size_t at = line.find(command);
          return at != std::string::npos && line.substr(at + command.size(), 1) != "-";
        }))
      drifts.push_back({table, 0, "the handout does not say how " + each.name + " is run",
                        "\"./" + command + "\"", "say it, and what to expect"});
  }
}

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
    if (entry.path().extension() == ".yml") continue;  // check_drawings() looks for its picture
    if (linked.contains(entry.path().lexically_normal())) continue;
    drifts.push_back({folders.shown(entry.path()), 0, "no page shows this figure",
                      "a link in the handout", "show it or remove it"});
  }
}

namespace {

/// A line of a page that is read: neither code nor a comment.
struct ReadLine {
  int number;  ///< from 1
  std::string text;
  bool folded;
};

std::vector<ReadLine> lines_to_read(const Lines& page) {
  std::vector<ReadLine> read;
  bool in_code = false, in_fold = false;
  int number = 0;
  for (const std::string& line : page) {
    ++number;
    const bool is_fence = line.starts_with("```");
    if (is_fence) in_code = !in_code;
    if (line.starts_with("<details>")) in_fold = true;
    if (!in_code && !is_fence && !line.starts_with("<!--")) read.push_back({number, line, in_fold});
    if (line.starts_with("</details>")) in_fold = false;
  }
  return read;
}

/// At most `most` words stand before the line that begins with `heading`; tables and what is folded
/// away do not count.
void check_length(const std::string& file, const std::vector<ReadLine>& lines,
                  std::string_view heading, int most, const char* advice, Drifts& drifts) {
  int words = 0;
  for (const ReadLine& line : lines) {
    if (line.text.starts_with(heading)) {
      if (words > most)
        drifts.push_back(
            {file, line.number, std::to_string(words) + " words stand before \"" + line.text + "\"",
             std::to_string(most) + " at most, without tables, code and folds", advice, true});
      return;
    }
    if (line.folded || line.text.starts_with('|')) continue;
    std::istringstream rest(line.text);
    for (std::string word; rest >> word;) words += word.front() != '#' ? 1 : 0;
  }
}

/// What readers of the handouts stumbled over, and sentences that leave a reader without a GPU of
/// one kind, or without an instructor, alone.
void check_phrases(const std::string& file, const Lines& lines, Drifts& drifts) {
  static const std::regex kAvoided(
      R"(in place of|\bwould do\b|to be had|\bon their way\b|\brubbish\b|are that not|)"
      R"(\binstructor|nvcc [^#]*-arch=sm_\d)");
  int number = 0;
  for (const std::string& line : lines) {
    ++number;
    std::smatch found;
    if (std::regex_search(line, found, kAvoided))
      drifts.push_back({file, number, "readers stumble over \"" + found.str() + "\"",
                        "a textbook's words, true for a reader alone with any GPU or none",
                        "say it in other words"});
  }
}

/// `text` with spaces where code in quotes and the targets of links stand.
std::string without_code(std::string text) {
  static const std::regex kUnread(R"(`[^`]*`|<code>[^<]*</code>|\]\([^)]*\))");
  for (std::smatch found; std::regex_search(text, found, kUnread);) {
    const auto begin = text.begin() + found.position();
    std::replace_if(
        begin, begin + found.length(), [](char c) { return c != '\n'; }, ' ');
  }
  return text;
}

/// Reads pages one after another, as a student does.
class Reader {
 public:
  explicit Reader(const std::vector<report::Term>& terms)
      : terms_(terms), known_(terms.size(), false) {}

  struct Unexplained {
    std::string word;
    int line;  ///< from 1
  };

  /// The terms of `page` that nothing read so far explains, each where it stands first.
  std::vector<Unexplained> read(const std::vector<ReadLine>& page) {
    std::vector<Unexplained> found;
    std::vector<bool> outside;  // what was known where the fold that is being read begins
    for (std::size_t i = 0, end = 0; i < page.size(); i = std::max(end, i + 1)) {
      const bool was_folded = i > 0 && page[i - 1].folded;
      if (page[i].folded && !was_folded) outside = known_;
      if (!page[i].folded && was_folded) known_ = outside;
      std::string text;
      for (end = i; end < page.size() && goes_on(page, i, end); ++end)
        text += page[end].text + "\n";
      read_paragraph(without_code(text), page[i].number, found);
    }
    std::ranges::sort(found, {}, &Unexplained::line);
    return found;
  }

 private:
  /// Whether line `at` belongs to the paragraph, list or table that begins at `first`.
  static bool goes_on(const std::vector<ReadLine>& page, std::size_t first, std::size_t at) {
    const ReadLine& line = page[at];
    return !line.text.empty() && !line.text.starts_with('#') && !line.text.starts_with("![") &&
           line.folded == page[first].folded &&
           line.number - page[first].number == static_cast<int>(at - first);
  }

  void read_paragraph(std::string_view text, int first_line, std::vector<Unexplained>& found) {
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (known_[i]) continue;
      const auto places = report::places_of(text, terms_[i]);
      if (places.empty()) continue;
      known_[i] = true;  // what is not explained is told once
      if (std::ranges::any_of(places, [&](const report::TermPlace& place) {
            return text.substr(0, place.begin).ends_with("**") &&
                   text.substr(place.begin + place.size).starts_with("**");
          }))
        continue;
      const auto before = text.substr(0, places.front().begin);
      found.push_back({std::string(text.substr(before.size(), places.front().size)),
                       first_line + static_cast<int>(std::ranges::count(before, '\n'))});
    }
  }

  const std::vector<report::Term>& terms_;
  std::vector<bool> known_;
};

}  // namespace

void check_reading(const LabFolders& folders, const std::vector<LabFolders>& before,
                   const std::vector<report::Term>& terms, Drifts& drifts) {
  for (const fs::path& file : {folders.handout / "handout.md", folders.lab / "README.md",
                               folders.lab / "lab.json", folders.lab / course::kKernelFile})
    check_phrases(folders.shown(file), read_lines(file), drifts);

  const fs::path handout = folders.handout / "handout.md";
  const std::string file = folders.shown(handout);
  const std::vector<ReadLine> page = lines_to_read(read_lines(handout));
  constexpr int kMostWords = 2500, kMostWordsBeforeATask = 900;
  check_length(file, page, "### Stage 1", kMostWordsBeforeATask,
               "move what a later stage needs to that stage", drifts);
  check_length(file, page, "## After you are done", kMostWords,
               "fold what a reader may leave out, or say it shorter", drifts);

  Reader reader(terms);
  for (const LabFolders& lab : before)
    (void)reader.read(lines_to_read(read_lines(lab.handout / "handout.md")));
  for (const Reader::Unexplained& found : reader.read(page))
    drifts.push_back(
        {file, found.line, "nothing read so far explains \"" + found.word + "\"",
         "a term of docs/glossary.md in bold, and explained, where the course uses it first",
         "explain it in this paragraph or before, or say it in other words", true});
}

void check_notebook(const course::Lab& lab, const LabFolders& folders, Drifts& drifts) {
  const fs::path file = folders.handout / "handout.md";
  const auto text = base::read_file(file);
  const auto skeleton = course::read_submission(folders.lab / course::kKernelFile, lab);
  if (!text || !skeleton) return;  // check_files() says so
  const course::SplitSubmission split = course::split_submission(*skeleton);
  const auto made = report::handout_notebook(
      *text, folders.shown(file), lab,
      {.kernel = split.kernel, .beside = split.beside, .figure = [&](std::string_view target) {
         const auto svg = base::read_file(folders.handout / target);
         return svg ? *svg : "<svg/>";  // check_links() says so
       }});
  if (made) return;
  const base::Error& error = made.error();
  drifts.push_back({error.where, 0, error.found, error.expected, error.advice, true});
}

}  // namespace membound::authoring
