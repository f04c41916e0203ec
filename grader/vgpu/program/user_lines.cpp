// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/program/user_lines.hpp"

#include <algorithm>
#include <array>
#include <string_view>
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
