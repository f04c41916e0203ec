// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/markdown_html.hpp"

#include <md4c.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "grader/report/svg.hpp"

namespace membound::report {
namespace {

std::string address_of(const MD_ATTRIBUTE& attribute) { return {attribute.text, attribute.size}; }

/// "Stage 1: **one** thread" -> "stage-1-one-thread".
std::string id_of(std::string_view html) {
  std::string id;
  bool in_tag = false;
  for (const char c : html) {
    if (c == '<') in_tag = true;
    if (!in_tag && std::isalnum(static_cast<unsigned char>(c)) != 0)
      id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!in_tag && !id.empty() && id.back() != '-')
      id += '-';
    if (c == '>') in_tag = false;
  }
  while (id.ends_with('-')) id.pop_back();
  return id.empty() ? "part" : id;
}

/// XML text for an attribute: without tags and quotes.
std::string attribute_text(std::string_view xml) {
  std::string text;
  bool in_tag = false;
  for (const char c : xml) {
    if (c == '<') in_tag = true;
    if (!in_tag) text += c == '"' ? "&quot;" : std::string(1, c);
    if (c == '>') in_tag = false;
  }
  return text;
}

std::string_view tag_of(MD_BLOCKTYPE type) {
  switch (type) {
    case MD_BLOCK_UL:
      return "ul";
    case MD_BLOCK_LI:
      return "li";
    case MD_BLOCK_QUOTE:
      return "blockquote";
    case MD_BLOCK_P:
      return "p";
    case MD_BLOCK_TABLE:
      return "table";
    case MD_BLOCK_THEAD:
      return "thead";
    case MD_BLOCK_TBODY:
      return "tbody";
    case MD_BLOCK_TR:
      return "tr";
    default:
      return "";
  }
}

/// Writes what md4c reads.
class HtmlWriter {
 public:
  HtmlWriter(const PageAddresses& addresses, std::vector<Heading>& headings)
      : addresses_(addresses), headings_(headings) {}

