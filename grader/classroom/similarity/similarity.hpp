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
#include <map>
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
  /// A hash that more than this share of the class has says nothing: a stage has few right forms,
  /// and each of them is what some of a class comes to by itself.
  double shared_by = 0.05;
  std::size_t shared_least = 4;  ///< … nor counts as shared below this many submissions
  std::size_t least_hashes = 8;  ///< a submission with fewer telling hashes is left alone
  double alike = 0.8;            ///< Jaccard index of the telling hashes from which two are alike
  /// Share of the published answer's telling hashes from which a submission retells it, and how
  /// many of them there must be.
  double retold = 0.8;
  std::size_t least_retold = 24;
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

/// A submission that says what the published answer says.
struct Retelling {
  std::size_t member = 0;
  double share = 0;  ///< of the answer's telling hashes that the submission has
};

/// Submissions that retell `reference`, the nearest first. What much of the class has, or what
/// `given` has, is not counted: a forced form is no retelling.
[[nodiscard]] std::vector<Retelling> retellings_of(std::span<const Fingerprint> submissions,
                                                   const Fingerprint& reference,
                                                   std::span<const Fingerprint> given = {},
                                                   const Limits& limits = {});

/// A submission that is like one of an earlier term.
struct Match {
  std::size_t member = 0, earlier = 0;  ///< indices
  double alike = 0;
};

/// For each submission the most alike of `earlier`, where it is alike at all; what much of either
/// class has is not counted.
[[nodiscard]] std::vector<Match> matches_of(std::span<const Fingerprint> submissions,
                                            std::span<const Fingerprint> earlier,
                                            std::span<const Fingerprint> given,
                                            const Limits& limits = {});

/// Fingerprints of a term by lab, without a name: what may be kept when the people are gone.
using Digests = std::map<std::string, std::vector<Fingerprint>>;

/// What a folder keeps of a term: the file, as text.
inline constexpr const char* kDigestsFile = "digests.json";
[[nodiscard]] std::string to_text(const Digests& digests);
/// An error names the file.
[[nodiscard]] base::Result<Digests> digests_from_text(const std::string& text,
                                                      const std::string& file_name);

}  // namespace membound::similarity
