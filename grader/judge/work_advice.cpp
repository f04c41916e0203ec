// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the source shows of how the work is shared out: a launch that is not allowed or leaves
/// elements out, and loops that all threads walk from the same element, or that do not end.
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include "grader/base/strings.hpp"
#include "grader/judge/findings.hpp"

namespace membound::judge {
namespace {

using Place = StagePlace;
using compilers::Branch;
using compilers::SourceFunction;
using course::Finding;

/// The three parts of a for's head.
struct LoopHead {
  std::string start, test, step;
};

std::optional<LoopHead> head_of(const Branch& branch) {
  const std::string& all = branch.condition;
  const std::size_t first = all.find(';');
  const std::size_t second = first == std::string::npos ? first : all.find(';', first + 1);
  if (branch.keyword != "for" || second == std::string::npos) return std::nullopt;
  const auto part = [&](std::size_t from, std::size_t to) {
    return std::string(base::trimmed(std::string_view(all).substr(from, to - from)));
  };
  return LoopHead{part(0, first), part(first + 1, second), part(second + 1, all.size())};
}

/// Why the loop does not end, or takes too long, and what to do; empty where its head looks right.
std::string mistake_in(const LoopHead& loop, bool knows_its_thread) {
  static const std::regex kChanges(R"(\+\+|--|=)");
  if (!loop.step.empty() && !std::regex_search(loop.step, kChanges))
    return "`" + loop.step +
           "` computes a value and changes nothing: += instead of +, or what else is meant";
  static const std::regex kDownTo0(R"((\w+)\s*>=\s*0$)"), kHalves(R"(/=|>>=|=[^=]*/)");
  std::smatch match;
  if (std::regex_search(loop.test, match, kDownTo0) && std::regex_search(loop.step, kHalves))
    return "`" + match[1].str() + "` becomes 0 and stays 0, for which `" + loop.test +
           "` holds: > instead of >=";
  static const std::regex kFrom0(R"(=\s*0$)"), kByOne(R"(^(?:\+\+\w+|\w+\+\+)$)");
  if (!knows_its_thread && std::regex_search(loop.start, kFrom0) &&
      std::regex_search(loop.step, kByOne))
    return "every thread runs this whole loop, as the CPU would alone: let a thread do the element "
           "of its own number, blockIdx.x * blockDim.x + threadIdx.x, with an if instead of the "
           "for";
  return "";
}

constexpr std::size_t kLongestText = 8000;  // std::regex recurses over what it matches

/// The text of a kernel or function, with its parameters; empty where it is longer than anybody
/// writes.
std::string text_of(const Place& place, const SourceFunction& function) {
  if (function.end - function.begin > kLongestText) return "";
  const std::size_t begin = place.source.start_of(function.line);
  return std::string(place.source.code().substr(begin, function.end - begin));
}

/// Whether the kernel, or a function of this file that it calls, has one of these words.
bool uses(const Place& place, const SourceFunction& kernel,
          std::initializer_list<std::string_view> words) {
  const std::string code = text_of(place, kernel);
  const auto has_one = [&](const std::string& text) {
    return std::ranges::any_of(words, [&](std::string_view word) { return holds(text, word); });
  };
  if (has_one(code)) return true;
  return std::ranges::any_of(place.source.functions(), [&](const SourceFunction& function) {
    return !function.is_kernel && !function.is_launch && !function.name.empty() &&
           compilers::find_word(code, function.name) != std::string::npos &&
           has_one(text_of(place, function));
  });
}

/// "x" or "y" where the kernel counts the threads of a block along it, and not the blocks, though
/// the grid has several; 0 where it counts both.
char axis_without_blocks(const Place& place, const SourceFunction& kernel,
                         const std::string& launch) {
  // Functions of kernel.cuh and of cooperative groups know the block, and so does a ticket.
  if (uses(place, kernel, {"number_in_grid", "first_number", "_rank(", "this_grid", "atomic"}))
    return 0;
  static const std::regex kOneBlock(R"(\.grid\s*=\s*1\s*;)");
  static const std::regex kTwoWay(R"(\.grid\s*=\s*(?:dim3\s*\(|\{)[^;]*,)");
  if (std::regex_search(launch, kOneBlock) || !holds(launch, ".grid")) return 0;
  if (uses(place, kernel, {"threadIdx.x"}) && !uses(place, kernel, {"blockIdx"})) return 'x';
  if (std::regex_search(launch, kTwoWay) && uses(place, kernel, {"threadIdx.y"}) &&
      !uses(place, kernel, {"blockIdx.y"}))
    return 'y';
  return 0;
}

/// What the variable that is made of `block` ("blockIdx.x") is compared with; empty where it is
/// not.
std::string bound_of(const Place& place, const std::string& code, const std::string& block,
                     std::string& variable) {
  std::smatch match;
  if (!std::regex_search(code, match, std::regex(R"(\b(\w+)\s*=[^;=]*\b)" + block))) return "";
  variable = match[1];
  const std::regex compared(R"(\b)" + variable + R"(\s*(?:<|>=)\s*([A-Za-z_]\w*))");
  for (const Branch& branch : place.source.branches())
    if (std::smatch bound; branch.condition.size() < kLongestText &&
                           std::regex_search(branch.condition, bound, compared))
      return bound[1];
  return "";
}

bool has_word(const std::string& text, const std::string& word) {
  return compilers::find_word(text, word) != std::string::npos;
}

/// The two numbers of `dim3(x, y)` or `{x, y}` that begins at the bracket of `at`.
std::pair<std::string, std::string> two_numbers(const std::string& text, std::size_t at) {
  int depth = 0;
  std::size_t comma = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '{') ++depth;
    if (text[i] == ',' && depth == 1) {
      if (comma != 0) return {};
      comma = i;
    }
    if ((text[i] == ')' || text[i] == '}') && --depth == 0) {
      if (comma == 0) return {};
      return {text.substr(at + 1, comma - at - 1), text.substr(comma + 1, i - comma - 1)};
    }
  }
  return {};
}

}  // namespace

