// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which submissions are more alike than the task makes them: compared is what was compiled, so
/// names, comments, layout and the order of functions make no difference. It blames nobody: small
/// kernels have few right forms; what most of a class or the course itself wrote is therefore not
/// counted.
///
/// Method: winnowing (Schleimer, Wilkerson, Aiken, SIGMOD 2003) over instructions instead of
/// letters. A word is an instruction without its registers' names; each run of kWordsPerGram words
/// is hashed, and of each kWindowGrams neighbours the least hash is kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::similarity {

inline constexpr std::size_t kWordsPerGram = 6;
inline constexpr std::size_t kWindowGrams = 4;

/// Hashes kept of one submission: ascending, each once.
using Fingerprint = std::vector<std::uint64_t>;

[[nodiscard]] base::Result<Fingerprint> fingerprint_of(std::string_view ptx,
                                                       const std::string& file_name);

/// Of a fat binary or PTX file as the compiler wrote it.
[[nodiscard]] base::Result<Fingerprint> fingerprint_of_code(const std::filesystem::path& file);

/// What does not count as alike, and from where on likeness is told.
struct Limits {
  double shared_by = 0.25;       ///< a hash that more than this share of the class has says nothing
  std::size_t shared_least = 4;  ///< … nor counts as shared below this many submissions
  std::size_t least_hashes = 8;  ///< a submission with fewer telling hashes is left alone
  double alike = 0.8;            ///< Jaccard index of the telling hashes from which two are alike
};

/// Submissions that hang together through pairs that are alike.
struct Cluster {
  std::vector<std::size_t> members;  ///< indices, ascending, at least two
  double least_alike = 1;            ///< the lowest index among the pairs that joined it
};

/// Clusters, the largest first. `given` are the fingerprints of what the course hands out.
[[nodiscard]] std::vector<Cluster> clusters_of(std::span<const Fingerprint> submissions,
                                               std::span<const Fingerprint> given,
                                               const Limits& limits = {});

}  // namespace membound::similarity
