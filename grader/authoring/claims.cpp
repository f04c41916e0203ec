// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/claims.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <regex>
#include <sstream>
#include <thread>

#include "grader/authoring/wrong_answer.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/course/contract.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/stage_runs.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

std::vector<int> stages_of(const course::Lab& lab, const course::StageKind* kind) {
  std::vector<int> numbers;
  for (const course::Stage& stage : lab.stages)
    if (stage.kind == kind) numbers.push_back(stage.number);
  return numbers;
}

/// The lines of code that contain `part`.
std::set<int> lines_with(const std::string& text, const std::string& part) {
  std::set<int> lines;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (!line.starts_with("//") && line.find(part) != std::string::npos) lines.insert(number);
  }
  return lines;
}

/// "Finds: data race in `tile[y][x] =`": what the checkers say first, and a part of the line; or
/// "Finds: order of warps", in whichever line, as where it depends on the compiler.
base::Status read_finds(const WrongAnswer& answer, Claim& claim) {
  const std::string& finds = answer.head.finds;
  if (finds.empty()) return base::Done{};
  const auto at = finds.find(" in `");
  if (at == std::string::npos) {
    claim.finds = finds;
    return base::Done{};
  }
  if (finds.ends_with('`') && finds.size() > at + 6) {
    claim.finds = finds.substr(0, at);
    claim.lines = lines_with(answer.text, finds.substr(at + 5, finds.size() - at - 6));
  }
  if (!claim.lines.empty()) return base::Done{};
  return base::Error{base::ErrorKind::kInput, answer.where(), "Finds: " + finds,
                     "a kind of finding and a part of a line of the wrong answer, as in "
                     "\"Finds: data race in `tile[y][x] =`\"",
                     "docs/checkers.md lists the kinds"};
}

base::Result<Claim> claim_of(const course::Lab& lab, const WrongAnswer& answer,
                             const fs::path& folder) {
  if (lab.stage(answer.head.stage) == nullptr) {
    return base::Error{base::ErrorKind::kInput, answer.where(),
                       answer.name + " is named after no stage of the lab",
                       "a name that begins with a stage's number", "membound dev check tells more"};
  }
  WrongAnswer compiled = answer;
  course::SplitSubmission files = course::split_submission(answer.text);
  if (lab.files.size() > 1 && files.beside.empty()) {  // a whole kernel.cu
    const auto reference = reference_text(answer.file.parent_path().parent_path());
    if (!reference) return reference.error();
    files.beside = course::split_submission(*reference).beside;
  }
  // The rest is the reference answer's, which has a claim of its own; a program calls all of it.
  if (lab.stage(answer.head.stage)->kind->has_reference)
    files.kernel = course::without_other_stages(files.kernel, answer.head.stage);
  compiled.text = course::joined_submission(files.kernel, files.beside);
  const auto kernel = write_kernel(compiled, folder);
  if (!kernel) return kernel.error();
  Claim claim{&lab, *kernel, {answer.head.stage}, answer.head.fails};
  if (const std::string& on_gpu = answer.head.fails_on_gpu; !on_gpu.empty())
    claim.fails_on_gpu = on_gpu == "passes" ? "" : on_gpu == "fails" ? kAnyTest : on_gpu;
  if (const auto read = read_finds(answer, claim); !read) return read.error();
  return claim;
}