std::string exchanged_grid(const Place& place, const std::string& x, const std::string& y) {
  const SourceFunction* const kernel = place.source.function(place.stage.kernel);
  if (kernel == nullptr) return "";
  const std::string code = text_of(place, *kernel);
  std::string column, row;
  const std::string columns = bound_of(place, code, "blockIdx\\.x", column);
  const std::string rows = bound_of(place, code, "blockIdx\\.y", row);
  if (columns.empty() || rows.empty() || columns == rows) return "";
  if (has_word(x, columns) || !has_word(x, rows) || !has_word(y, columns) || has_word(y, rows))
    return "";
  return "the grid counts `" + rows + "` along x and `" + columns +
         "` along y, and in the kernel `" + column + "`, made of blockIdx.x, runs to `" + columns +
         "`: exchange the two numbers";
}

std::string launch_body(const Place& place) {
  constexpr std::size_t kLongest = 4000;  // std::regex recurses over what it matches
  for (const SourceFunction& function : place.source.functions())
    if (function.is_launch && function.line >= place.first && function.line <= place.last &&
        function.end - function.begin < kLongest)
      return std::string(place.source.code().substr(function.begin, function.end - function.begin));
  return "";
}

int launch_line(const Place& place, std::string_view word) {
  for (const SourceFunction& function : place.source.functions())
    if (function.is_launch && function.line >= place.first && function.line <= place.last) {
      const int found =
          place.source.find_line(word, function.line, place.source.line_of(function.end - 1));
      return found > 0 ? found : function.line;
    }
  return 0;
}

void advise_never_written(const Place& place, Finding& finding) {
  const std::string launch = launch_body(place);
  if (launch.empty()) return;
  const auto at = [&](std::string_view word) { return launch_line(place, word); };
  const auto blame = [&](int line, std::string advice) {
    finding.file = place.file;
    finding.line = line;
    finding.advice = std::move(advice);
  };
  const SourceFunction* const kernel = place.source.function(place.stage.kernel);
  for (const Branch& branch : place.source.branches()) {
    if (kernel == nullptr || branch.begin <= kernel->begin || branch.end > kernel->end) continue;
    // Not `b < gridDim.x`: a block walks the sums of all blocks from the first one.
    const auto loop = head_of(branch);
    if (loop && holds(loop->start, "threadIdx") && !holds(loop->start, "blockIdx") &&
        holds(loop->step, "grid")) {
      blame(branch.line,
            "every block starts this loop at the same element: start at the thread's number in the "
            "grid, blockIdx.x * blockDim.x + threadIdx.x");
      return;
    }
  }
  const bool sets_fields = holds(launch, "shape.");
  if (sets_fields && !holds(launch, ".grid")) {
    blame(at("LaunchShape"), "set shape.grid: without it the grid is 1 block");
    return;
  }
  if (sets_fields && !holds(launch, ".block")) {
    blame(at("LaunchShape"), "set shape.block: without it a block is 1 thread");
    return;
  }
  static const std::regex kRoundedDown(R"(\.grid\s*=[^;]*\b\w+\s*/\s*\w+)");
  if (std::regex_search(launch, kRoundedDown) && !holds(launch, "- 1)") &&
      !holds(launch, "sm_count")) {
    blame(at(".grid"), "`/` rounds down, so that the last block is missing: ceil_div(n, threads)");
    return;
  }
  static const std::regex kTwoWay(R"(\.grid\s*=\s*(?:dim3\s*)?([({]))");
  if (std::smatch match; std::regex_search(launch, match, kTwoWay)) {
    const auto [x, y] = two_numbers(launch, static_cast<std::size_t>(match.position(1)));
    if (std::string advice = exchanged_grid(place, x, y); !advice.empty()) {
      blame(at(".grid"), std::move(advice));
      return;
    }
  }
  if (kernel != nullptr)
    if (const char axis = axis_without_blocks(place, *kernel, launch); axis != 0) {
      const std::string thread = std::string("threadIdx.") + axis;
      blame(place.source.find_line(thread, kernel->line, place.source.line_of(kernel->end - 1)),
            thread +
                " counts the threads of one block, so that every block does the same "
                "elements: blockIdx." +
                axis + " * blockDim." + axis + " + " + thread + " counts those of the grid");
      return;
    }
  static const std::regex kFlatBlock(R"(\.block\s*=\s*\w+\s*;)");
  if (kernel != nullptr && std::regex_search(launch, kFlatBlock) &&
      holds(std::string(place.source.code().substr(kernel->begin, kernel->end - kernel->begin)),
            "threadIdx.y"))
    blame(at(".block"),
          "this block has 1 row, and the kernel counts with threadIdx.y: shape.block = {columns, "
          "rows}");
}

