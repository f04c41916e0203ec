// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a lab's author claims, and the runs that prove it: the skeleton fails every stage, the
/// reference answer passes every stage, and each wrong answer fails the test it names.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/check_request.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::authoring {

/// In Claim::fails: the stage must fail, whatever the test.
inline constexpr const char* kAnyTest = "*";

/// In Claim::fails_on_gpu: a race, or what lies in memory by chance, decides whether it fails.
inline constexpr const char* kChance = "chance";

/// One claim about one file.
struct Claim {
  const course::Lab* lab = nullptr;
  std::filesystem::path file;  ///< a wrong answer's: what its stage needs, in the state folder
  std::vector<int> stages;     ///< at least one, all of one kind
  /// For each stage: the test that must be the first to fail; "" = it must pass.
  std::string fails;
  std::optional<std::string> fails_on_gpu = {};  ///< the same there, where it is another
  /// What the checkers' first finding must be ("data race"), and at which lines of the file; both
  /// empty: they must find nothing.
  std::string finds = {};
  std::set<int> lines = {};
  bool earns_all = false;  ///< the reference answer: each stage earns all of its points
};

/// Of its stages, which are all of one.
[[nodiscard]] const course::StageKind& kind_of(const Claim& claim);

/// All claims of a lab: skeleton, reference answer, wrong answers, which are written below
/// place.state/wrong/, those about kernels without the stages that theirs does not need: compiling
/// them once more takes longer than running the tests. A wrong answer that cannot be read is an
/// error.
[[nodiscard]] base::Result<std::vector<Claim>> claims_of(const course::Lab& lab,
                                                         const judge::Workplace& place);

/// Makes them what a GPU shows. Left out are those that chance decides there, and those about
/// counters whose heads do not say what a GPU makes of them; returns how many.
std::size_t claim_of_a_gpu(std::vector<Claim>& claims);

/// What running it showed.
struct Proof {
  Claim claim;
  bool holds = false;
  std::string shown;                             ///< "as claimed", or what happened instead
  std::vector<course::StageResult> stages = {};  ///< by the first compiler
};

/// Whether a result is what was claimed. Pure.
[[nodiscard]] Proof compare(const Claim& claim, const course::Result& result);

/// Adds what the checkers of the virtual GPU found: first what is claimed, or nothing. Pure.
void add_findings(Proof& proof, const course::Result& result);

/// Adds what the same submission showed with another compiler: the claim must hold there as well,
/// and every stage must have the same verdict for the same reason. Pure.
void add_second(Proof& proof, const course::Result& first, const course::Result& second);

/// Runs all claims, with judge::Tools::second_compiler too where there is one, several at once on
/// the virtual GPU; `on_proof` hears of each when it is there. The proofs come in the order of the
/// claims; fewer when stopped.
[[nodiscard]] base::Result<std::vector<Proof>> prove(
    const judge::Workplace& place, const judge::Tools& tools, const judge::CheckOptions& options,
    const std::vector<Claim>& claims, const std::atomic<bool>* stop,
    const std::function<void(const Proof&)>& on_proof);

}  // namespace membound::authoring
