// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Holds a tree that is about to be handed out against what must not get out: the lines of
/// solutions/, debug information of compiled references, and paths of the machine they were made
/// on.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/release/handed_out_tree.hpp"

namespace membound::release {

/// One place where the tree says too much.
struct Leak {
  std::string file;  ///< of the tree
  int line = 0;      ///< 0: in a binary file
  std::string what;  ///< "a line of solutions/03-transpose/kernel.cu: …"
};

/// "labs/03-transpose/README.md:12: a line of solutions/03-transpose/kernel.cu: …".
[[nodiscard]] std::string to_string(const Leak& leak);

/// The lines of solutions/ that nobody outside may see: all but the short ones (below
/// kShortestSecret letters), and those that stand in a skeleton, in a lab's contract or in the
/// harness's own kernels, such as `#pragma unroll`. White space does not count.
class Secrets {
 public:
  /// Reads all of root/solutions; `open` are texts whose lines are no secrets.
  [[nodiscard]] static base::Result<Secrets> read(const std::vector<std::filesystem::path>& roots,
                                                  const std::vector<std::string>& open);

  /// The file in solutions/ that `line` gives away, or an empty text.
  [[nodiscard]] std::string source_of(std::string_view line) const;
  [[nodiscard]] std::size_t size() const { return lines_.size(); }

 private:
  std::map<std::string, std::string, std::less<>> lines_;  // normalised line -> file
};

inline constexpr std::size_t kShortestSecret = 12;

/// Every leak of the tree. `places` are paths of this machine that must not occur in it.
[[nodiscard]] base::Result<std::vector<Leak>> find_leaks(
    const Tree& tree, const Secrets& secrets, const std::vector<std::filesystem::path>& places);

}  // namespace membound::release