void name_line_of_launch(const Place& place, Finding& finding) {
  for (const std::string_view field : {"grid", "block", "shared_bytes"})
    if (holds(finding.text, "): " + std::string(field)) && !launch_body(place).empty()) {
      finding.file = place.file;
      finding.line = launch_line(place, "." + std::string(field));
      const std::string code(base::trimmed(place.source.line(finding.line)));
      static const std::regex kThreads(R"(block\.x = (\d+))");
      std::smatch match;
      if (std::regex_search(finding.text, match, kThreads) && match[1].length() > 4 &&
          holds(code, "("))
        finding.advice =
            "a block has 1 to 1,024 threads; it is the number of blocks that grows with the array, "
            "shape.grid = ceil_div(n, threads). Are the two exchanged?";
      if (holds(finding.text, " = 0") && holds(code, "/"))
        finding.advice = "`/` of whole numbers rounds down, here to 0: " +
                         (field == "grid" ? std::string("is the dividend the larger of the two? "
                                                        "ceil_div(n, threads) rounds up")
                                          : std::string("choose a number of threads from 1 to "
                                                        "1024"));
      return;
    }
}

namespace {

/// A loop that waits for other blocks, in a launch that does not promise that all of them run.
bool name_wait_for_blocks(const Place& place, Finding& finding) {
  static const std::regex kLoop(R"(the loop in line (\d{1,6}) may never end)");
  std::smatch match;
  if (!std::regex_search(finding.text, match, kLoop)) return false;
  const int line = std::stoi(match[1]);
  const SourceFunction* const function = place.source.function_at(line);
  const std::string launch = launch_body(place);
  if (function == nullptr || launch.empty() || holds(launch, "cooperative") ||
      !holds(launch, "sm_count") || !holds(text_of(place, *function), "gridDim"))
    return false;
  finding.file = place.file;
  finding.line = line;
  finding.advice =
      "blocks wait here for blocks that may not have begun, because nothing promises that all of "
      "them run at the same time: shape.cooperative = true, and a grid of no more blocks than fit";
  return true;
}

}  // namespace

void name_endless_loop(const Place& place, Finding& finding) {
  if (name_wait_for_blocks(place, finding)) return;
  const SourceFunction* const kernel = place.source.function(place.stage.kernel);
  if (kernel == nullptr) return;
  const std::string code(place.source.code().substr(kernel->begin, kernel->end - kernel->begin));
  const bool knows_its_thread =
      holds(code, "threadIdx") || holds(code, "number_in_grid") || holds(code, "first_number");
  for (const Branch& branch : place.source.branches()) {
    if (branch.begin < kernel->begin || branch.end > kernel->end) continue;
    const auto loop = head_of(branch);
    if (!loop) continue;
    std::string advice = mistake_in(*loop, knows_its_thread);
    if (advice.empty()) continue;
    finding.file = place.file;
    finding.line = branch.line;
    finding.advice = std::move(advice);
    return;
  }
}

void name_kept_counter(const Place& place, course::Verdict verdict, Finding& finding) {
  if (verdict != course::Verdict::kWrong && verdict != course::Verdict::kTimeout) return;
  if (!finding.advice.empty()) return;
  static const std::regex kVariable(
      R"(^\s*__device__\s+(?:volatile\s+)?(?:unsigned|int)(?:\s+int|\s+long long)?\s+(\w+)\s*(?:=\s*0u?\s*)?;)");
  for (int line = place.first; line <= place.last; ++line) {
    const std::string code = place.code(line);
    std::smatch match;
    if (!std::regex_search(code, match, kVariable)) continue;
    const std::string name = match[1];
    const std::regex added(R"(\batomicAdd\w*\s*\(\s*&\s*)" + name + R"(\s*,)");
    const std::regex set(R"(\batomic(?!Add)\w+\s*\(\s*&\s*)" + name + R"(\b|\b)" + name +
                         R"(\s*=[^=])");
    int adds = 0;
    bool is_set = false;
    for (int other = line + 1; other <= place.last; ++other) {
      const std::string text = place.code(other);
      if (adds == 0 && std::regex_search(text, added)) adds = other;
      is_set |= std::regex_search(text, set);
    }
    if (adds == 0 || is_set) continue;
    finding.file = place.file;
    finding.line = adds;
    finding.advice =
        "`" + name +
        "` keeps its value from one launch to the next, and no line sets it back to "
        "0: let the last block do that, or count by atomicInc, which begins again at 0";
    return;
  }
}

}  // namespace membound::judge
