// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/patch.hpp"

#include <algorithm>
#include <optional>
#include <regex>
#include <vector>

#include "grader/base/strings.hpp"

namespace membound::authoring {
namespace {

/// With their line feeds; only a text's last line may lack its own.
using LineViews = std::vector<std::string_view>;

LineViews line_views(std::string_view text) {
  LineViews lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

constexpr const char* kMakeAnew = "make the diff anew, with diff -U1";

/// What stands below a head "@@ -start,count +start,count @@".
struct Hunk {
  int line = 0;                              ///< of its head, in the diff's file
  std::size_t old_start = 0;                 ///< its first old line, from 0
  std::size_t old_count = 0, new_count = 0;  ///< as the head says
  LineViews old_lines = {}, new_lines = {};  ///< both with the context
  std::vector<int> lines_of_old = {};        ///< where old_lines stand in the diff's file
  int changed_lines = 0;
};

/// A line as a message shows it; what tells two lines apart is visible.
std::string shown_line(std::string_view line) {
  std::string text;
  for (const char letter : line) {
    if (letter == '\r') text += "\\r";
    if (letter != '\r' && letter != '\n') text += letter;
  }
  return "\"" + base::printable(text) + "\"" + (line.ends_with('\n') ? "" : " without a line feed");
}

/// Of a line counted from 0.
std::string number_of_line(std::size_t line) { return std::to_string(line + 1); }

/// Takes a diff apart.
class DiffReader {
 public:
  DiffReader(std::string_view diff, const std::string& name, int first_line)
      : lines_(line_views(diff)), name_(name), first_line_(first_line) {}

  base::Result<std::vector<Hunk>> read() {
    if (lines_.empty()) return problem("no diff", "\"@@ -12,3 +12,4 @@\" and a hunk below it");
    std::vector<Hunk> hunks;
    while (at_ < lines_.size()) {
      if (lines_[at_] == "\n" && ++at_ > 0) continue;  // between hunks it says nothing
      auto hunk = read_hunk();
      if (!hunk) return hunk.error();
      hunks.push_back(std::move(*hunk));
    }
    return hunks;
  }

 private:
  [[nodiscard]] int line_number() const { return first_line_ + static_cast<int>(at_); }

  [[nodiscard]] base::Error problem(const std::string& found, const std::string& expected) const {
    return {base::ErrorKind::kInput, name_ + ":" + std::to_string(line_number()), found, expected,
            kMakeAnew};
  }

  base::Result<Hunk> read_hunk() {
    static const std::regex kHead(R"(@@ -(\d{1,6})(,\d{1,6})? \+\d{1,6}(,\d{1,6})? @@[^\r]*\n)");
    const std::string first(lines_[at_]);
    std::smatch head;
    if (!std::regex_match(first, head, kHead))
      return problem(shown_line(first), "the head of a hunk, as in \"@@ -12,3 +12,4 @@\"");
    const auto count_of = [&head](int group) -> std::size_t {
      return head[group].matched ? std::stoul(head[group].str().substr(1)) : 1;
    };
    Hunk hunk{line_number(), std::stoul(head[1]), count_of(2), count_of(3)};
    // A hunk without old lines names the line that it follows.
    if (hunk.old_count > 0 && hunk.old_start-- == 0)
      return problem(shown_line(first), "a first line of 1 or more");
    ++at_;
    while (hunk.old_lines.size() < hunk.old_count || hunk.new_lines.size() < hunk.new_count)
      if (const auto wrong = read_line(hunk)) return *wrong;
    return hunk;
  }

  std::optional<base::Error> read_line(Hunk& hunk) {
    const std::string expected = std::to_string(hunk.old_count) + " old and " +
                                 std::to_string(hunk.new_count) + " new lines, as line " +
                                 std::to_string(hunk.line) + " says";
    if (at_ == lines_.size()) return problem("the end of the file", expected);
    std::string_view line = lines_[at_];
    // Editors cut spaces at the ends of lines: an empty line is one of context.
    const char kind = line == "\n" ? ' ' : line.front();
    if (kind != ' ' && kind != '-' && kind != '+') return problem(shown_line(line), expected);
    if (!line.ends_with('\n')) return problem(shown_line(line), "a line feed at the end");
    if (line != "\n") line.remove_prefix(1);
    const bool ends_here = at_ + 1 < lines_.size() && lines_[at_ + 1].starts_with("\\ No newline");
    if (ends_here) line.remove_suffix(1);
    if (kind != '+') hunk.lines_of_old.push_back(line_number());
    if (kind != '+') hunk.old_lines.push_back(line);
    if (kind != '-') hunk.new_lines.push_back(line);
    if (kind != ' ') ++hunk.changed_lines;
    if (hunk.old_lines.size() > hunk.old_count || hunk.new_lines.size() > hunk.new_count)
      return problem(shown_line(lines_[at_]) + ", a line too many", expected);
    at_ += ends_here ? 2 : 1;
    return std::nullopt;
  }

  LineViews lines_;
  const std::string& name_;
  int first_line_;
  std::size_t at_ = 0;
};

/// Puts hunks into a text, in the order of their lines.
class DiffWriter {
 public:
  DiffWriter(std::string_view text, const std::string& name)
      : old_(line_views(text)), name_(name) {}

  std::optional<base::Error> write(const Hunk& hunk) {
    const auto start = place_of(hunk);
    if (!start) return start.error();
    keep_up_to(*start);
    for (const std::string_view line : hunk.new_lines) patched_.text += line;
    patched_.changed_lines += hunk.changed_lines;
    at_ += hunk.old_lines.size();
    return std::nullopt;
  }

  Patched finish() {
    keep_up_to(old_.size());
    return std::move(patched_);
  }

 private:
  void keep_up_to(std::size_t end) {
    for (; at_ < end; ++at_) patched_.text += old_[at_];
  }

  [[nodiscard]] bool stands_at(const Hunk& hunk, std::size_t start) const {
    return start >= at_ && start <= old_.size() && hunk.old_lines.size() <= old_.size() - start &&
           std::equal(hunk.old_lines.begin(), hunk.old_lines.end(),
                      old_.begin() + static_cast<std::ptrdiff_t>(start));
  }

  /// Where the head says, moved like the hunk before; or the one place where the lines stand.
  base::Result<std::size_t> place_of(const Hunk& hunk) {
    const auto said = hunk.old_start + moved_;
    if (stands_at(hunk, said)) return said;
    std::vector<std::size_t> found;
    for (std::size_t start = at_; !hunk.old_lines.empty() && start < old_.size(); ++start)
      if (stands_at(hunk, start)) found.push_back(start);
    if (found.size() == 1) {
      moved_ = found.front() - hunk.old_start;  // wraps below 0, and back when it is added
      return found.front();
    }
    return found.empty() ? unlike(hunk, said) : in_several_places(hunk, found);
  }

  /// Names the first line that differs.
  [[nodiscard]] base::Error unlike(const Hunk& hunk, std::size_t start) const {
    std::size_t same = 0;
    while (same < hunk.old_lines.size() && start + same < old_.size() &&
           hunk.old_lines[same] == old_[start + same])
      ++same;
    base::Error error{base::ErrorKind::kInput, at(hunk.line), "", "", kMakeAnew};
    if (same == hunk.old_lines.size()) {
      error.found = "the hunk starts before the one above it ends, or after the old text";
      error.expected = "hunks in the order of their lines";
      return error;
    }
    error.where = at(hunk.lines_of_old[same]);
    error.found = start + same < old_.size()
                      ? "line " + number_of_line(start + same) + " of the old text is " +
                            shown_line(old_[start + same])
                      : "the old text ends with line " + std::to_string(old_.size());
    error.expected = shown_line(hunk.old_lines[same]);
    return error;
  }

  [[nodiscard]] base::Error in_several_places(const Hunk& hunk,
                                              const std::vector<std::size_t>& found) const {
    std::string lines;
    for (const std::size_t start : found) base::add_word(lines, number_of_line(start));
    return {base::ErrorKind::kInput, at(hunk.line),
            "the hunk's lines stand in the old text at lines " + lines + ", and not where it says",
            "lines that stand there once",
            "correct the hunk's first line, or add lines of context"};
  }

  [[nodiscard]] std::string at(int line) const { return name_ + ":" + std::to_string(line); }

  LineViews old_;
  const std::string& name_;
  std::size_t at_ = 0;     // the first old line that is not yet in the result
  std::size_t moved_ = 0;  // by how many lines the last hunk stood after the place it names
  Patched patched_;
};

}  // namespace

base::Result<Patched> apply_diff(std::string_view old_text, std::string_view diff,
                                 const std::string& name, int first_line) {
  const auto hunks = DiffReader(diff, name, first_line).read();
  if (!hunks) return hunks.error();
  DiffWriter writer(old_text, name);
  for (const Hunk& hunk : *hunks)
    if (const auto problem = writer.write(hunk)) return *problem;
  return writer.finish();
}

}  // namespace membound::authoring
