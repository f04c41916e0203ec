// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/compilers/student_source.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "grader/base/strings.hpp"

namespace membound::compilers {
namespace {

constexpr auto kNowhere = std::string_view::npos;

// A submission may be anything: what is larger or deeper is no student's, and is not read.
constexpr std::size_t kMostBytes = 128 * 1024;
constexpr std::size_t kMostBranches = 1000;
constexpr int kDeepest = 100;

bool is_of_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

bool is_space(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }

/// Spaces instead of `text` from `begin` to `end`, but for line ends.
void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, text.size()); ++i)
    if (text[i] != '\n') text[i] = ' ';
}

/// Where a literal that begins with the quotation mark at `at` ends: after its closing mark, or at
/// the line's end.
std::size_t end_of_literal(const std::string& text, std::size_t at) {
  const char mark = text[at];
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == mark)
      return i + 1;
  }
  return std::min(text.find('\n', at), text.size());
}

/// An apostrophe between digits, as in 1'000.
bool separates_digits(const std::string& text, std::size_t at) {
  return at > 0 && at + 1 < text.size() && is_of_word(text[at - 1]) && is_of_word(text[at + 1]);
}

std::string code_of(const std::string& text) {
  std::string code = text;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text.compare(at, 2, "//") == 0) {
      end = std::min(text.find('\n', at), text.size());
      blank(code, at, end);
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t close = text.find("*/", at + 2);
      end = close == std::string::npos ? text.size() : close + 2;
      blank(code, at, end);
    } else if (text[at] == '"' || (text[at] == '\'' && !separates_digits(text, at))) {
      end = end_of_literal(text, at);
      blank(code, at + 1, end - 1);
    }
    at = end;
  }
  return code;
}

/// Behind the bracket that closes the one at `open`, or the end of `code`.
std::size_t after_bracket(std::string_view code, std::size_t open) {
  const char opens = code[open];
  const char closes = opens == '(' ? ')' : opens == '{' ? '}' : ']';
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == opens) ++depth;
    if (code[i] == closes && --depth == 0) return i + 1;
  }
  return code.size();
}

std::size_t skip_spaces(std::string_view code, std::size_t at) {
  while (at < code.size() && is_space(code[at])) ++at;
  return at;
}

std::string_view word_at(std::string_view code, std::size_t at) {
  std::size_t end = at;
  while (end < code.size() && is_of_word(code[end])) ++end;
  return code.substr(at, end - at);
}

/// After the preprocessor's line at the `#` of `at`, and after the lines on which it goes on.
std::size_t after_directive(std::string_view code, std::size_t at) {
  for (std::size_t end = code.find('\n', at); end != kNowhere; end = code.find('\n', end + 1)) {
    const std::size_t last = code.find_last_not_of(" \t\r", end - 1);
    if (last == kNowhere || last < at || code[last] != '\\') return end;
  }
  return code.size();
}

/// Behind the statement that begins at `at`, `depth` statements inside of others.
std::size_t after_statement(std::string_view code, std::size_t at, int depth = 0) {
  at = skip_spaces(code, at);
  if (at >= code.size() || depth > kDeepest) return code.size();
  if (code[at] == '{') return after_bracket(code, at);
  const std::string_view word = word_at(code, at);
  if (word == "if" || word == "for" || word == "while") {
    const std::size_t open = skip_spaces(code, at + word.size());
    if (open < code.size() && code[open] == '(') {
      std::size_t end = after_statement(code, after_bracket(code, open), depth + 1);
      const std::size_t next = skip_spaces(code, end);
      if (word == "if" && word_at(code, next) == "else")
        end = after_statement(code, next + 4, depth + 1);
      return end;
    }
  }
  for (; at < code.size(); ++at) {
    if (code[at] == '(' || code[at] == '{' || code[at] == '[')
      at = after_bracket(code, at) - 1;
    else if (code[at] == ';')
      return at + 1;
    else if (code[at] == '}')
      return at;
  }
  return code.size();
}

/// Columns of spaces before the first other letter.
int indentation(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == kNowhere ? 0 : static_cast<int>(first);
}

