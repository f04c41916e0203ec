// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What compilers say of a kernel.cu that does not compile, turned round to the student's line and
/// column: macros folded, headers left out, one cause before its consequences, and what to do.
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <optional>
#include <regex>
#include <set>
#include <utility>
#include <vector>

#include "grader/base/strings.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/device_code/compilers/student_source.hpp"

namespace membound::compilers {
namespace {

constexpr std::string_view kSemicolon =
    "A ';' is missing at the place that is marked, or what stands before it is not complete.";
constexpr std::string_view kCountBrackets =
    "Count the brackets of the line that is named, and of the one above it: a ')' is missing.";
constexpr std::string_view kReadOnly =
    "This cannot be assigned to: `const` pointers and parameters are for reading only. Results go "
    "where the contract in kernel.cuh says, as a rule `out`.";
constexpr std::string_view kConstantExtent =
    "The extents of a __shared__ array must be known when compiling: use the constants of "
    "kernel.cuh, or extern __shared__ with the bytes in the launch shape.";
constexpr std::string_view kReturnsNothing =
    "A kernel returns nothing: write __global__ void, and store results through a pointer.";
constexpr std::string_view kNotLaunched =
    "A kernel is launched, not called: kernel<<<blocks, threads>>>(arguments).";
constexpr std::string_view kLaunchBrackets =
    "A launch has three brackets on each side: kernel<<<blocks, threads>>>(arguments).";
constexpr std::string_view kNoKernel =
    "What <<<…>>> launches is a kernel: write __global__ void before the name where it is defined.";
constexpr std::string_view kTemplateOfC =
    "Take extern \"C\" away: a template is a kernel for each type, and C has one function of a "
    "name. The grader finds kernels by their C++ names.";
constexpr std::string_view kOtherParameters =
    "The parameters of the template are not those that kernel.cuh instantiates: compare them one "
    "by one with the contract there. Does a type stand where T belongs?";
constexpr std::string_view kAtomicAddress =
    "atomicAdd takes the address of what it adds to, then the value: a pointer, or &x.";
constexpr std::string_view kIndexIsWhole =
    "An index is a whole number: static_cast<int>(x) makes one of a float, and drops its fraction.";
constexpr std::string_view kAddressOrValue =
    "One side is an address and the other a value: `in + i` is where element i stands, `in[i]` is "
    "the element.";

/// Words of a message (nvcc's or clang's), and what they usually mean. First match wins.
struct Entry {
  std::string_view words;
  std::string_view hint;
};

constexpr std::string_view kDestinationFirst =
    "A copy writes to its first argument, the destination. What is const can only be the source, "
    "the second argument.";
constexpr std::string_view kTwoTypes =
    "min and max want two values of one type: write static_cast<long long>(…) around the one of "
    "the smaller type.";

constexpr Entry kEntries[] = {
    {"uses too much shared data",
     "Arrays declared __shared__ with a fixed size may take 48 KiB per block in all. For more, use "
     "one extern __shared__ array and name its bytes in the launch shape."},
    {"too much global constant data",
     "__constant__ variables may take 64 KiB in all. What is larger is a __device__ variable, or "
     "an argument."},
    {"calling a __host__ function",
     "A kernel can only call __device__ functions. Functions of the C++ library are mostly for the "
     "CPU; the maths functions (min, max, fminf, …) are there without std::."},
    {"reference to __host__ function",
     "A kernel can only call __device__ functions. Functions of the C++ library are mostly for the "
     "CPU; the maths functions (min, max, fminf, …) are there without std::."},
    {"could not open source file",
     "Only kernel.cuh of the lab and headers that come with the compiler can be included."},
    {"No such file or directory",
     "Only kernel.cuh of the lab and headers that come with the compiler can be included."},
    {"file not found",
     "Only kernel.cuh of the lab and headers that come with the compiler can be included."},
    {"expected a \";\"", kSemicolon},
    {"expected ';'", kSemicolon},
    {"expected a \")\"", kCountBrackets},
    {"expected ')'", kCountBrackets},
    {"expected a \"}\"", "A '{' was never closed; see where the indentation stops to fit."},
    {"expected a declaration", "There is one '}' too many further up, as a rule."},
    {"no instance of function template",
     "The arguments do not have the types that the function "
     "takes: compare them one by one with its declaration."},
    {"expression must be a modifiable lvalue", kReadOnly},
    {"read-only variable is not assignable", kReadOnly},
    {"cannot assign to variable", kReadOnly},
    {"expression must have a constant value", kConstantExtent},
    {"variable length array", kConstantExtent},
    {"variable-length array", kConstantExtent},
    {"array subscript is not an integer", kIndexIsWhole},
    {"must have integral or unscoped enum type", kIndexIsWhole},
    {"must have a void return type", kReturnsNothing},
    {"must have void return type", kReturnsNothing},
    {"function call must be configured", kNotLaunched},
    {"to global function", kNotLaunched},
    {"kernel call to non-global function", kNoKernel},
    {"host function call cannot be configured", kNoKernel},
    {"may not have extern \"C\" linkage", kTemplateOfC},
    {"templates must have C++ linkage", kTemplateOfC},
    {"matches the specified type", kOtherParameters},
    {"explicit instantiation of", kOtherParameters},
    {"*\" is incompatible with parameter of type \"void *\"", kDestinationFirst},
    {"overloaded function \"min\"", kTwoTypes},
    {"overloaded function \"max\"", kTwoTypes},
    {"call to 'min' is ambiguous", kTwoTypes},
    {"call to 'max' is ambiguous", kTwoTypes},
    {"\"atomicAdd\" matches the argument list", kAtomicAddress},
    {"matching function for call to 'atomicAdd'", kAtomicAddress},
    {"cannot be assigned to an entity of type", kAddressOrValue},
    {"cannot be used to initialize an entity of type", kAddressOrValue},
    {"incompatible pointer to integer conversion", kAddressOrValue},
    {"from incompatible type", kAddressOrValue},
    {"too many initializer values",
     "A launch shape is {grid, block, shared_bytes}; grid and block are {x, y, z}."},
    {"is undefined",
     "A name the compiler does not know: look for a typing error, and for a variable that is "
     "declared in another block or another stage. kernel.cuh lists what is given."},
    {"undeclared identifier",
     "A name the compiler does not know: look for a typing error, and for a variable that is "
     "declared in another block or another stage. kernel.cuh lists what is given."},
    {"has already been defined",
     "Two functions have one name and the same parameters. Was a part of the file pasted twice?"},
    {"redefinition of",
     "Two functions have one name and the same parameters. Was a part of the file pasted twice?"},
    {"extended character",
     "A character that no program has, such as the quotation mark, dash or space of a word "
     "processor: type it anew in the editor."},
    {"non-ASCII characters are not allowed",
     "A character that no program has, such as the quotation mark, dash or space of a word "
     "processor: type it anew in the editor."},
    {"invalid multibyte character",
     "A text between quotation marks is not UTF-8. Save the file with the encoding UTF-8."},
    {"illegal character encoding",
     "A text between quotation marks is not UTF-8. Save the file with the encoding UTF-8."},
    {"Ptx assembly aborted",
     "The mistake is in PTX written by hand, between the quotation marks of asm(…), which the "
     "compiler passes on as it stands; the line that is named is one of the PTX."},
    {"Unresolved extern",
     "A function is declared but its body is nowhere in kernel.cu: everything a kernel calls must "
     "be in the same file."},
};

constexpr std::string_view kGeneral =
    "Begin with the first error: those after it are often its consequences.";

}  // namespace

std::string compile_hint(std::string_view output) {
  // The earliest error counts, not the earliest entry.
  std::size_t first = std::string_view::npos;
  std::string_view hint = kGeneral;
  for (const Entry& entry : kEntries) {
    const std::size_t at = output.find(entry.words);
    if (at < first) {
      first = at;
      hint = entry.hint;
    }
  }
  return std::string(hint);
}

namespace {

/// One message of a compiler.
struct Message {
  std::string file;
  int line = 0, column = 0;  ///< column 0: nvcc, which marks it below the source line alone
  std::string severity;      ///< "error", "warning", "note"
  std::string text;
  std::vector<std::string> more;  ///< the lines below its head
};

constexpr std::size_t kLongestLine = 4096;  // std::regex recurses over what it matches
constexpr std::size_t kMostErrors = 5;
constexpr std::size_t kLongestName = 64,
                      kMostNames = 5000;  // among which a nearer one is looked for
constexpr std::size_t kLongestExcerpt = 300;

/// nvcc writes "FILE(25): error: …", clang and gcc "FILE:25:7: error: …".
std::optional<Message> head_of(const std::string& line) {
  static const std::regex kNvcc(
      R"((\S.*)\((\d+)\): (?:catastrophic )?(error|warning|note)(?: #[\w-]+)?: (.*))");
  static const std::regex kClang(R"((\S.*?):(\d+):(\d+): (?:fatal )?(error|warning|note): (.*))");
  if (line.size() > kLongestLine) return std::nullopt;
  std::smatch match;
  if (std::regex_match(line, match, kNvcc))
    return Message{match[1], std::stoi(match[2]), 0, match[3], match[4], {}};
  if (std::regex_match(line, match, kClang))
    return Message{match[1], std::stoi(match[2]), std::stoi(match[3]), match[4], match[5], {}};
  return std::nullopt;
}

std::vector<Message> messages_in(std::string_view output) {
  std::vector<Message> all;
  for (const std::string_view line : base::lines_of(output)) {
    const std::string text(line);
    if (auto head = head_of(text))
      all.push_back(*std::move(head));
    else if (!all.empty())
      all.back().more.push_back(text);
  }
  return all;
}

bool is_same_file(const std::string& file, const std::string& source) {
  return std::filesystem::path(file).filename() == std::filesystem::path(source).filename();
}

/// The place in the student's file that led to a message in a header: "detected during … at line 31
/// of kernel.cu", or a note of clang's.
std::optional<std::pair<int, int>> led_there(const std::vector<Message>& all, std::size_t at,
                                             const std::string& source) {
  static const std::regex kAtLine(R"re(at line (\d+) of "?([^"]*)"?)re");
  for (const std::string& line : all[at].more)
    if (std::smatch match; line.size() < kLongestLine && std::regex_search(line, match, kAtLine))
      if (is_same_file(match[2], source)) return std::pair(std::stoi(match[1]), 0);
  for (std::size_t i = at + 1; i < all.size() && all[i].severity == "note"; ++i)
    if (is_same_file(all[i].file, source)) return std::pair(all[i].line, all[i].column);
  return std::nullopt;
}

std::size_t first_letter(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos ? 0 : first;
}

bool is_name_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

/// What stands at `at`: a name, or else one sign.
std::string word_of(std::string_view line, std::size_t at) {
  if (at >= line.size()) return "";
  std::size_t end = at + 1;
  while (is_name_letter(line[at]) && end < line.size() && is_name_letter(line[end])) ++end;
  return std::string(line.substr(at, end - at));
}

/// Where nvcc's mark points in the source line: nvcc prints the line after its macros were
/// expanded, two spaces to the right. Without a mark, the first name in quotation marks.
int nvcc_column(const Message& message, std::string_view source) {
  constexpr std::size_t kIndented = 2;
  for (std::size_t i = 1; i < message.more.size(); ++i) {
    const std::string& mark = message.more[i];
    const std::size_t caret = mark.find_first_not_of(' ');
    if (caret == std::string::npos || mark[caret] != '^' || caret < kIndented) continue;
    const std::string& printed = message.more[i - 1];
    if (printed.size() > kIndented && std::string_view(printed).substr(kIndented) == source)
      return static_cast<int>(caret - kIndented) + 1;
    const std::string word = word_of(printed, caret);
    const std::size_t at = word.empty() ? std::string_view::npos : find_word(source, word);
    return static_cast<int>(at == std::string_view::npos ? first_letter(source) : at) + 1;
  }
  static const std::regex kQuoted(R"re("(?:std::)?(\w+))re");
  std::smatch match;
  if (std::regex_search(message.text, match, kQuoted))
    if (const std::size_t at = find_word(source, match[1].str()); at != std::string_view::npos)
      return static_cast<int>(at) + 1;
  return static_cast<int>(first_letter(source)) + 1;
}

/// nvcc names the line at which it noticed that a `;` is missing: the end of the code before it.
void move_back(const StudentSource& source, Message& error) {
  if (error.text != "expected a \";\"") return;
  const std::string_view here = source.code_of_line(error.line);
  if (static_cast<std::size_t>(error.column) > first_letter(here) + 1) return;
  for (int line = error.line - 1; line > 0; --line) {
    const std::string_view code = base::trimmed(source.code_of_line(line));
    if (code.empty()) continue;
    if (code.starts_with('#') || code.ends_with(';') || code.ends_with('{') || code.ends_with('}'))
      return;
    error.line = line;
    error.column = static_cast<int>(source.code_of_line(line).find_last_not_of(" \t\r")) + 2;
    return;
  }
}

/// The errors at the student's places, each line once, in the compiler's order.
std::vector<Message> own_errors(const std::vector<Message>& all, const StudentSource& source,
                                const std::string& name) {
  std::vector<Message> errors;
  std::set<int> told;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].severity != "error") continue;
    Message error = all[i];
    // What the labs' header makes of __syncthreads() for clang.
    constexpr std::string_view kBarrier = "membound_syncthreads";
    if (const std::size_t at = error.text.find(kBarrier); at != std::string::npos)
      error.text.replace(at, kBarrier.size(), "__syncthreads");
    if (!is_same_file(error.file, name)) {
      const auto place = led_there(all, i, name);
      if (!place) continue;
      error.text += " (in " + std::filesystem::path(error.file).filename().string() + ")";
      std::tie(error.line, error.column) = *place;
      error.file = name;
    }
    if (error.column == 0) error.column = nvcc_column(error, source.line(error.line));
    move_back(source, error);
    if (told.insert(error.line).second) errors.push_back(std::move(error));
  }
  return errors;
}

/// "    28 |   code" and a mark below its column.
std::string excerpt(const StudentSource& source, int line, int column) {
  std::string text(source.line(line));
  std::replace(text.begin(), text.end(), '\t', ' ');
  if (base::trimmed(text).empty() || text.size() > kLongestExcerpt) return "";
  const std::string number = std::to_string(line);
  const std::string left(number.size() < 6 ? 6 - number.size() : 0, ' ');
  return left + number + " | " + text + "\n       | " +
         std::string(static_cast<std::size_t>(std::max(column, 1)) - 1, ' ') + "^\n";
}

std::string head_text(const Message& error) {
  return error.file + ":" + std::to_string(error.line) + ":" + std::to_string(error.column) +
         ": error: " + error.text + "\n";
}

// --- what to do --------------------------------------------------------------------------------

bool is_device_code(const StudentSource& source, int line) {
  const SourceFunction* const function = source.function_at(line);
  return function == nullptr || function->is_kernel || function->is_device;
}

/// A name of std:: and what a kernel does instead.
struct Replacement {
  std::string_view name, instead;
};
constexpr Replacement kReplacements[] = {
    {"vector", "an array of fixed size, which is in registers (float all[8];), or __shared__"},
    {"array", "an array of fixed size: float all[8];"},
    {"string", "no text: a kernel works on numbers; printf shows them"},
    {"cout", "printf(\"%d\\n\", x)"},
    {"cerr", "printf(\"%d\\n\", x)"},
    {"endl", "printf(\"%d\\n\", x)"},
    {"printf", "printf without std::"},
    {"sort", "an order of your own: std::sort is for the CPU"},
    {"accumulate", "a loop that adds"},
    {"reduce", "a loop that adds"},
    {"fill", "a loop that stores"},
    {"copy", "a loop that stores"},
    {"atomic", "atomicAdd and its like"},
    {"mutex", "atomicAdd and its like"},
    {"thread", "the threads of the launch"},
};

/// The name after `std::` in a line of code; empty where there is none.
std::string name_of_std(std::string_view code) {
  const std::size_t at = find_word(code, "std");
  if (at == std::string_view::npos || code.substr(at + 3, 2) != "::") return "";
  return word_of(code, at + 5);
}

std::string hint_for_std(const StudentSource& source, const Message& error) {
  static const std::regex kAboutStd(
      R"(namespace "std"|in namespace 'std'|undeclared identifier 'std'|__host__ function|std::)");
  const std::string name = name_of_std(source.code_of_line(error.line));
  if ((name == "min" || name == "max") && error.text.find("function") != std::string::npos &&
      error.text.find(name) != std::string::npos)
    return "In a kernel std::" + name + " takes two values of one type: std::" + name +
           "(a, std::" + name + "(b, c)).";
  if (name.empty() || !std::regex_search(error.text, kAboutStd)) return "";
  if (!is_device_code(source, error.line))
    return "The header that declares std::" + name +
           " is not included, or its arguments do not "
           "fit: #include it at the head of the file.";
  const auto* const known = std::find_if(std::begin(kReplacements), std::end(kReplacements),
                                         [&](const Replacement& one) { return one.name == name; });
  return "std::" + name + " is not there in a kernel: the C++ library is for the CPU, but for " +
         "std::min, std::max and std::swap. Instead: " +
         (known == std::end(kReplacements) ? "a function of your own, marked __device__"
                                           : std::string(known->instead)) +
         ".";
}

/// A built-in index without its member.
std::string hint_for_index(const StudentSource& source, const Message& error) {
  if (error.text.find("operand") == std::string::npos &&
      error.text.find("convert") == std::string::npos &&
      error.text.find("conversion") == std::string::npos)
    return "";
  const std::string_view code = source.code_of_line(error.line);
  for (const std::string_view name : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
    for (std::size_t at = find_word(code, name); at != std::string_view::npos;
         at = find_word(code, name, at + 1)) {
      const std::size_t next = code.find_first_not_of(" \t", at + name.size());
      if (next == std::string_view::npos || code[next] != '.')
        return std::string(name) + " has three members: write " + std::string(name) +
               ".x (or .y, .z).";
    }
  return "";
}

/// A function without __device__ (or __global__) that a kernel calls, or in which what only a
/// kernel has is used.
std::string hint_for_host_function(const StudentSource& source, const Message& error,
                                   const std::vector<Message>& all) {
  static const std::regex kCalled(
      R"re(__host__ function\s*\("(?:\w+::)*(\w+)|function for call to '(\w+)')re");
  const bool is_about_host =
      error.text.find("__host__ function") != std::string::npos ||
      std::any_of(all.begin(), all.end(), [](const Message& message) {
        return message.text.find("__host__ function from") != std::string::npos ||
               message.text.find("function from __host__") != std::string::npos;
      });
  if (!is_about_host) return "";
  const SourceFunction* helper = source.function_at(error.line);
  if (helper == nullptr || helper->is_kernel || helper->is_device) {
    std::smatch match;
    if (!std::regex_search(error.text, match, kCalled)) return "";
    const std::string name = match[1].matched ? match[1].str() : match[2].str();
    helper = source.function(name);
    if (helper == nullptr)
      return name +
             " is a function of the host: kernels run on the device, and can call "
             "__device__ functions only. Compute it there, or give it to the kernel as an "
             "argument.";
  }
  if (helper->is_kernel || helper->is_device) return "";
  return "`" + helper->name + "` in line " + std::to_string(helper->line) +
         " has no __device__: write it before its type. A kernel can only call __device__ "
         "functions.";
}

constexpr std::string_view kOldIntrinsics[] = {"__shfl", "__shfl_up", "__shfl_down", "__shfl_xor",
                                               "__all",  "__any",     "__ballot"};
constexpr std::string_view kHostFunctions[] = {"rand",   "srand",  "time",  "malloc", "free",
                                               "printf", "fopen",  "exit",  "clock",  "memcpy",
                                               "qsort",  "strlen", "scanf", "getenv"};

/// A name that nothing declares.
std::string hint_for_name(const StudentSource& source, const Message& error) {
  static const std::regex kName(
      R"re(identifier "(\w+)" is undefined|undeclared identifier '(\w+)'|unknown type name '(\w+)')re");
  std::smatch match;
  if (!std::regex_search(error.text, match, kName)) return "";
  std::string name;
  for (std::size_t i = 1; i < match.size(); ++i)
    if (match[i].matched) name = match[i];
  const auto is_of = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
  };
  if (name.size() >= kLongestName) return "";
  if (is_of(kOldIntrinsics))
    return name + " went with CUDA 9: write " + name +
           "_sync, with the mask of the lanes that take part as its first argument (0xffffffff for "
           "a whole warp).";
  if (is_of(kHostFunctions) && is_device_code(source, error.line))
    return name +
           " is a function of the host's C library, and kernels run on the device, where it "
           "is not. Compute it there, or give it to the kernel as an argument.";
  if (is_of(kHostFunctions))
    return name +
           " is not declared: #include its header (<cstdio>, <cstdlib>) at the head of the "
           "file.";
  std::set<std::string> names = {"threadIdx", "blockIdx", "blockDim",      "gridDim",
                                 "atomicAdd", "ceil_div", "__syncthreads", "shape",
                                 "fminf",     "fmaxf",    "LaunchShape",   "reinterpret_cast"};
  const std::string_view code = source.code();
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (!is_name_letter(code[at])) continue;
    const std::string word = word_of(code, at);
    if (word != name && word.size() > 1 && word.size() < kLongestName && names.size() < kMostNames)
      names.insert(word);
    at += word.size() - 1;
  }
  const auto near = base::nearest(name, {names.begin(), names.end()});
  if (near) return "Nothing declares `" + name + "`. Is `" + *near + "` meant?";
  return "";
}

