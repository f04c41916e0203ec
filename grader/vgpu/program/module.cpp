// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/module.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace membound::vgpu::program {
namespace {

/// nvcc names its headers from its own folder on: ".../bin/../targets/x86_64-linux/include/x.hpp",
/// and ".../bin/..//include/x.hpp" where the toolkit is made of PyPI's packages; those of CCCL by
/// their whole path. clang has headers of its own.
constexpr std::array<std::string_view, 11> kForeignFolders = {"/bin/../",
                                                              "/targets/x86_64-linux/include/",
                                                              "/cuda/include/",
                                                              "/usr/include/",
                                                              "/grader/harness/student/",
                                                              "/include/cccl/",
                                                              "/lib/clang/",
                                                              "/usr/local/cuda",
                                                              "/nvidia/cu",
                                                              "/usr/lib/",
                                                              "/targets/sbsa-linux/include/"};

/// A file that is compiled by itself is no header, wherever it lies.
bool is_source(std::string_view file) {
  return file.ends_with(".cu") || file.ends_with(".cpp") || file.ends_with(".ptx");
}

}  // namespace

const Kernel* Program::find_kernel(std::string_view mangled_name) const {
  for (const Kernel& kernel : kernels_) {
    if (kernel.name == mangled_name) return &kernel;
  }
  return nullptr;
}

Kernel* Program::find_kernel(std::string_view mangled_name) {
  return const_cast<Kernel*>(std::as_const(*this).find_kernel(mangled_name));
}

Function* Program::find_function(std::string_view mangled_name) {
  for (Function& function : functions_)
    if (function.has_body && function.name == mangled_name) return &function;
  return nullptr;
}

std::optional<std::size_t> Program::find_global(std::string_view name) const {
  for (std::size_t i = 0; i < globals_.size(); ++i) {
    if (globals_[i].name == name) return i;
  }
  return std::nullopt;
}

void Program::place_global(std::size_t index, std::uint64_t device_address) {
  globals_[index].device_address = device_address;
}

std::vector<std::byte> Program::initial_image(std::size_t index) const {
  const GlobalVariable& global = globals_[index];
  std::vector<std::byte> image = global.initial;
  image.resize(global.size_bytes);
  for (const GlobalVariable::Relocation& relocation : global.relocations) {
    std::uint64_t value = static_cast<std::uint64_t>(relocation.addend);
    if (const auto target = find_global(relocation.target)) {
      value += globals_[*target].device_address;
    } else {
      for (std::uint32_t f = 0; f < functions_.size(); ++f) {
        if (functions_[f].name == relocation.target) value += function_address(f);
      }
    }
    value >>= relocation.shift_bits;
    for (std::uint32_t b = 0; b < relocation.size_bytes; ++b) {
      const std::uint64_t at = relocation.offset_bytes + b;
      if (at < image.size()) image[at] = static_cast<std::byte>(value >> (8 * b));
    }
  }
  return image;
}

bool is_foreign_header(std::string_view file) {
  return !is_source(file) &&
         std::any_of(kForeignFolders.begin(), kForeignFolders.end(), [&](std::string_view folder) {
           return file.find(folder) != std::string_view::npos;
         });
}

void attribute_to_user_lines(Function& function, std::span<const std::string> files) {
  std::vector<bool> own;
  for (const std::string& file : files) own.push_back(!is_foreign_header(file));
  const auto is_users = [&](const SourceLine& line) {
    return line.line != 0 && line.file < own.size() && own[line.file];
  };
  SourceLine last;
  for (std::size_t i = 0; i < function.lines.size(); ++i) {
    SourceLine& line = function.lines[i];
    if (is_users(line))
      last = line;
    else if (is_users(function.call_sites[i]))
      last = line = function.call_sites[i];
    else if (last.line != 0)  // called within a header: as the call before
      line = last;
  }
}

}  // namespace membound::vgpu::program