/// Where only a definition of the file stands, if a curly bracket before it is closed.
bool is_head(std::string_view line) {
  static constexpr std::string_view kHeads[] = {"__global__", "LAUNCH_SHAPE(", "LAUNCH_PLAN(",
                                                "template",   "INSTANTIATE_",  "inline ",
                                                "__device__ "};
  return std::any_of(std::begin(kHeads), std::end(kHeads),
                     [&](std::string_view head) { return line.starts_with(head); });
}

}  // namespace

std::size_t find_word(std::string_view code, std::string_view word, std::size_t from) {
  for (std::size_t at = code.find(word, from); at != kNowhere; at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_of_word(code[at - 1])) && (end == code.size() || !is_of_word(code[end])))
      return at;
  }
  return kNowhere;
}

StudentSource::StudentSource(std::string text) : text_(std::move(text)) {
  if (text_.size() > kMostBytes) text_.clear();
  code_ = code_of(text_);
  if (!text_.empty()) starts_.push_back(0);
  for (std::size_t i = 0; i + 1 < text_.size(); ++i)
    if (text_[i] == '\n') starts_.push_back(i + 1);
  read_functions();
  read_branches();
}

std::size_t StudentSource::start_of(int line) const {
  if (line < 1) return 0;
  return line > line_count() ? text_.size() : starts_[static_cast<std::size_t>(line) - 1];
}

int StudentSource::line_of(std::size_t byte) const {
  return static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), byte) - starts_.begin());
}

std::string_view StudentSource::line(int number) const {
  if (number < 1 || number > line_count()) return {};
  const std::size_t begin = start_of(number);
  std::string_view all = std::string_view(text_).substr(begin, start_of(number + 1) - begin);
  while (!all.empty() && (all.back() == '\n' || all.back() == '\r')) all.remove_suffix(1);
  return all;
}

std::string_view StudentSource::code_of_line(int number) const {
  return std::string_view(code_).substr(start_of(number), line(number).size());
}

void StudentSource::read_functions() {
  const std::string_view code = code_;
  std::size_t since = 0;  // the end of what came before
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at] == ';') since = at + 1;
    if (code[at] == '#') {
      at = after_directive(code, at);
      since = at + 1;
      continue;
    }
    if (code[at] != '{') continue;
    const std::string_view head = code.substr(since, at - since);
    const std::size_t last = head.find_last_not_of(" \t\r\n");
    const bool is_function = last != kNowhere && head[last] == ')';
    // The bracket of the parameters: the one that the last ')' closes.
    std::size_t open = kNowhere;
    for (std::size_t i = last + 1, depth = 0; is_function && i-- > 0;) {
      if (head[i] == ')') ++depth;
      if (head[i] == '(' && --depth == 0) {
        open = i;
        break;
      }
    }
    if (open != kNowhere && open > 0) {
      std::size_t begin = open;
      while (begin > 0 && is_space(head[begin - 1])) --begin;
      const std::size_t name_end = begin;
      while (begin > 0 && is_of_word(head[begin - 1])) --begin;
      SourceFunction function;
      function.name = std::string(head.substr(begin, name_end - begin));
      function.line = line_of(since + begin);
      function.is_kernel = find_word(head.substr(0, begin), "__global__") != kNowhere;
      function.is_device = find_word(head.substr(0, begin), "__device__") != kNowhere;
      if (function.name == "LAUNCH_SHAPE" || function.name == "LAUNCH_PLAN") {
        function.is_launch = function.is_device = true;
        function.name = std::string(word_at(head, skip_spaces(head, open + 1)));
      }
      function.begin = at;
      function.end = after_bracket(code, at);
      functions_.push_back(std::move(function));
    } else if (find_word(head, "namespace") != kNowhere || find_word(head, "extern") != kNowhere) {
      since = at + 1;
      continue;  // what is inside is read on
    }
    since = after_bracket(code, at);
    at = since - 1;
  }
}