  std::string write(std::string_view source) {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_TABLES;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      static_cast<HtmlWriter*>(self)->enter(type, detail);
      return 0;
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* self) {
      static_cast<HtmlWriter*>(self)->leave(type, detail);
      return 0;
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* self) {
      static_cast<HtmlWriter*>(self)->enter_span(type, detail);
      return 0;
    };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* self) {
      static_cast<HtmlWriter*>(self)->leave_span(type);
      return 0;
    };
    parser.text = [](MD_TEXTTYPE type, const char* text, MD_SIZE size, void* self) {
      static_cast<HtmlWriter*>(self)->add(type, {text, size});
      return 0;
    };
    md_parse(source.data(), static_cast<MD_SIZE>(source.size()), &parser, this);
    return std::move(out_);
  }

 private:
  void enter(MD_BLOCKTYPE type, void* detail) {
    const std::string_view tag = tag_of(type);
    if (type == MD_BLOCK_CODE) {
      code_.clear();
      in_code_ = true;
    } else if (type == MD_BLOCK_OL) {
      const unsigned start = static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start;
      out_ += start == 1 ? "<ol>\n" : "<ol start=\"" + std::to_string(start) + "\">\n";
    } else if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
      const bool right = static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align == MD_ALIGN_RIGHT;
      out_ +=
          std::string(type == MD_BLOCK_TH ? "<th" : "<td") + (right ? " class=\"right\">" : ">");
    } else if (type == MD_BLOCK_TABLE) {
      out_ += "<div class=\"table\" tabindex=\"0\"><table>\n";
    } else if (type == MD_BLOCK_HR) {
      out_ += "<hr>\n";
    } else if (!tag.empty()) {
      out_ += "<" + std::string(tag) + ">";
    }
    begin_ = out_.size();
  }

  void leave(MD_BLOCKTYPE type, void* detail) {
    const std::string_view tag = tag_of(type);
    if (type == MD_BLOCK_CODE) {
      in_code_ = false;
      const std::string language = address_of(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang);
      const bool cpp = language == "cpp" || language == "cuda" || language == "c++";
      out_ += "<pre><code>" + (cpp ? highlighted_cpp(code_) : escaped(code_)) + "</code></pre>\n";
    } else if (type == MD_BLOCK_H) {
      write_heading(static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level));
    } else if (type == MD_BLOCK_P && figure_) {
      // A picture that is a paragraph of its own: "<p>" is taken back.
      out_.erase(begin_ - std::string_view("<p>").size());
      out_ += *std::exchange(figure_, std::nullopt);
    } else if (type == MD_BLOCK_OL) {
      out_ += "</ol>\n";
    } else if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
      out_ += type == MD_BLOCK_TH ? "</th>" : "</td>";
    } else if (type == MD_BLOCK_TABLE) {
      out_ += "</table></div>\n";
    } else if (!tag.empty()) {
      out_ += "</" + std::string(tag) + ">\n";
    }
  }

  void enter_span(MD_SPANTYPE type, void* detail) {
    spans_.push_back(out_.size());
    if (type == MD_SPAN_A) {
      const std::string target = address_of(static_cast<MD_SPAN_A_DETAIL*>(detail)->href);
      const std::string address = addresses_.link ? addresses_.link(target) : target;
      links_.push_back(!address.empty());
      if (links_.back()) out_ += "<a href=\"" + escaped(address) + "\">";
    } else if (type == MD_SPAN_IMG) {
      image_ = address_of(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src);
    } else if (type == MD_SPAN_EM || type == MD_SPAN_STRONG || type == MD_SPAN_CODE) {
      out_ += type == MD_SPAN_EM ? "<em>" : type == MD_SPAN_STRONG ? "<strong>" : "<code>";
    }
  }

  void leave_span(MD_SPANTYPE type) {
    const std::size_t start = spans_.back();
    spans_.pop_back();
    if (type == MD_SPAN_A) {
      if (links_.back()) out_ += "</a>";
      links_.pop_back();
    } else if (type == MD_SPAN_IMG) {
      const std::string caption = out_.substr(start);
      out_.erase(start);
      figure_ = figure(caption);
    } else if (type == MD_SPAN_EM || type == MD_SPAN_STRONG || type == MD_SPAN_CODE) {
      out_ += type == MD_SPAN_EM ? "</em>" : type == MD_SPAN_STRONG ? "</strong>" : "</code>";
    }
  }

  [[nodiscard]] std::string figure(const std::string& caption) const {
    const FigureSource source =
        addresses_.figure ? addresses_.figure(image_) : FigureSource{image_};
    std::string size;
    if (source.width > 0)
      size = " width=\"" + std::to_string(source.width) + "\" height=\"" +
             std::to_string(source.height) + "\"";
    if (!source.picture.empty())
      return "<figure tabindex=\"0\">" + source.picture + "<figcaption>" + caption +
             "</figcaption></figure>\n";
    return "<figure tabindex=\"0\"><img src=\"" + escaped(source.address) + "\" alt=\"" +
           attribute_text(source.description.empty() ? caption : source.description) + "\"" + size +
           "><figcaption>" + caption + "</figcaption></figure>\n";
  }

  void add(MD_TEXTTYPE type, std::string_view text) {
    if (in_code_) {
      code_ += text;
    } else if (type == MD_TEXT_SOFTBR) {
      out_ += '\n';
    } else if (type == MD_TEXT_BR) {
      out_ += "<br>\n";
    } else if (type == MD_TEXT_ENTITY) {
      out_ += text;
    } else if (type == MD_TEXT_HTML) {
      if (!text.starts_with("<!--")) out_ += text;
    } else {
      out_ += escaped(text);
    }
  }

  void write_heading(int level) {
    std::string words = out_.substr(begin_);
    out_.erase(begin_);
    // "# Writing a lab {#writing_a_lab}": the mark is Doxygen's, and the id where it is there.
    std::string id = id_of(words);
    if (const auto mark = words.find(" {#"); mark != std::string::npos) {
      id = words.substr(mark + 3, words.find('}', mark) - mark - 3);
      words.erase(mark);
    }
    const auto taken = [&](const std::string& name) {
      return std::ranges::any_of(headings_, [&](const Heading& other) { return other.id == name; });
    };
    const std::string first = id;
    for (int number = 2; taken(id); ++number) id = first + "-" + std::to_string(number);
    headings_.push_back({level, id, words});
    const std::string tag = "h" + std::to_string(level);
    out_ += "<" + tag + " id=\"" + id + "\">" + words + "</" + tag + ">\n";
  }

  const PageAddresses& addresses_;
  std::vector<Heading>& headings_;
  std::string out_, code_, image_;
  std::optional<std::string> figure_;  ///< that the paragraph being read holds
  std::vector<std::size_t> spans_;     ///< where the open ones begin in out_
  std::vector<bool> links_;            ///< of the open ones: whether they lead anywhere
  std::size_t begin_ = 0;              ///< of the block's content in out_
  bool in_code_ = false;
};

}  // namespace