/// A launch whose brackets are not three; nvcc takes them for comparisons and shifts.
std::string hint_for_launch(const StudentSource& source, const Message& error) {
  const std::string_view code = source.code_of_line(error.line);
  const bool opens = code.find("<<<") != std::string_view::npos;
  const bool closes = code.find(">>>") != std::string_view::npos;
  return opens && !closes ? std::string(kLaunchBrackets) : "";
}

std::string hint_for(const StudentSource& source, const Message& error,
                     const std::vector<Message>& all) {
  for (std::string hint :
       {hint_for_launch(source, error), hint_for_std(source, error), hint_for_index(source, error),
        hint_for_host_function(source, error, all), hint_for_name(source, error)})
    if (!hint.empty()) return hint;
  if (error.text.find("matches the specified type") != std::string::npos)
    return std::string(kOtherParameters);
  return compile_hint(error.text);
}

/// A cause that the text shows, and of which a compiler sees the consequences alone.
std::optional<std::pair<Message, std::string>> cause_in(const StudentSource& source,
                                                        const std::string& name,
                                                        const std::vector<Message>& errors) {
  const int launch = source.find_line("LAUNCH_");
  if (launch > 0 && source.text().find(".cuh\"") == std::string_view::npos) {
    Message error{name, 1, 1, "error", "#include \"kernel.cuh\" is missing", {}};
    while (error.line < launch && base::trimmed(source.code_of_line(error.line)).empty())
      ++error.line;
    return std::pair(std::move(error),
                     "Begin the file with #include \"kernel.cuh\": it declares the lab's constants "
                     "and functions, and LAUNCH_SHAPE.");
  }
  const auto brace = source.lost_brace();
  if (!brace) return std::nullopt;
  // A mistake before the bracket is another one.
  if (errors.front().line < brace->line) return std::nullopt;
  Message error{name, brace->line, brace->column, "error", "", {}};
  if (!brace->never_closed) {
    error.text = "this '}' closes nothing";
    return std::pair(std::move(error), "There is one '}' too many: take this one away.");
  }
  error.text = "this '{' is never closed";
  return std::pair(std::move(error),
                   "A '}' is missing before line " + std::to_string(brace->found_line) +
                       (source.code_of_line(brace->found_line).find('}') != std::string_view::npos
                            ? ": the '}' there begins further to the left than "
                              "what this '{' opens."
                            : ", where the next definition begins."));
}

}  // namespace

CompilerMessages explain_messages(std::string_view output, const std::string& source_name,
                                  std::string_view source_text) {
  const std::vector<Message> all = messages_in(output);
  const StudentSource source{std::string(source_text)};
  std::vector<Message> errors = own_errors(all, source, source_name);
  if (errors.empty()) return {std::string(output), compile_hint(output)};
  if (auto cause = cause_in(source, errors.front().file, errors)) {
    auto& [error, hint] = *cause;
    return {head_text(error) + excerpt(source, error.line, error.column), std::move(hint)};
  }
  const Message& first = errors.front();
  std::string text = head_text(first) + excerpt(source, first.line, first.column);
  for (std::size_t i = 1; i < std::min(errors.size(), kMostErrors); ++i)
    text += head_text(errors[i]);
  if (errors.size() > kMostErrors)
    text += std::to_string(errors.size() - kMostErrors) + " more errors\n";
  return {std::move(text), hint_for(source, first, all)};
}

}  // namespace membound::compilers
