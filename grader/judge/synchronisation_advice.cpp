// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the source shows of threads that do not meet as they should: a barrier or a warp's call in
/// a branch that some threads do not take, accesses that nothing orders, a loop that waits for a
/// word.
#include <algorithm>
#include <cstddef>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "grader/judge/findings.hpp"

namespace membound::judge {
namespace {

using compilers::Branch;
using compilers::SourceFunction;
using compilers::StudentSource;
using course::Finding;

/// Whether a line is in the `else { }` of an if.
bool stands_in_else_of(const StudentSource& source, const Branch& branch, int line) {
  const std::string_view code = source.code();
  const std::size_t word = code.find_first_not_of(" \n\r\t", branch.end);
  if (branch.keyword != "if" || word == std::string_view::npos ||
      !code.substr(word).starts_with("else"))
    return false;
  std::size_t end = code.find_first_of("{;", word);
  for (int open = 0; end < code.size(); ++end) {
    open += code[end] == '{' ? 1 : code[end] == '}' ? -1 : 0;
    if (open == 0) break;
  }
  return branch.end < source.start_of(line) && source.start_of(line) < end;
}

/// Whether branches that only some threads take hold both lines, one branch both or two sides of an
/// if one each: then no __syncthreads() may.
bool share_a_branch(const StudentSource& source, int first, int second) {
  const auto around_second = source.around(second);
  for (const Branch* one : source.around(first))
    if (one->keyword == "if" && (std::ranges::find(around_second, one) != around_second.end() ||
                                 stands_in_else_of(source, *one, second)))
      return true;
  return std::ranges::any_of(
      around_second, [&](const Branch* other) { return stands_in_else_of(source, *other, first); });
}

/// Whether the lines are on the two sides of one if.
bool are_two_sides(const StudentSource& source, int first, int second) {
  const auto is_else = [&](int one, int other) {
    return std::ranges::any_of(source.around(one), [&](const Branch* branch) {
      return stands_in_else_of(source, *branch, other);
    });
  };
  return is_else(first, second) || is_else(second, first);
}

/// The empty loop of a line, which waits for a word; null where it has none.
const Branch* waiting_loop(const StudentSource& source, int line) {
  for (const Branch& branch : source.branches()) {
    if (branch.line != line || branch.keyword == "if") continue;
    const std::string_view body = source.code().substr(branch.begin, branch.end - branch.begin);
    if (branch.is_empty || body.find_first_not_of("{} \n\r\t") == std::string_view::npos)
      return &branch;
  }
  return nullptr;
}

/// That of a line, or of the next one where a branch begins: there a compiler puts what it loads
/// once for the loops inside.
const Branch* waiting_loop_of(const StudentSource& source, int line) {
  if (const Branch* const loop = waiting_loop(source, line)) return loop;
  const bool begins_one = std::ranges::any_of(
      source.branches(), [&](const Branch& branch) { return branch.line == line; });
  return begins_one ? waiting_loop(source, line + 1) : nullptr;
}

/// What orders two lines on the two sides of an if, between which no barrier can stand.
std::string between_two_sides(const StudentSource& source, int first, int second) {
  const SourceFunction* const function = source.function_at(first);
  bool waits = false;
  if (function != nullptr)
    for (int line = function->line; line <= source.line_of(function->end - 1); ++line)
      waits |= waiting_loop(source, line) != nullptr;
  const std::string lines = "lines " + std::to_string(first) + " and " + std::to_string(second) +
                            " are the two sides of one if, so no barrier can stand between them: ";
  if (waits)
    return lines +
           "before one side stores the word that the other one waits for, put a __syncwarp() of "
           "its own lanes, and then __threadfence_block(); without the fence the word may be seen "
           "before what was read and written earlier";
  return lines +
         "end the if after the side that comes first, put __syncwarp() there (__syncthreads() for "
         "several warps), and begin another if for the other side";
}

/// A shuffle, vote, match or reduction of a warp, as a line of code calls it.
struct WarpCall {
  std::string name, mask;  ///< "" where the line has none
};

WarpCall warp_call(const std::string& code) {
  static const std::regex kCall(
      R"((__(?:shfl|ballot|any|all|match|reduce)\w*_sync)\s*\(\s*([\w~-]+)\s*,)");
  std::smatch match;
  return std::regex_search(code, match, kCall) ? WarpCall{match[1], match[2]} : WarpCall{};
}

/// Whether the word is a number of whole warps: a literal, or a constant of this file.
bool is_of_whole_warps(const StudentSource& source, const std::string& word) {
  static const std::set<std::string> kGiven = {"kWarpLanes", "kLanes", "warpSize"};
  if (kGiven.contains(word)) return true;
  std::string digits = word;
  std::smatch match;
  const std::string code(source.code());
  for (std::size_t at = compilers::find_word(code, word); at != std::string::npos;
       at = compilers::find_word(code, word, at + 1)) {
    static const std::regex kValue(R"(^\w+\s*=\s*(\d{1,6})\s*;)");
    const std::string here = code.substr(at, 100);
    if (std::regex_search(here, match, kValue)) digits = match[1];
  }
  static const std::regex kNumber(R"(^(\d{1,6})[uUlL]*$)");
  return std::regex_search(digits, match, kNumber) && std::stoi(match[1]) % 32 == 0;
}

/// Whether the threads of a warp take a branch together, as far as its condition says: one on the
/// warp's number, or on the first so many whole warps.
bool whole_warps_take(const StudentSource& source, const Branch& branch) {
  constexpr std::size_t kLongest = 1000;  // std::regex recurses over what it matches
  const std::string& condition = branch.condition;
  if (condition.size() > kLongest) return false;
  static const std::regex kByWarp(
      R"(/\s*(?:32|kLanes|kWarpLanes|warpSize)\b|>>\s*5\b|\b(?!warpSize)\w*warp)");
  if (std::regex_search(condition, kByWarp)) return true;
  static const std::regex kFirstOnes(R"(^\s*(\w+(?:\.x)?)\s*(?:<|>=)\s*(\w+)\s*$)");
  std::smatch match;
  if (!std::regex_search(condition, match, kFirstOnes)) return false;
  const std::string thread = match[1], count = match[2];
  if (thread != "threadIdx.x") {
    const std::regex is_thread(R"(\b)" + thread + R"(\s*=\s*threadIdx\.x\s*[;,])");
    const SourceFunction* const function = source.function_at(branch.line);
    bool found = false;
    for (int line = function == nullptr ? branch.line : function->line;
         !found && line < branch.line; ++line) {
      const std::string code(source.code_of_line(line).substr(0, kLongest));
      found = std::regex_search(code, is_thread);
    }
    if (!found) return false;
  }
  return is_of_whole_warps(source, count);
}

}  // namespace

void advise_barrier(const StagePlace& place, Finding& finding) {
  const StudentSource& source = place.source;
  const SourceFunction* const function = source.function_at(finding.line);
  if (function == nullptr) return;
  const int end = source.line_of(function->end - 1);
  for (int line = function->line; line <= end; ++line) {
    if (!holds(place.code(line), "__syncthreads")) continue;
    for (const Branch* branch : source.around(line)) {
      const bool depends = holds(branch->condition, "threadIdx") ||
                           (branch->keyword == "if" && !holds(branch->condition, "blockIdx"));
      if (!depends) continue;
      finding.line = line;
      finding.advice = "move __syncthreads() out of the branch `" + branch->keyword + " (" +
                       branch->condition + ")` of line " + std::to_string(branch->line) +
                       ", so that every thread of the block reaches it: keep inside what only "
                       "these threads do";
      return;
    }
  }
}

void advise_race(const StagePlace& place, Finding& finding) {
  const std::string code = place.code(finding.line);
  static const std::regex kOfABlock(R"((atomic\w+)_block\b)");
  if (std::smatch match; std::regex_search(code, match, kOfABlock)) {
    finding.advice = match[0].str() +
                     " orders the threads of its own block alone, and other blocks "
                     "change the same place: " +
                     match[1].str() + ", whose scope is the device";
    return;
  }
  static const std::regex kOther(R"((?:wrote|read) at [^;]*:(\d+);)");
  std::smatch other;
  const bool has_other = std::regex_search(finding.text, other, kOther);
  const int other_line = has_other ? std::stoi(other[1]) : finding.line;
  for (const int line : {finding.line, other_line})
    if (const Branch* const waits = waiting_loop_of(place.source, line);
        waits != nullptr && !holds(finding.advice, "volatile orders")) {
      finding.advice = "the loop `" + waits->keyword + " (" + waits->condition +
                       ")` waits for a word that another thread stores, and the compiler may load "
                       "it only once: make the word volatile, or load it by an atomic operation";
      return;
    }
  static const std::regex kLines(R"(lines? (\d+)(?: and (\d+))?)");
  std::smatch lines;
  static const std::regex kBarrier(R"(put __sync(?:warp|threads)\(\))");
  if (std::regex_search(finding.advice, kBarrier) &&
      std::regex_search(finding.advice, lines, kLines) && lines[2].matched)
    if (const int first = std::stoi(lines[1]), second = std::stoi(lines[2]);
        are_two_sides(place.source, first, second)) {
      finding.advice = between_two_sides(place.source, first, second);
      return;
    }
  static const std::regex kBetween(R"(put __syncwarp\(\) \(or __syncthreads\(\)\) (.*?):)");
  std::smatch match;
  if (!std::regex_search(finding.advice, match, kBetween)) return;
  const std::string where = match[1].str();
  const bool has_two = std::regex_search(where, lines, kLines) && lines[2].matched;
  if (has_two && share_a_branch(place.source, std::stoi(lines[1]), std::stoi(lines[2]))) return;
  finding.advice = "put __syncthreads() " + where + ", where every thread reaches it";
}

void advise_shuffle(const StagePlace& place, Finding& finding) {
  // The compiler's line may be that of the code before it.
  if (!holds(place.code(finding.line), "_sync(")) {
    const SourceFunction* const function = place.source.function_at(finding.line);
    const int next = function == nullptr
                         ? 0
                         : place.source.find_line("_sync(", finding.line,
                                                  place.source.line_of(function->end - 1));
    if (next > 0) finding.line = next;
  }
  for (const Branch* branch : place.source.around(finding.line))
    if (branch->line == finding.line && branch->keyword == "if") {
      const std::string name = warp_call(place.code(finding.line)).name;
      finding.advice = "take " + (name.empty() ? "the shuffle" : "`" + name + "`") +
                       " out of the branch `if (" + branch->condition +
                       ")`: every lane that the mask names, and whose value is asked for, has to "
                       "reach it";
      return;
    }
}

void name_call_in_branch(const StagePlace& place, Finding& finding) {
  static const std::set<std::string> kAll = {
      "kAllLanes", "0xffffffff", "0xffffffffu", "0xFFFFFFFF", "0xFFFFFFFFu", "~0u", "~0", "-1"};
  const SourceFunction* const kernel = place.source.function(place.stage.kernel);
  if (kernel == nullptr) return;
  for (int line = kernel->line; line <= place.source.line_of(kernel->end - 1); ++line) {
    const WarpCall call = warp_call(place.code(line));
    if (!kAll.contains(call.mask)) continue;
    for (const Branch* branch : place.source.around(line)) {
      if (branch->keyword != "if" || whole_warps_take(place.source, *branch)) continue;
      finding.file = place.file;
      finding.line = line;
      finding.hint_tag.clear();
      finding.advice = "do all 32 lanes take the branch `if (" + branch->condition + ")` of line " +
                       std::to_string(branch->line) + "? `" + call.name + "(" + call.mask +
                       ", ...)` wants each of them: call it before the branch";
      return;
    }
  }
}

}  // namespace membound::judge