void StudentSource::read_branches() {
  const std::string_view code = code_;
  std::vector<std::pair<std::size_t, std::size_t>> dos;  // bodies of do, by their ends
  for (std::size_t at = 0; at < code.size(); ++at) {
    // A macro's `do { } while (false)` has no `;`: what comes after it is no loop's body.
    if (code[at] == '#') at = after_directive(code, at);
    if (at >= code.size() || !is_of_word(code[at])) continue;
    const std::string_view word = word_at(code, at);
    const std::size_t open = skip_spaces(code, at + word.size());
    if (word == "do" && open < code.size() && code[open] == '{' && dos.size() < kMostBranches)
      dos.emplace_back(open, after_bracket(code, open));
    if ((word == "if" || word == "for" || word == "while") && open < code.size() &&
        code[open] == '(' && branches_.size() < kMostBranches) {
      Branch branch;
      branch.keyword = std::string(word);
      branch.line = line_of(at);
      const std::size_t after = after_bracket(code, open);
      if (after > open + 1)
        branch.condition =
            std::string(base::trimmed(std::string_view(text_).substr(open + 1, after - open - 2)));
      branch.begin = skip_spaces(code, after);
      branch.end = after_statement(code, branch.begin);
      for (const auto& [begin, end] : dos)
        if (word == "while" && skip_spaces(code, end) == at)  // it governs what stands before it
          branch.begin = begin, branch.end = end, branch.line = line_of(begin);
      std::string_view body = code.substr(branch.begin, branch.end - branch.begin);
      branch.is_empty = body == ";";
      if (body.starts_with('{') && body.size() > 1) body = body.substr(1, body.size() - 2);
      branch.returns = base::trimmed(body) == "return;";
      branches_.push_back(std::move(branch));
    }
    at += word.size() - 1;
  }
  std::ranges::stable_sort(branches_, {}, &Branch::begin);  // a do is read at its end
}

std::vector<const Branch*> StudentSource::around(int line) const {
  std::vector<const Branch*> found;
  const std::size_t begin = start_of(line), end = start_of(line + 1);
  const std::size_t first = skip_spaces(code_, begin);
  for (const Branch& branch : branches_) {
    if (branch.is_empty) continue;
    const bool holds = branch.begin <= first && first < branch.end;
    const bool on_this_line = branch.line == line && branch.begin < end;
    if (holds || on_this_line) found.push_back(&branch);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

const SourceFunction* StudentSource::function_at(int line) const {
  for (const SourceFunction& function : functions_)
    if (function.line <= line && line <= line_of(function.end == 0 ? 0 : function.end - 1))
      return &function;
  return nullptr;
}

const SourceFunction* StudentSource::function(std::string_view name, bool is_launch) const {
  for (const SourceFunction& function : functions_)
    if (function.name == name && function.is_launch == is_launch) return &function;
  return nullptr;
}

int StudentSource::find_line(std::string_view word, int first, int last) const {
  for (int number = std::max(first, 1); number <= std::min(last, line_count()); ++number)
    if (code_of_line(number).find(word) != kNowhere) return number;
  return 0;
}

std::optional<LostBrace> StudentSource::lost_brace() const {
  struct Open {
    std::size_t at;
    int line, left;  // the indentation of its line
  };
  std::vector<Open> open;
  std::optional<LostBrace> misfit;  // the first pair whose lines do not begin in one column
  const auto lost = [&](const Open& one, int found_line) {
    return LostBrace{true, one.line, static_cast<int>(one.at - start_of(one.line)) + 1, found_line};
  };
  for (int number = 1; number <= line_count(); ++number) {
    const std::string_view code = code_of_line(number);
    if (is_head(code) && !open.empty() && open.front().left == 0 && open.back().line < number &&
        line(open.front().line).find("namespace") == kNowhere &&
        line(open.front().line).find("extern") == kNowhere)
      return misfit ? misfit : lost(open.back(), number);
    const std::size_t start = start_of(number);
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (code[i] == '{') open.push_back({start + i, number, indentation(code)});
      if (code[i] != '}') continue;
      if (open.empty())
        return misfit && !misfit->never_closed
                   ? misfit
                   : LostBrace{false, number, static_cast<int>(i) + 1, number};
      const bool begins_line = base::trimmed(code.substr(0, i)).empty();
      if (!misfit && begins_line && open.back().line != number) {
        const int left = indentation(code);
        if (left < open.back().left) misfit = lost(open.back(), number);
        if (left > open.back().left)
          misfit = LostBrace{false, number, static_cast<int>(i) + 1, number};
      }
      open.pop_back();
    }
  }
  if (open.empty()) return std::nullopt;
  return misfit && misfit->never_closed ? misfit : lost(open.back(), line_count());
}

}  // namespace membound::compilers
