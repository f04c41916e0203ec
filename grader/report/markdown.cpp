// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/markdown_html.hpp"

#include <md4c.h>

#include <algorithm>
#include <vector>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

constexpr std::size_t kCodeIndent = 2, kQuoteIndent = 2;

std::string text_of(const MD_ATTRIBUTE& attribute) { return {attribute.text, attribute.size}; }

/// Whether a line of nothing but blanks (and the marks of a quote) lies in `source`.
bool holds_blank_line(std::string_view source) {
  for (auto end = source.find('\n'); end != std::string_view::npos; end = source.find('\n', end)) {
    end = source.find_first_not_of(" \t>", end + 1);
    if (end != std::string_view::npos && source[end] == '\n') return true;
  }
  return false;
}

/// What a block of HTML says: no comment, no tags, no empty lines.
std::string words_of(std::string_view html) {
  if (html.starts_with("<!--")) return "";
  std::string words;
  bool in_tag = false;
  for (const char c : html) {
    if (c == '<') in_tag = true;
    if (!in_tag && !(c == '\n' && (words.empty() || words.back() == '\n'))) words += c;
    if (c == '>') in_tag = false;
  }
  return words;
}

/// How a language goes on in the next line.
struct CodeStyle {
  char comment;              ///< a run of it begins a comment
  std::size_t comment_size;  ///< at least so many
  std::string_view go_on;    ///< ends a line that goes on
};
constexpr CodeStyle kCpp = {'/', 2, ""}, kShell = {'#', 1, " \\"};

/// One line of code in lines of at most `width` columns, broken at spaces and nowhere else. What
/// goes on stands four columns deeper; a comment goes on as a comment.
std::vector<std::string> code_lines(std::string_view code, std::size_t width,
                                    const CodeStyle& language) {
  std::vector<std::string> lines;
  const std::string depth(std::min(code.find_first_not_of(' '), code.size()), ' ');
  const auto comment = code.find(std::string(language.comment_size, language.comment));
  std::string mark;  // "// ", "/// " or "# "
  if (comment != std::string_view::npos)
    mark = std::string(
               std::min(code.find_first_not_of(language.comment, comment), code.size()) - comment,
               language.comment) +
           " ";
  std::size_t taken = 0;
  std::string before;
  while (before.size() + columns(code.substr(taken)) > width) {
    const std::string_view rest = code.substr(taken);
    const auto used = std::min(width, before.size() + language.go_on.size());
    const auto room = first_columns(rest, width - used).size();
    auto space = rest.substr(0, room + 1).rfind(' ');
    if (space == std::string_view::npos || rest.find_first_not_of(' ') > space)
      space = rest.find(' ', std::min(rest.find_first_not_of(' '), rest.size()));
    if (space == std::string_view::npos) break;
    lines.push_back(before + std::string(rest.substr(0, space)));
    taken += space + 1;
    if (taken <= comment) lines.back() += language.go_on;
    before = depth + (comment == depth.size() ? "" : "    ") + (taken > comment ? mark : "");
  }
  lines.push_back(before + std::string(code.substr(taken)));
  return lines;
}

/// Writes what md4c reads. Blank lines stand where they stand in the source.
class Writer {
 public:
  Writer(std::string_view source, const Style& style) : source_(source), style_(style) {}

