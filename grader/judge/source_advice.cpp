// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Findings held against the student's source: what was measured says that something is wrong, and
/// the text which of the usual mistakes it is.
#include <algorithm>
#include <cctype>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "grader/base/strings.hpp"
#include "grader/judge/findings.hpp"

namespace membound::judge {
namespace {

using Place = StagePlace;
using compilers::Branch;
using compilers::SourceFunction;
using compilers::StudentSource;
using course::Finding;
using course::StageResult;

/// What decides whether the body of a branch runs.
std::string test_of(const Branch& branch) {
  if (branch.keyword != "for") return branch.condition;
  const std::size_t first = branch.condition.find(';');
  if (first == std::string::npos) return branch.condition;
  const std::size_t second = branch.condition.find(';', first + 1);
  return std::string(
      base::trimmed(std::string_view(branch.condition).substr(first + 1, second - first - 1)));
}

/// "`sum <= n` in line 28"
std::string quoted(const Branch& branch) {
  return "`" + test_of(branch) + "` in line " + std::to_string(branch.line);
}

bool assigns(const std::string& condition) {
  static const std::regex kAssignment(R"([^=<>!+\-*/%&|^]=[^=])");
  return std::regex_search(condition, kAssignment);
}

/// Branches that end the thread before the line, in the line's function: `if (i >= n) return;`.
std::vector<const Branch*> returns_before(const StudentSource& source, int line) {
  std::vector<const Branch*> found;
  const SourceFunction* const function = source.function_at(line);
  if (function == nullptr) return found;
  for (const Branch& branch : source.branches())
    if (branch.returns && branch.begin > function->begin && branch.line < line)
      found.push_back(&branch);
  return found;
}

/// A mistake in the guard of the line; false where it has none of these.
bool blame_guard(const Place& place, Finding& finding) {
  const StudentSource& source = place.source;
  const int line = finding.line;
  for (const Branch& branch : source.branches())
    if (branch.is_empty && branch.keyword == "if" && branch.line <= line &&
        branch.line + 2 >= line) {
      finding.line = branch.line;
      finding.advice = "take away the ';' after `if (" + branch.condition +
                       ")`: it ends the if, so that nothing guards line " + std::to_string(line);
      return true;
    }
  const auto around = source.around(line);
  for (const Branch* branch : around)
    if (branch->keyword != "for" && assigns(branch->condition)) {
      finding.line = branch->line;
      finding.advice = "`=` in `" + branch->condition + "` assigns: compare, with < or ==";
      return true;
    }
  // What lies further out is no matter of one index too many.
  if (!holds(finding.text, "right after ")) return false;
  for (const Branch* branch : around)
    if (holds(test_of(*branch), "<=") && !holds(test_of(*branch), "- 1")) {
      finding.advice = quoted(*branch) +
                       " lets one index too many through: of n elements the last has the number "
                       "n - 1. Write < instead of <=";
      return true;
    }
  static const std::regex kGreater(R"(>(?!=))");
  for (const Branch* branch : returns_before(source, line))
    if (std::regex_search(branch->condition, kGreater) && !holds(branch->condition, ">=")) {
      finding.advice = quoted(*branch) +
                       " lets one index too many through: of n elements the last has the number "
                       "n - 1. Write >= instead of >";
      return true;
    }
  return false;
}

/// The guards that the line has, as words; empty where it has none.
std::string guards_of(const StudentSource& source, int line) {
  std::string text;
  const auto add = [&](const Branch& branch) { base::add_word(text, quoted(branch), " and "); };
  for (const Branch* branch : source.around(line))
    if (branch->keyword != "for" && holds(branch->condition, "<")) add(*branch);
  for (const Branch* branch : returns_before(source, line))
    if (holds(branch->condition, ">=")) add(*branch);
  return text;
}

/// Is the word a number of elements? Then a branch around the line, or before it, compares an index
/// with it.
bool is_a_bound(const StudentSource& source, int line, const std::string& word) {
  const auto bounds = [&](const Branch* branch) {
    const std::string test = test_of(*branch);
    for (const char* const comparison : {"< ", "<= ", ">= ", "> "}) {
      const std::size_t at = test.find(comparison + word);
      if (at == std::string::npos) continue;
      const std::size_t end = at + std::string(comparison).size() + word.size();
      if (end == test.size() ||
          (std::isalnum(static_cast<unsigned char>(test[end])) == 0 && test[end] != '_'))
        return true;
    }
    return false;
  };
  return std::ranges::any_of(source.around(line), bounds) ||
         std::ranges::any_of(returns_before(source, line), bounds);
}

/// "row + step" of an access whose guard tests `row` alone; empty where there is none.
std::string sum_beyond_guard(const StudentSource& source, int line, const std::string& code) {
  static const std::regex kSum(R"([\[(,]\s*(([A-Za-z_]\w*) \+ \w+)\s*[\]),])");
  const auto begin = std::sregex_iterator(code.begin(), code.end(), kSum);
  for (auto match = begin; match != std::sregex_iterator(); ++match) {
    const std::string sum = (*match)[1], first = (*match)[2];
    bool tests_first = false, tests_sum = false;
    const auto look = [&](const Branch* branch) {
      if (branch->keyword == "for") return;
      static const std::regex kTested(R"(([A-Za-z_][\w +]*?)\s*(?:<|>=))");
      const std::string& all = branch->condition;
      for (auto one = std::sregex_iterator(all.begin(), all.end(), kTested);
           one != std::sregex_iterator(); ++one) {
        tests_first |= (*one)[1].str() == first;
        tests_sum |= (*one)[1].str() == sum;
      }
    };
    for (const Branch* branch : source.around(line)) look(branch);
    for (const Branch* branch : returns_before(source, line)) look(branch);
    if (tests_first && !tests_sum) return sum;
  }
  return "";
}

void advise_out_of_bounds(const Place& place, Finding& finding) {
  if (holds(finding.text, "no address of the device") || holds(finding.text, "a null pointer")) {
    const int launch = place.source.find_line("<<<", place.first, place.last);
    if (launch > 0 && holds(place.code(launch), ".data()"))
      finding.advice = "line " + std::to_string(launch) +
                       " gives the kernel what .data() returns, a pointer of the host: give it the "
                       "pointer that cudaMalloc filled";
    return;
  }
  if (holds(finding.advice, "compute the index in 64 bits") || holds(finding.advice, "below 0"))
    return;  // measured: it wrapped, or lies before the first element
  if (blame_guard(place, finding)) return;
  const std::string code = place.code(finding.line);
  // in[n - i], but neither in[i - 1] nor in[i - step].
  static const std::regex kFromBehind(R"(\[\s*([A-Za-z_]\w*) - ([A-Za-z_]\w*)\s*\])");
  if (std::smatch match; std::regex_search(code, match, kFromBehind) &&
                         is_a_bound(place.source, finding.line, match[1].str())) {
    finding.advice = "for " + match[2].str() + " = 0 element " + match[1].str() + " - " +
                     match[2].str() + " is one past the end: " + match[1].str() + " - 1 - " +
                     match[2].str();
    return;
  }
  const std::string guards = guards_of(place.source, finding.line);
  const std::string bytes =
      "Is the array as large as that? cudaMalloc and cudaMemcpy take bytes: n * sizeof(float), not "
      "n";
  if (guards.empty()) {
    if (place.is_program() && holds(finding.advice, "compare the index"))
      finding.advice += ". " + bytes;
    return;
  }
  if (const std::string summed = sum_beyond_guard(place.source, finding.line, code);
      !summed.empty() && !place.is_program()) {
    finding.advice = "the guard tests another index than the access takes: `" + summed +
                     "` is accessed, and " + guards + " tests it without what is added. Test `" +
                     summed + "`";
    return;
  }
  finding.advice = "the guard is there (" + guards + "), and the index passes the end all the same";
  if (place.is_program()) {
    finding.advice += ". " + bytes;
    return;
  }
  finding.advice += ": compute it on paper for this thread";
  if (holds(code, "at("))
    finding.advice +=
        ". at(row, column, width): are row and column those of the array that is accessed, and is "
        "the width that of its own rows?";
}

void advise_shared(const Place& place, Finding& finding) {
  if (holds(finding.advice, "below 0")) return;  // measured: no guard of the end is at fault
  if (blame_guard(place, finding)) return;
  if (!holds(finding.text, "dynamic shared memory") &&
      !holds(finding.text, "the block has 0 bytes"))
    return;
  if (place.is_program()) return advise_shared_of_program(place, finding);
  const std::string launch = launch_body(place);
  if (launch.empty()) return;
  const std::string line = std::to_string(launch_line(place, "shared_bytes"));
  if (!holds(launch, "shared_bytes"))
    finding.advice = "extern __shared__ is as large as the launch says, and this one (line " +
                     line +
                     ") asks for nothing: shape.shared_bytes = the elements * sizeof(element)";
  else if (!holds(launch, "sizeof"))
    finding.advice = "shape.shared_bytes in line " + line +
                     " counts bytes, not elements: multiply by sizeof(element)";
  else
    finding.advice = "compare the largest index with shape.shared_bytes in line " + line +
                     ", which counts the bytes of all rows, padding included";
}

/// Whether the function of `line` stores to `name` anywhere, and not only adds to it.
bool is_set(const Place& place, int line, const std::string& name) {
  const SourceFunction* const function = place.source.function_at(line);
  if (function == nullptr || name.empty()) return true;
  const std::regex store(R"(\b)" + name + R"(\s*(?:\[[^=;]*\])*\s*=[^=])");
  const int end = place.source.line_of(function->end - 1);
  for (int at = function->line; at <= end; ++at)
    if (std::regex_search(place.code(at), store)) return true;
  return false;
}

/// Whether the line adds to `name`, or what is like it.
bool adds_to(const std::string& code, const std::string& name) {
  static constexpr const char* kSigns = R"((?:\+\+|--|(?:[-+*/|&^])=))";
  return name.empty() ||
         std::regex_search(code, std::regex(R"((?:\+\+|--)\s*)" + name + R"(\b)")) ||
         std::regex_search(code,
                           std::regex(R"(\b)" + name + R"(\s*(?:\[[^;=]*\])*\s*)" + kSigns)) ||
         std::regex_search(code, std::regex(R"(atomic\w*\s*\(\s*&?\s*)" + name + R"(\b)"));
}

bool is_in_a_loop(const StudentSource& source, int line) {
  return std::ranges::any_of(source.around(line),
                             [](const Branch* branch) { return branch->keyword != "if"; });
}

bool is_in_kernel(const Place& place, int line) {
  const SourceFunction* const function = place.source.function_at(line);
  return function != nullptr && function->is_kernel;
}

void advise_uninitialised(const Place& place, Finding& finding) {
  const std::string code = place.code(finding.line);
  // `out[i] += x` and `*out += x`, but not `sum += out[i]`: what is read there stands on the right.
  static const std::regex kCompound(
      R"((?:(\w+)\s*(?:\[[^=;]*\])|\*\s*(\w+))\s*(\+|-|\*|/|\||&|\^)=)");
  std::smatch match;
  if (holds(finding.text, "shared memory")) {
    static const std::regex kArray(R"(of ([A-Za-z_]\w*) \(\d+ bytes of shared)");
    const std::string name =
        std::regex_search(finding.text, match, kArray) ? match[1].str() : std::string();
    const auto returns = returns_before(place.source, finding.line);
    if (!returns.empty() &&
        place.source.find_line("__syncthreads", returns.front()->line, finding.line) > 0) {
      finding.advice = "the threads that " + quoted(*returns.front()) +
                       " sends away write nothing for the others: let them stay to the last "
                       "__syncthreads(), and keep the condition for the store of the result";
      return;
    }
    finding.advice =
        is_set(place, finding.line, name) || !adds_to(code, name)
            ? "let every element be written before a __syncthreads(), those of threads without "
              "work too (0 for a sum), then read it"
            : "shared memory holds nothing at first: let " +
                  (name.empty() ? std::string("it") : "`" + name + "`") +
                  " be set to 0, and put __syncthreads() after that, before any thread adds";
  } else if (std::regex_search(code, match, kCompound) && !place.is_program()) {
    const std::string sign = match[3].str() + "=";
    const std::string reads = "`" + match[1].str() + match[2].str() + " " + sign +
                              "` reads the old value first, and there is none";
    finding.advice = is_in_a_loop(place.source, finding.line)
                         ? reads + ": add up in a variable of the thread, which starts at 0, and " +
                               "store it once, after the loop"
                         : "write = instead of " + sign + ": " + reads;
  } else if (std::regex_search(code, match, kCompound) && is_in_kernel(place, finding.line)) {
    finding.advice = "write = instead of " + match[3].str() + "=: `" + match[1].str() +
                     match[2].str() + " " + match[3].str() +
                     "=` reads the old value first, and there is none, unless the "
                     "host copies one there or clears it with cudaMemset";
  } else if (place.is_program()) {
    finding.advice =
        "copy all of its bytes to it before the launch (n * sizeof(int), where n counts the "
        "elements), or clear it with cudaMemset";
  } else {
    finding.advice =
        "write this element before anything reads it: at the start the kernel's output and its "
        "scratch hold nothing";
  }
}

/// A local variable that is declared without a value and read before it gets one.
void name_variable_without_value(const Place& place, Finding& finding) {
  static const std::regex kDeclared(R"(^\s*(?:float|double|int|unsigned|long long)\s+(\w+)\s*;)");
  const SourceFunction* const kernel = place.source.function(place.stage.kernel);
  if (kernel == nullptr) return;
  const int end = place.source.line_of(kernel->end - 1);
  for (int line = kernel->line + 1; line <= end; ++line) {
    const std::string code = place.code(line);
    std::smatch match;
    if (!std::regex_search(code, match, kDeclared)) continue;
    const std::string name = match[1];
    int next = line + 1;
    while (next <= end && compilers::find_word(place.code(next), name) == std::string::npos) ++next;
    const std::string use = place.code(next);
    const std::regex reads(R"(\b)" + name + R"(\s*(?:[-+*/|&^]=|\+\+|--)|\b)" + name +
                           R"(\s*=[^=;]*\b)" + name + R"(\b)");
    if (next > end || !std::regex_search(use, reads)) continue;
    finding.file = place.file;
    finding.line = line;
    finding.text +=
        "\n`" + name + "` starts without a value, and line " + std::to_string(next) + " reads it.";
    finding.advice = "give `" + name +
                     "` the value that it begins with: 0 for a sum, the largest "
                     "possible one for a minimum";
    return;
  }
}

/// A function of the kernel's name that is no kernel.
void name_missing_kernel(const Place& place, Finding& finding) {
  static const std::regex kMissing(R"(no kernel `(\w+)`)");
  if (std::smatch match; std::regex_search(finding.text, match, kMissing))
    for (int line = place.first; line <= place.last; ++line)
      if (place.source.line(line).find("\"" + match[1].str() + "\"") != std::string_view::npos) {
        finding.file = place.file;
        finding.line = line;
        finding.advice = "write the kernel's name here as the kernel itself has it";
        return;
      }
  const SourceFunction* const function = place.source.function(place.stage.kernel);
  if (function == nullptr || function->is_kernel) return;
  finding.file = place.file;
  finding.line = function->line;
  finding.advice = "write __global__ before `" + function->name +
                   "`: without it this is a function of the host, and no kernel";
}

// --- one finding a fault
// ---------------------------------------------------------------------------

void advise_checker(const Place& place, Finding& finding) {
  const bool is_bounds = finding.text.starts_with("out of bounds");
  if (finding.kind == "memcheck" && finding.text.starts_with("use after free") &&
      !place.is_program())
    // A kernel of a lab frees nothing: the array next to where a far index leads was the harness's.
    finding.advice =
        "the index is far off: compute it on paper for this thread, and compare it "
        "with the number of elements";
  else if (finding.kind == "memcheck" && is_bounds && holds(finding.text, "shared"))
    advise_shared(place, finding);
  else if (finding.kind == "memcheck" && is_bounds)
    advise_out_of_bounds(place, finding);
  else if (holds(finding.text, "member mask") || holds(finding.text, "shuffle"))
    advise_shuffle(place, finding);
  else if (finding.kind == "initcheck" && finding.text.starts_with("uninitialised read"))
    advise_uninitialised(place, finding);
  else if (finding.kind == "synccheck" && holds(finding.text, "barrier"))
    advise_barrier(place, finding);
  else if (finding.kind == "racecheck")
    advise_race(place, finding);
}

void advise_failure(const Place& place, Finding& finding, const StageResult& result) {
  if (place.is_program()) advise_program(place, result.verdict, finding);
  if (result.verdict == course::Verdict::kWrong) name_variable_without_value(place, finding);
  if (finding.line == 0 && holds(finding.text, "never written"))
    advise_never_written(place, finding);
  if (finding.line == 0 && !place.is_program()) name_kept_counter(place, result.verdict, finding);
  if (finding.line == 0 && result.verdict == course::Verdict::kWrong && !place.is_program())
    name_call_in_branch(place, finding);
  if (holds(finding.text, "belongs to row")) advise_exchanged(place, finding);
  if (holds(finding.text, "contract allows more than 2^31")) name_narrow_index(place, finding);
  if (result.verdict == course::Verdict::kMissingKernel) name_missing_kernel(place, finding);
  if (result.verdict == course::Verdict::kTimeout) name_endless_loop(place, finding);
  if (finding.line == 0 && result.verdict == course::Verdict::kWrong)
    name_exchanged_coordinates(place, finding);
  if (holds(finding.text, "LAUNCH_SHAPE(")) name_line_of_launch(place, finding);
}

/// An access far off, in a kernel that reads what nobody has written: that comes first, because the
/// index may be made of it.
void put_unwritten_index_first(std::vector<Finding>& findings) {
  static const std::regex kFarOff(R"(\b\d{5,} bytes (?:past|before)|use after free)");
  static const std::regex kKernel(R"(^[\w ]+ in (\w+),)");
  const auto kernel_of = [](const Finding& finding) {
    constexpr std::size_t kLongest = 1000;  // std::regex recurses over what it matches
    const std::string head = finding.text.substr(0, kLongest);
    std::smatch match;
    return std::regex_search(head, match, kKernel) ? match[1].str() : std::string();
  };
  const auto far_off = std::ranges::find_if(findings, [](const Finding& finding) {
    return finding.kind == "memcheck" && std::regex_search(finding.text, kFarOff);
  });
  if (far_off == findings.end()) return;
  const auto unwritten = std::find_if(far_off, findings.end(), [&](const Finding& finding) {
    return finding.kind == "initcheck" && finding.text.starts_with("uninitialised read") &&
           finding.file == far_off->file && finding.line != far_off->line &&
           kernel_of(finding) == kernel_of(*far_off);
  });
  if (unwritten == findings.end()) return;
  far_off->advice = "the index may be made of what line " + std::to_string(unwritten->line) +
                    " reads before anybody has written it: mend that first";
  std::rotate(far_off, unwritten, unwritten + 1);
}

/// A barrier stands between the two lines of a race, and not all threads reach it: that is the
/// fault, and to ask for a barrier there would be untrue.
void leave_out_races_across_a_lost_barrier(std::vector<Finding>& findings) {
  static const std::regex kBetween(R"(put __sync\w+\(\) between lines (\d{1,6}) and (\d{1,6}))");
  const std::vector<Finding> all = findings;
  std::erase_if(findings, [&](const Finding& race) {
    std::smatch match;
    if (race.kind != "racecheck" || !std::regex_search(race.advice, match, kBetween)) return false;
    const int first = std::stoi(match[1]), last = std::stoi(match[2]);
    return std::ranges::any_of(all, [&](const Finding& barrier) {
      return barrier.kind == "synccheck" && barrier.file == race.file && first <= barrier.line &&
             barrier.line <= last && barrier.advice.starts_with("move __syncthreads() out");
    });
  });
}

/// A printf keeps its arguments in local memory: no array is to blame then.
void blame_printf(const Place& place, StageResult& result) {
  const SourceFunction* const kernel = place.source.function(place.stage.kernel);
  if (kernel == nullptr) return;
  const int line =
      place.source.find_line("printf(", kernel->line, place.source.line_of(kernel->end - 1));
  if (line == 0) return;
  const std::string advice = "take the printf of line " + std::to_string(line) +
                             " out: its arguments are kept in local memory";
  for (Finding& finding : result.findings)
    if (finding.kind == "local-memory" ||
        (finding.kind == "over-budget" && holds(finding.text, "local"))) {
      finding.file = place.file;
      finding.line = line;
      finding.advice = advice;
      finding.hint_tag.clear();
    }
  for (course::KernelProfile& profile : result.profiles)
    for (course::SpeedAdvice& one : profile.advice)
      if (one.rule == "local-memory") one.remedy = advice, one.line = line;
}

}  // namespace

void hold_against_source(const StudentSource& source, const std::string& file,
                         const course::Stage& stage, StageResult& result) {
  if (source.line_count() == 0) return;
  constexpr std::size_t kLongestText = 8000;  // std::regex recurses over what it matches
  for (const Finding& finding : result.findings)
    if (finding.text.size() > kLongestText) return;
  const Place place(source, file, stage);
  blame_printf(place, result);
  if (result.passed()) return;
  for (Finding& finding : result.findings) {
    if (finding.test.empty() && place.has(finding)) advise_checker(place, finding);
    if (finding.kind == "small-blocks" && finding.line == 0) {
      finding.line = launch_line(place, ".grid");
      if (finding.line > 0) finding.file = place.file;
    }
  }
  keep_one_a_fault(result.findings);
  put_unwritten_index_first(result.findings);
  leave_out_races_across_a_lost_barrier(result.findings);
  const bool is_explained =
      std::any_of(result.findings.begin(), result.findings.end(), [&](const Finding& finding) {
        // Lanes that a loop holds back: the loop is the cause, and not explained yet.
        return finding.test.empty() && finding.line > 0 && !finding.advice.empty() &&
               !finding.advice.starts_with("look at the loop first");
      });
  if (!is_explained && !result.findings.empty())
    advise_failure(place, result.findings.front(), result);
  // They quote the source, which may hold anything.
  for (Finding& finding : result.findings) {
    finding.text = base::printable(finding.text);
    finding.advice = base::printable(finding.advice);
  }
}

}  // namespace membound::judge