std::string markdown_to_html(std::string_view text, const PageAddresses& addresses,
                             std::vector<Heading>& headings) {
  return HtmlWriter(addresses, headings).write(text);
}

std::string inline_html(std::string_view line) {
  std::vector<Heading> none;
  std::string html = markdown_to_html(line, {}, none);
  constexpr std::string_view kParagraph = "<p>", kEnd = "</p>\n";
  if (html.starts_with(kParagraph) && html.ends_with(kEnd))
    html = html.substr(kParagraph.size(), html.size() - kParagraph.size() - kEnd.size());
  return html;
}

namespace {

constexpr std::array<std::string_view, 47> kLanguageWords = {"__device__",   "__global__",
                                                             "__host__",     "__launch_bounds__",
                                                             "__restrict__", "__shared__",
                                                             "alignas",      "auto",
                                                             "bool",         "break",
                                                             "case",         "char",
                                                             "const",        "constexpr",
                                                             "continue",     "do",
                                                             "double",       "else",
                                                             "enum",         "false",
                                                             "float",        "for",
                                                             "if",           "inline",
                                                             "int",          "long",
                                                             "namespace",    "nullptr",
                                                             "operator",     "reinterpret_cast",
                                                             "return",       "short",
                                                             "signed",       "sizeof",
                                                             "static",       "static_cast",
                                                             "struct",       "switch",
                                                             "template",     "true",
                                                             "typename",     "unsigned",
                                                             "using",        "void",
                                                             "volatile",     "while",
                                                             "class"};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t end_of_word(std::string_view code) {
  return static_cast<std::size_t>(std::ranges::find_if_not(code, in_word) - code.begin());
}

std::size_t end_of_text(std::string_view code) {
  std::size_t end = 1;
  while (end < code.size() && code[end] != code[0] && code[end] != '\n')
    end += code[end] == '\\' ? 2 : 1;
  return std::min(end + 1, code.size());
}

}  // namespace

std::string highlighted_cpp(std::string_view code) {
  std::string html;
  const auto take = [&](std::size_t size, std::string_view look) {
    const std::string text = escaped(code.substr(0, size));
    html += look.empty() ? text : "<span class=\"" + std::string(look) + "\">" + text + "</span>";
    code.remove_prefix(std::min(size, code.size()));
  };
  while (!code.empty()) {
    if (code.starts_with("//")) {
      take(std::min(code.find('\n'), code.size()), "comment");
    } else if (code.starts_with("/*")) {
      take(std::min(code.find("*/", 2), code.size() - 2) + 2, "comment");
    } else if (code[0] == '"') {
      take(end_of_text(code), "text");
    } else if (code[0] == '#') {
      take(1 + end_of_word(code.substr(1)), "word");
    } else if (in_word(code[0])) {
      const auto end = end_of_word(code);
      const bool number = std::isdigit(static_cast<unsigned char>(code[0])) != 0;
      const bool word =
          std::ranges::find(kLanguageWords, code.substr(0, end)) != kLanguageWords.end();
      take(end, number ? "number" : word ? "word" : "");
    } else {
      take(1, "");
    }
  }
  return html;
}

}  // namespace membound::report