  std::string write() {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_TABLES;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      static_cast<Writer*>(self)->enter(type, detail);
      return 0;
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      static_cast<Writer*>(self)->leave(type, detail);
      return 0;
    };
    parser.enter_span = [](MD_SPANTYPE, void*, void* self) {
      auto& writer = *static_cast<Writer*>(self);
      writer.spans_.push_back(writer.text_.size());
      return 0;
    };
    parser.leave_span = [](MD_SPANTYPE type, void* detail, void* self) {
      static_cast<Writer*>(self)->leave_span(type, detail);
      return 0;
    };
    parser.text = [](MD_TEXTTYPE type, const char* text, MD_SIZE size, void* self) {
      static_cast<Writer*>(self)->add(type, {text, size});
      return 0;
    };
    md_parse(source_.data(), static_cast<MD_SIZE>(source_.size()), &parser, this);
    return std::move(out_);
  }

 private:
  struct List {
    unsigned number = 0;
    std::string mark;  ///< "-", or what stands after the number
    bool is_numbered = false;
  };

  void enter(MD_BLOCKTYPE type, void* detail) {
    write_paragraph();
    if (type == MD_BLOCK_UL) {
      lists_.push_back({0, {static_cast<MD_BLOCK_UL_DETAIL*>(detail)->mark}, false});
    } else if (type == MD_BLOCK_OL) {
      const auto& list = *static_cast<MD_BLOCK_OL_DETAIL*>(detail);
      lists_.push_back({list.start, {list.mark_delimiter}, true});
    } else if (type == MD_BLOCK_LI) {
      List& list = lists_.back();
      std::string mark = list.is_numbered ? std::to_string(list.number++) : "";
      mark += list.mark + " ";
      mark_ = std::string(indents_.back(), ' ') + mark;
      indents_.push_back(mark_.size());
    } else if (type == MD_BLOCK_QUOTE) {
      indents_.push_back(indents_.back() + kQuoteIndent);
    } else if (type == MD_BLOCK_TR) {
      table_.emplace_back();
    }
  }

  void leave(MD_BLOCKTYPE type, void* detail) {
    if (type == MD_BLOCK_TD || type == MD_BLOCK_TH) {
      const bool right = static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align == MD_ALIGN_RIGHT;
      table_.back().push_back({std::move(text_), right});
      text_.clear();
    } else if (type == MD_BLOCK_TABLE) {
      out_ += text_table(table_, style_);
      table_.clear();
    } else if (type == MD_BLOCK_CODE) {
      write_code(text_of(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang) == "sh" ? kShell : kCpp);
    } else if (type == MD_BLOCK_HTML) {
      text_ = words_of(text_);
      write_paragraph();
    } else if (type == MD_BLOCK_H) {
      write_heading(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
    } else {
      write_paragraph();
      if (type == MD_BLOCK_LI || type == MD_BLOCK_QUOTE) indents_.pop_back();
      if (type == MD_BLOCK_UL || type == MD_BLOCK_OL) lists_.pop_back();
    }
  }

  void leave_span(MD_SPANTYPE type, void* detail) {
    const std::size_t start = spans_.back();
    spans_.pop_back();
    if (type == MD_SPAN_A) {
      const std::string address = text_of(static_cast<MD_SPAN_A_DETAIL*>(detail)->href);
      if (!address.starts_with('#') && address != text_.substr(start))
        text_ += " (" + address + ")";
    } else if (type == MD_SPAN_IMG) {
      text_.insert(start, "[figure: ");
      text_ += "]";
    }
  }

  void add(MD_TEXTTYPE type, std::string_view text) {
    keep_blank_line(text);
    if (type == MD_TEXT_SOFTBR) {
      text_ += ' ';
    } else if (type == MD_TEXT_BR) {
      text_ += '\n';
    } else {
      text_ += text;
    }
  }

  /// Where `text` begins a block after a blank line of the source. md4c makes some blocks itself.
  void keep_blank_line(std::string_view text) {
    if (text.data() < source_.data() || text.data() >= source_.data() + source_.size()) return;
    const auto start = static_cast<std::size_t>(text.data() - source_.data());
    if (text_.empty() && table_.size() <= 1 &&
        holds_blank_line(source_.substr(seen_, start - seen_)))
      write_blank_line();
    seen_ = start + text.size();
  }

  void write_blank_line() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  void write_paragraph() {
    if (text_.empty()) return;
    std::string lines = wrapped(text_, style_.width, static_cast<int>(indents_.back()));
    lines.replace(0, mark_.size(), mark_);
    out_ += lines;
    mark_.clear();
    text_.clear();
  }

  void write_heading(unsigned level) {
    // "# Writing a lab {#writing_a_lab}": the mark is Doxygen's.
    text_.resize(std::min(text_.find(" {#"), text_.size()));
    write_blank_line();
    out_ += style_.paint(text_, Tone::kStrong) + "\n";
    if (level == 1) out_ += style_.paint(std::string(columns(text_), '='), Tone::kFaint) + "\n";
    text_.clear();
  }

  void write_code(const CodeStyle& language) {
    const std::string indent(indents_.back() + kCodeIndent, ' ');
    std::string_view rest = text_;
    while (!rest.empty()) {
      const auto end = std::min(rest.find('\n'), rest.size());
      for (const std::string& line :
           code_lines(rest.substr(0, end), static_cast<std::size_t>(style_.width) - indent.size(),
                      language))
        out_ += (line.empty() ? "" : indent + style_.paint(line, Tone::kFaint)) + "\n";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    text_.clear();
  }

  std::string_view source_;
  const Style& style_;
  std::string out_;
  std::size_t seen_ = 0;                    ///< bytes of the source that were read
  std::string text_;                        ///< of the block or cell that is being read
  std::vector<std::size_t> spans_;          ///< where the open ones begin in text_
  std::string mark_;                        ///< of a list's item, with its indent, until written
  std::vector<std::size_t> indents_ = {0};  ///< columns, of the open items and quotes
  std::vector<List> lists_;
  std::vector<std::vector<Cell>> table_;
};

}  // namespace

namespace {

/// Lines that are one comment of HTML are for programs; below a table they would be a row of it.
std::string without_comments(std::string_view text) {
  std::string kept;
  bool in_code = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("```")) in_code = !in_code;
    if (in_code || !line.starts_with("<!--") || !line.ends_with("-->")) kept += line;
    kept += '\n';
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return kept;
}

}  // namespace

std::string render_markdown(std::string_view text, const Style& style) {
  const std::string kept = without_comments(text);
  return Writer(kept, style).write();
}

}  // namespace membound::report
