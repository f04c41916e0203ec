// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/compilers/compile_hints.hpp"

namespace membound::compilers {
namespace {

/// Words of a message (nvcc's or clang's), and what they usually mean. First match wins.
struct Entry {
  std::string_view words;
  std::string_view hint;
};

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
    {"not found in 'std'", "Include what you use, and remember that most of std:: is for the CPU."},
    {"could not open source file",
     "Only kernel.cuh of the lab and headers that come with the compiler can be included."},
    {"No such file or directory",
     "Only kernel.cuh of the lab and headers that come with the compiler can be included."},
    {"file not found",
     "Only kernel.cuh of the lab and headers that come with the compiler can be included."},
    {"expected a \";\"",
     "The ';' is missing at the end of the line before the one that is named, as a rule."},
    {"expected ';'", "The ';' is missing at the end of the line before, as a rule."},
    {"expected a \")\"", "Count the brackets of the line that is named, and of the one above it."},
    {"expected a \"}\"", "A '{' was never closed; see where the indentation stops to fit."},
    {"expected a declaration", "There is one '}' too many further up, as a rule."},
    {"no instance of function template",
     "The arguments do not have the types that the function "
     "takes: compare them one by one with its declaration."},
    {"expression must be a modifiable lvalue",
     "This cannot be assigned to: `const` pointers and parameters are for reading only."},
    {"expression must have a constant value",
     "The extents of a __shared__ array must be known when compiling: use the constants of "
     "kernel.cuh, or extern __shared__ with the bytes in the launch shape."},
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

}  // namespace membound::compilers
