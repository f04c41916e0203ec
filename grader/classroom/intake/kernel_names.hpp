// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which labs a text is for, told by the kernels that are named in it.
/// Place in the chain: entries -> [kernel_names] -> entries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grader/course/lab.hpp"

namespace membound::intake {

class KernelNames {
 public:
  /// Keeps pieces of `labs`, which must live longer.
  explicit KernelNames(const std::vector<course::Lab>& labs);

  /// Ids of the labs of which a kernel occurs in `source` outside of comments and literals, the one
  /// with the most kernels first.
  [[nodiscard]] std::vector<std::string> labs_in(std::string_view source) const;

 private:
  const std::vector<course::Lab>& labs_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> labs_of_;  ///< by kernel
};

}  // namespace membound::intake
