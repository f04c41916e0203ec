// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/proof.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "grader/base/text_files.hpp"
#include "grader/judge/verdict.hpp"

namespace membound::authoring {
namespace {

namespace fs = std::filesystem;

/// A kernel that never ends has shown so after this time; a student's own is given more.
constexpr const char* kSecondsOfAnEndlessLaunch = "10";

std::vector<int> all_stages(const course::Lab& lab) {
  std::vector<int> numbers;
  for (const course::Stage& stage : lab.stages) numbers.push_back(stage.number);
  return numbers;
}

/// "// Fails: TilesCutOff" in the comments that open the text.
std::string head_field(const std::string& text, const std::string& key) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line) && line.starts_with("//");) {
    const auto at = line.find(key + ":");
    if (at == std::string::npos) continue;
    const auto start = line.find_first_not_of(' ', at + key.size() + 1);
    if (start == std::string::npos) return "";
    return line.substr(start, line.find_last_not_of(" \r") - start + 1);
  }
  return "";
}

/// The lines below the head that contain `part`.
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

/// "// Finds: data race in `tile[y][x] =`": what the checkers say first, and a piece of the line.
base::Status read_finds(const std::string& text, const fs::path& file, Claim& claim) {
  const std::string finds = head_field(text, "Finds");
  if (finds.empty()) return base::Done{};
  const auto at = finds.find(" in `");
  if (at != std::string::npos && finds.ends_with('`') && finds.size() > at + 6) {
    claim.finds = finds.substr(0, at);
    claim.lines = lines_with(text, finds.substr(at + 5, finds.size() - at - 6));
  }
  if (!claim.lines.empty()) return base::Done{};
  return base::Error{base::ErrorKind::kInput, file.string(), "// Finds: " + finds,
                     "a kind of finding and a piece of a line of this file, as in "
                     "\"// Finds: data race in `tile[y][x] =`\"",
                     "docs/checkers.md lists the kinds"};
}

base::Result<Claim> claim_of(const course::Lab& lab, const fs::path& file) {
  const auto text = base::read_file(file);
  if (!text) return text.error();
  const std::string stage = head_field(*text, "Stage");
  const std::string fails = head_field(*text, "Fails");
  const int number = std::atoi(stage.c_str());
  if (lab.stage(number) == nullptr || fails.empty()) {
    return base::Error{base::ErrorKind::kInput, file.string(),
                       "does not say which stage it answers and which test it fails",
                       "\"// Stage: 3\" and \"// Fails: <test>\" at the head",
                       "membound dev check tells more"};
  }
  Claim claim{&lab, file, {number}, fails};
  if (const auto read = read_finds(*text, file, claim); !read) return read.error();
  return claim;
}

bool needs_timing(const Claim& claim) {
  return claim.fails.empty() || claim.fails == to_string(course::BuiltInTest::kSpeed);
}

/// "passed", "wrong (MovesOneTile)".
std::string told(const course::StageResult& stage) {
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
    if (stage.passed()) return std::nullopt;
    return where + told(stage);
  }
  const bool fails = !failed.empty();
  if (claim.fails == kAnyTest && !fails) return where + "passes";
  if (claim.fails == kAnyTest || claim.fails == failed) return std::nullopt;
  return where + (fails ? "fails " + told(stage) : "passes every test");
}

/// How the checkers' first finding contradicts the claim; nothing if it does not.
std::optional<std::string> unlike_found(const Claim& claim, const course::StageResult& stage) {
  const auto found = std::find_if(stage.findings.begin(), stage.findings.end(),
                                  [](const course::Finding& one) { return !one.advice.empty(); });
  if (found == stage.findings.end()) {
    if (claim.finds.empty()) return std::nullopt;
    return "the checkers find nothing, not a " + claim.finds;
  }
  if (!claim.finds.empty() && found->text.starts_with(claim.finds + " in ") &&
      claim.lines.contains(found->line))
    return std::nullopt;
  return "the checkers find, in line " + std::to_string(found->line) + ", " + found->text;
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
    // A real device times one kernel at a time.
    const unsigned most = tools_.device.is_virtual() ? std::thread::hardware_concurrency() : 1;
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < std::max(1U, std::min<unsigned>(most, claims_.size())); ++i)
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
      if (!needs_timing(claim)) request.more_arguments.emplace_back("--quick");
      if (tools_.device.is_virtual() && claim.fails == to_string(course::BuiltInTest::kTimeout))
        request.more_arguments.insert(request.more_arguments.end(),
                                      {"--launch-seconds", kSecondsOfAnEndlessLaunch});
      request.stages_at_once = 1;  // the claims are what runs side by side
      request.look_again = tools_.device.is_virtual() && claim.fails != kAnyTest;
      const auto result = judge::check(request);
      auto proof = result ? std::optional(compare(claim, *result)) : std::nullopt;
      if (proof && request.look_again) add_findings(*proof, *result);
      // Programs with host code have one compiler.
      if (proof && tools_.second_compiler && !claim.lab->host_code && !stop_->load()) {
        request.compiler = *tools_.second_compiler;
        request.look_again = false;  // one compiler's findings are enough
        const auto second = judge::check(request);
        if (second) {
          add_second(*proof, *result, *second);
        } else {
          proof.reset();
          fail(second.error());
        }
      }
      if (!result) fail(result.error());
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

base::Result<std::vector<Claim>> claims_of(const course::Lab& lab, const judge::Workplace& place) {
  const fs::path solution = place.root / "solutions" / lab.id;
  std::vector<Claim> claims = {{&lab, lab.folder / "kernel.cu", all_stages(lab), kAnyTest},
                               {&lab, solution / "kernel.cu", all_stages(lab), ""}};
  std::vector<fs::path> wrong;
  std::error_code error;
  for (fs::directory_iterator entry(solution / "wrong", error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".cu") wrong.push_back(entry->path());
  std::sort(wrong.begin(), wrong.end());
  for (const fs::path& file : wrong) {
    auto claim = claim_of(lab, file);
    if (!claim) return claim.error();
    claims.push_back(std::move(*claim));
  }
  return claims;
}

Proof compare(const Claim& claim, const course::Result& result) {
  Proof proof{claim, true, ""};
  for (const course::StageResult& stage : result.stages) {
    const auto problem = contradiction(claim, stage);
    if (!problem) continue;
    proof.shown += (proof.shown.empty() ? "" : "; ") + *problem;
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
    const std::string one = told(first.stages[i]), other = told(second.stages[i]);
    if (one == other) continue;
    blame("stage " + std::to_string(first.stages[i].stage) + ": " + one + " with " +
          first.compiler + ", " + other + " with " + second.compiler);
  }
}

base::Result<std::vector<Proof>> prove(const judge::Workplace& place, const judge::Tools& tools,
                                       const judge::CheckOptions& options,
                                       const std::vector<Claim>& claims,
                                       const std::atomic<bool>* stop,
                                       const std::function<void(const Proof&)>& on_proof) {
  return Prover(place, tools, options, claims, stop, on_proof).run();
}

}  // namespace membound::authoring
