// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/markdown.hpp"

#include <algorithm>
#include <vector>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view without_indent(std::string_view line) {
  const auto start = line.find_first_not_of(' ');
  return start == std::string_view::npos ? std::string_view() : line.substr(start);
}

/// "[text](address)" and "![text](address)" at `at`: what to print, and where it ends.
bool link_at(const std::string& line, std::size_t at, std::string& shown, std::size_t& end) {
  const bool is_figure = line[at] == '!';
  const std::size_t open = at + (is_figure ? 1 : 0);
  if (open >= line.size() || line[open] != '[') return false;
  const auto close = line.find("](", open);
  if (close == std::string::npos) return false;
  const auto last = line.find(')', close);
  if (last == std::string::npos) return false;
  const std::string text = line.substr(open + 1, close - open - 1);
  const std::string address = line.substr(close + 2, last - close - 2);
  end = last + 1;
  if (is_figure) {
    shown = "[figure: " + text + ": " + address + "]";
  } else {
    shown = address.starts_with('#') || address == text ? text : text + " (" + address + ")";
  }
  return true;
}

/// Signs of emphasis and code go, links open up. Colour would break the wrapping: none.
std::string inline_text(const std::string& line) {
  std::string out;
  bool in_code = false;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '`') {
      in_code = !in_code;
      ++i;
      continue;
    }
    std::string shown;
    std::size_t end = 0;
    if (!in_code && (line[i] == '[' || line[i] == '!') && link_at(line, i, shown, end)) {
      out += inline_text(shown);
      i = end;
      continue;
    }
    if (!in_code && line.compare(i, 2, "**") == 0) {
      i += 2;
      continue;
    }
    // A single star next to a letter is emphasis; "2 * 3" keeps its own.
    const bool by_letter = (i + 1 < line.size() && line[i + 1] != ' ') !=
                           (i > 0 && line[i - 1] != ' ' && line[i - 1] != '(');
    if (!in_code && line[i] == '*' && by_letter) {
      ++i;
      continue;
    }
    if (!in_code && line[i] == '\\' && i + 1 < line.size()) ++i;
    out += line[i++];
  }
  return out;
}

/// "- ", "* " or "12. " at the start: how many characters; 0 for none.
std::size_t list_mark(std::string_view line) {
  if (line.starts_with("- ") || line.starts_with("* ")) return 2;
  std::size_t digits = 0;
  while (digits < line.size() && line[digits] >= '0' && line[digits] <= '9') ++digits;
  return digits > 0 && line.substr(digits, 2) == ". " ? digits + 2 : 0;
}

std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  row.remove_prefix(1);
  while (!row.empty()) {
    auto end = std::min(row.find('|'), row.size());
    // A bar that belongs to the cell is written \|.
    while (end < row.size() && end > 0 && row[end - 1] == '\\')
      end = std::min(row.find('|', end + 1), row.size());
    std::string_view cell = without_indent(row.substr(0, end));
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    cells.push_back(inline_text(std::string(cell)));
    row.remove_prefix(std::min(end + 1, row.size()));
  }
  return cells;
}

class Renderer {
 public:
  explicit Renderer(const Style& style) : style_(style) {}

  std::string render(std::string_view text) {
    for (const std::string& line : lines_of(text)) add(line);
    flush();
    while (out_.ends_with("\n\n")) out_.pop_back();
    return std::move(out_);
  }

 private:
  void add(const std::string& line) {
    const std::string_view bare = without_indent(line);
    if (bare.starts_with("```")) {
      flush();
      in_code_ = !in_code_;
      return;
    }
    if (in_code_) {
      out_ += "    " + style_.paint(line, Tone::kFaint) + "\n";
      return;
    }
    const bool is_code = line.starts_with("    ") && paragraph_.empty() && table_.empty();
    if (is_code && !bare.empty()) {
      out_ += style_.paint(line, Tone::kFaint) + "\n";
      return;
    }
    if (in_comment_ || bare.starts_with("<!--")) {
      in_comment_ = line.find("-->") == std::string::npos;
      return;
    }
    if (bare.empty()) {
      flush();
      blank();
    } else if (bare.starts_with('#')) {
      heading(bare);
    } else if (bare.starts_with('|')) {
      if (table_.empty()) flush();
      if (bare.find_first_not_of("|-: ") != std::string_view::npos)
        table_.push_back(cells_of(bare));
    } else if (list_mark(bare) > 0) {
      flush();
      indent_ = line.size() - bare.size();
      hang_ = list_mark(bare);
      paragraph_ = bare;
    } else if (bare.starts_with("> ")) {
      if (paragraph_.empty()) quote_ = true;
      continue_with(bare.substr(2));
    } else {
      continue_with(bare);
    }
  }

  void continue_with(std::string_view text) {
    if (!table_.empty()) flush();
    if (!paragraph_.empty()) paragraph_ += ' ';
    paragraph_ += text;
  }

  void heading(std::string_view line) {
    flush();
    const auto level = line.find_first_not_of('#');
    if (level == std::string_view::npos) return;
    std::string text = inline_text(std::string(without_indent(line.substr(level))));
    // "# Writing a lab {#writing_a_lab}": the mark is Doxygen's.
    if (const auto mark = text.find(" {#"); mark != std::string::npos) text.resize(mark);
    if (!out_.empty()) blank();
    out_ += style_.paint(text, Tone::kStrong) + "\n";
    if (level == 1) out_ += style_.paint(std::string(columns(text), '='), Tone::kFaint) + "\n";
  }

  void blank() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  void flush() {
    if (!paragraph_.empty()) {
      const std::size_t depth = indent_ + hang_;
      const std::string mark = paragraph_.substr(0, hang_);
      std::string text = wrapped(inline_text(paragraph_.substr(hang_)), style_.width,
                                 static_cast<int>(quote_ ? depth + 2 : depth));
      if (hang_ > 0) text.replace(0, depth, std::string(indent_, ' ') + mark);
      out_ += text;
    }
    if (!table_.empty()) write_table();
    paragraph_.clear();
    indent_ = hang_ = 0;
    quote_ = false;
  }

  /// Columns as wide as their widest cell; a table that is too wide loses the end of its last
  /// column to the next line.
  void write_table() {
    std::vector<std::size_t> widths;
    for (const auto& row : table_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    }
    bool head = true;
    for (const auto& row : table_) {
      std::size_t start = 0;
      std::string line;
      for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        line += padded(row[i], widths[i]) + "  ";
        start += widths[i] + 2;
      }
      const std::string last = row.empty() ? "" : row.back();
      const int room = style_.width - static_cast<int>(start);
      if (room < 20 || static_cast<int>(columns(last)) <= room) {
        line += last;
        while (line.ends_with(' ')) line.pop_back();
        out_ += style_.paint(line, head ? Tone::kStrong : Tone::kPlain) + "\n";
      } else {
        std::string text = wrapped(last, style_.width, static_cast<int>(start));
        out_ += text.replace(0, start, line);
      }
      head = false;
    }
    table_.clear();
  }

  const Style& style_;
  std::string out_;
  std::string paragraph_;  // with its list mark, if any
  std::size_t indent_ = 0;
  std::size_t hang_ = 0;  // width of the list mark
  bool quote_ = false;
  bool in_code_ = false;
  bool in_comment_ = false;
  std::vector<std::vector<std::string>> table_;
};

}  // namespace

std::string render_markdown(std::string_view text, const Style& style) {
  return Renderer(style).render(text);
}

}  // namespace membound::report