/// The claims of a skeleton that is broken code: with the reference answers.md beside it each stage
/// fails all the same, and of a kernel the checkers find what answers.md says, where it says so.
base::Result<std::vector<Claim>> claims_of_broken(const course::Lab& lab, const fs::path& solution,
                                                  const fs::path& folder) {
  const auto skeleton = base::read_file(lab.folder / course::kKernelFile);
  if (!skeleton) return skeleton.error();
  const auto reference = reference_text(solution);
  if (!reference) return reference.error();
  const auto beside = course::split_submission(*reference).beside;
  const fs::path file = folder / "broken.cu";
  if (auto made = base::write_file(file, course::joined_submission(*skeleton, beside)); !made)
    return made.error();
  const auto text = beside.find(std::string(course::kAnswersFile));
  course::ReadAnswers answers;
  if (text != beside.end()) answers = course::read_answers(text->second);
  std::vector<Claim> claims;
  for (const course::Stage& stage : lab.stages) {
    Claim claim{&lab, file, {stage.number}, kAnyTest};
    auto& fields = answers.stages[stage.number].fields;
    if (stage.kind->has_reference && fields.contains("kind")) {
      claim.finds = fields["kind"].value;
      claim.fails_on_gpu = kChance;  // what is undefined may come out right there
      std::istringstream numbers(fields["line"].value);  // "58 or 59"
      for (std::string word; numbers >> word;)
        if (word != "or") claim.lines.insert(std::atoi(word.c_str()));
    }
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace

const course::StageKind& kind_of(const Claim& claim) {
  return *claim.lab->stage(claim.stages.front())->kind;
}

base::Result<std::vector<Claim>> claims_of(const course::Lab& lab, const judge::Workplace& place) {
  const fs::path solution = place.tree(lab) / "solutions" / lab.id;
  std::vector<Claim> claims;
  if (lab.mended) {
    auto broken = claims_of_broken(lab, solution, place.state / "wrong" / lab.id);
    if (!broken) return broken.error();
    claims = *std::move(broken);
  }
  for (const course::StageKind* kind : lab.kinds()) {
    if (!lab.mended)
      claims.push_back({&lab, lab.folder / "kernel.cu", stages_of(lab, kind), kAnyTest});
    Claim reference{&lab, solution / "kernel.cu", stages_of(lab, kind), ""};
    reference.earns_all = true;
    claims.push_back(std::move(reference));
  }
  const auto answers = read_wrong_answers(solution);
  if (!answers) return answers.error();
  for (const WrongAnswer& answer : *answers) {
    auto claim = claim_of(lab, answer, place.state / "wrong" / lab.id);
    if (!claim) return claim.error();
    claims.push_back(std::move(*claim));
  }
  return claims;
}

std::size_t claim_of_a_gpu(std::vector<Claim>& claims) {
  // A program is judged on the virtual GPU wherever the check runs.
  const auto runs_there = [](const Claim& claim) { return !kind_of(claim).needs_timeline; };
  for (Claim& claim : claims)
    if (claim.fails_on_gpu && runs_there(claim)) claim.fails = *claim.fails_on_gpu;
  return std::erase_if(claims, [&](const Claim& claim) {
    if (!runs_there(claim)) return false;
    return claim.fails == kChance || claim.fails == to_string(course::BuiltInTest::kBudget);
  });
}

namespace {

/// A kernel that never ends has shown so after this time; a student's own is given more.
constexpr const char* kSecondsOfAnEndlessLaunch = "10";

/// An answer whose results are right, whether or not that is luck.
bool may_be_right(const Claim& claim) {
  return claim.fails.empty() || claim.fails == to_string(course::BuiltInTest::kUndefined);
}

/// Broken code may be right and slow.
bool is_broken_skeleton(const Claim& claim) { return claim.lab->mended && claim.fails == kAnyTest; }

bool needs_timing(const Claim& claim) {
  return may_be_right(claim) || is_broken_skeleton(claim) ||
         claim.fails == to_string(course::BuiltInTest::kSpeed) ||
         claim.fails == to_string(course::BuiltInTest::kBudget);
}

/// Whether all blocks of a timed launch had to run to show what is wrong. Which compiler made them
/// changes nothing of what they leave out, and they take as long as all other tests together.
bool shown_by_all_blocks(const Claim& claim, const course::Result& result) {
  return claim.fails == to_string(course::BuiltInTest::kSpeed) &&
         std::any_of(result.stages.begin(), result.stages.end(),
                     [](const auto& stage) { return stage.verdict == course::Verdict::kWrong; });
}

/// "passed", "wrong (MovesOneTile)".
std::string outcome_text(const course::StageResult& stage) {
  const std::string verdict(course::to_string(stage.verdict));
  const std::string failed = judge::failed_test(stage);
  return failed.empty() ? verdict : verdict + " (" + failed + ")";
}

/// What happened in one stage, in words; nothing if it is as claimed.
std::optional<std::string> contradiction(const Claim& claim, const course::StageResult& stage) {
  const std::string verdict(course::to_string(stage.verdict));
  const std::string failed = judge::failed_test(stage);
  const std::string where = "stage " + std::to_string(stage.stage) + ": ";
  if (stage.verdict == course::Verdict::kInfraError) {
    const std::string text = stage.findings.empty() ? "" : ": " + stage.findings.front().text;
    return where + verdict + text;
  }
  if (claim.fails.empty()) {
    if (!stage.passed()) return where + outcome_text(stage);
    if (!claim.earns_all || stage.points >= stage.max_points) return std::nullopt;
    return where + "passed, but earns " + base::decimal(stage.points, 2) + " of " +
           base::decimal(stage.max_points, 2) + " points";
  }
  const bool fails = !failed.empty();
  if (claim.fails == kAnyTest && !fails) return where + "passes";
  if (claim.fails == kAnyTest || claim.fails == failed) return std::nullopt;
  return where + (fails ? "fails " + outcome_text(stage) : "passes every test");
}

/// The line that a finding stands at, and of a race that of the other access, which its text names.
std::set<int> lines_of(const course::Finding& finding) {
  static const std::regex kOther(R"(:(\d+); nothing orders)");
  std::set<int> lines = {finding.line};
  std::smatch match;
  if (std::regex_search(finding.text, match, kOther)) lines.insert(std::stoi(match[1]));
  return lines;
}

/// How the checkers' first finding contradicts the claim; nothing if it does not.
std::optional<std::string> unlike_found(const Claim& claim, const course::StageResult& stage) {
  // Its findings are the clock's: with one of a checker the verdict would be another.
  if (stage.verdict == course::Verdict::kSlow && claim.finds.empty()) return std::nullopt;
  // A failed test, or what ended the stage, may have advice too: what the source shows of it.
  const std::string fault(to_string(course::Cause::kFault));
  const auto found =
      std::find_if(stage.findings.begin(), stage.findings.end(), [&](const course::Finding& one) {
        return !one.advice.empty() && one.test.empty() && one.kind != fault;
      });
  if (found == stage.findings.end()) {
    if (claim.finds.empty()) return std::nullopt;
    return "the checkers find nothing, not a " + claim.finds;
  }
  const std::set<int> lines = lines_of(*found);
  const bool is_there =
      claim.lines.empty() ||
      std::any_of(lines.begin(), lines.end(), [&](int line) { return claim.lines.contains(line); });
  if (is_there && !claim.finds.empty() && found->text.starts_with(claim.finds + " in "))
    return std::nullopt;
  return "the checkers find, in line " + std::to_string(found->line) + ", " + found->text;
}

/// Where a student who predicts what the reference answer counts is told another number, because of
/// the compiler: what it counts of this stage with either.
std::string other_count(const Claim& claim, const course::Result& first,
                        const course::Result& second, std::size_t index) {
  const course::StageResult &one = first.stages[index], &other = second.stages[index];
  const course::Stage* const stage = claim.lab == nullptr ? nullptr : claim.lab->stage(one.stage);
  if (stage == nullptr || !stage->question || !one.answer || !other.answer ||
      report::is_as_counted(*stage->question, *one.answer, *other.answer))
    return "";
  const auto counted = [&](const course::Result& result, double answer) {
    return report::amount(answer) + " " + stage->question->unit + " with " + result.compiler;
  };
  return "stage " + std::to_string(one.stage) + ", \"" + stage->question->ask +
         "\": " + counted(first, *one.answer) + ", " + counted(second, *other.answer);
}

class Prover {
 public:
  Prover(const judge::Workplace& place, const judge::Tools& tools,
         const judge::CheckOptions& options, const std::vector<Claim>& claims,
         const std::atomic<bool>* stop, const std::function<void(const Proof&)>& on_proof)
      : place_(place),
        tools_(tools),
        options_(options),
        claims_(claims),
        stop_(stop),
        on_proof_(on_proof),
        proofs_(claims.size()) {}

  base::Result<std::vector<Proof>> run() {
    const auto most = static_cast<std::size_t>(tools_.device.kind->stages_at_once());
    std::vector<std::jthread> workers;
    for (std::size_t i = 0; i < std::min(most, claims_.size()); ++i)
      workers.emplace_back([this] { work(); });
    workers.clear();
    if (error_) return *error_;
    std::vector<Proof> done;
    for (std::optional<Proof>& proof : proofs_)
      if (proof) done.push_back(std::move(*proof));
    return done;
  }

 private:
  void work() {
    while (const auto index = take()) {
      const Claim& claim = claims_[*index];
      judge::CheckOptions options = options_;
      options.submission = claim.file.string();
      auto request = judge::request_for(place_, tools_, options, {claim.lab, claim.stages}, stop_);
      request.times_programs = needs_timing(claim);
      if (!request.times_programs) {
        request.more_arguments.emplace_back("--quick");
        // Only a time and a budget are made of what caches did.
        if (kind_of(claim).has_reference) request.device.environment["MEMBOUND_CACHES"] = "off";
      }
      if (claim.fails == to_string(course::BuiltInTest::kTimeout))
        request.more_arguments.insert(request.more_arguments.end(),
                                      {"--launch-seconds", kSecondsOfAnEndlessLaunch});
      request.stages_at_once = 1;  // the claims are what runs side by side
      const judge::Device device = judge::device_of(kind_of(claim), tools_.device, place_);
      request.reruns.at_failures =
          device.kind->has_checkers() && (claim.fails != kAnyTest || !claim.finds.empty());
      request.reruns.at_right_results =
          request.reruns.at_failures && (may_be_right(claim) || is_broken_skeleton(claim));
      auto result = judge::check(request);
      auto proof = result ? std::optional(compare(claim, *result)) : std::nullopt;
      // Their lines are those of nvcc's code; clang's may name the next one.
      if (proof && request.reruns.at_failures &&
          request.compiler.kind == compilers::DeviceCompiler::kNvcc)
        add_findings(*proof, *result);
      if (proof && tools_.second_compiler && !stop_->load() &&
          !shown_by_all_blocks(claim, *result)) {
        request.compiler = *tools_.second_compiler;
        request.architecture = judge::architecture_for(tools_.device, request.compiler.kind);
        request.reruns.at_failures = false;  // one compiler's findings are enough
        const auto second = judge::check(request);
        if (second) {
          add_second(*proof, *result, *second);
        } else {
          proof.reset();
          fail(second.error());
        }
      }
      if (!result) fail(result.error());
      if (proof) proof->stages = std::move(result->stages);
      const std::lock_guard lock(mutex_);
      if (proof && !stop_->load()) {
        proofs_[*index] = std::move(*proof);
        on_proof_(*proofs_[*index]);
      }
    }
  }

  void fail(base::Error error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
  }

  std::optional<std::size_t> take() {
    const std::lock_guard lock(mutex_);
    if (next_ == claims_.size() || error_ || stop_->load()) return std::nullopt;
    return next_++;
  }

  const judge::Workplace& place_;
  const judge::Tools& tools_;
  const judge::CheckOptions& options_;
  const std::vector<Claim>& claims_;
  const std::atomic<bool>* stop_;
  const std::function<void(const Proof&)>& on_proof_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::optional<base::Error> error_;
  std::vector<std::optional<Proof>> proofs_;
};

}  // namespace

Proof compare(const Claim& claim, const course::Result& result) {
  Proof proof{.claim = claim, .holds = true, .shown = ""};
  for (const course::StageResult& stage : result.stages) {
    const auto problem = contradiction(claim, stage);
    if (!problem) continue;
    base::add_word(proof.shown, *problem, "; ");
    proof.holds = false;
  }
  if (result.stages.size() != claim.stages.size()) {
    proof.holds = false;
    proof.shown += "not every stage was run";
  }
  if (proof.holds) proof.shown = "as claimed";
  return proof;
}

void add_findings(Proof& proof, const course::Result& result) {
  for (const course::StageResult& stage : result.stages) {
    const auto problem = unlike_found(proof.claim, stage);
    if (!problem) continue;
    proof.shown = (proof.holds ? "" : proof.shown + "; ") + *problem;
    proof.holds = false;
  }
}

void add_second(Proof& proof, const course::Result& first, const course::Result& second) {
  const auto blame = [&](const std::string& text) {
    proof.shown = (proof.holds ? "" : proof.shown + "; ") + text;
    proof.holds = false;
  };
  if (const Proof other = compare(proof.claim, second); !other.holds)
    blame("with " + second.compiler + ": " + other.shown);
  for (std::size_t i = 0; i < std::min(first.stages.size(), second.stages.size()); ++i) {
    const std::string one = outcome_text(first.stages[i]), other = outcome_text(second.stages[i]);
    if (one == other) continue;
    blame("stage " + std::to_string(first.stages[i].stage) + ": " + one + " with " +
          first.compiler + ", " + other + " with " + second.compiler);
  }
  if (!proof.claim.fails.empty()) return;
  for (std::size_t i = 0; i < std::min(first.stages.size(), second.stages.size()); ++i)
    if (const std::string text = other_count(proof.claim, first, second, i); !text.empty())
      blame(text);
}

base::Result<std::vector<Proof>> prove(const judge::Workplace& place, const judge::Tools& tools,
                                       const judge::CheckOptions& options,
                                       const std::vector<Claim>& claims,
                                       const std::atomic<bool>* stop,
                                       const std::function<void(const Proof&)>& on_proof) {
  return Prover(place, tools, options, claims, stop, on_proof).run();
}

}  // namespace membound::authoring
