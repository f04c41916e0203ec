// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <system_error>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/ledger/database.hpp"
#include "grader/classroom/ledger/ledger.hpp"

namespace membound::ledger {
namespace {

namespace fs = std::filesystem;

/// Entry by entry: numbers without gaps, each signed over the one before.
void check_chain(const std::vector<ChainEntry>& entries, const std::string& secret,
                 Verification& found) {
  std::string previous;
  int number = 0;
  for (const ChainEntry& entry : entries) {
    const std::string name = "entry " + std::to_string(entry.number) + " of the ledger";
    if (entry.number != ++number) {
      found.problems.push_back(name + ": entries before it are missing");
      number = entry.number;
    }
    if (entry.previous != previous)
      found.problems.push_back(name + " does not follow the one before it");
    if (!base::same_digest(entry.mac, mac_of(entry, secret)))
      found.problems.push_back(name + " was changed: its signature is wrong");
    previous = entry.mac;
    ++(entry.kind == "plan"    ? found.plans
       : entry.kind == "mark"  ? found.marks
       : entry.kind == "audit" ? found.audits
                               : found.verdicts);
  }
}

/// Every verdict has its file, unchanged, and says the same.
void check_files(const fs::path& out, const std::vector<ChainEntry>& entries,
                 const std::string& secret, Verification& found) {
  std::set<std::string> known;
  for (const ChainEntry& entry : entries) {
    if (!entry.has_file()) continue;
    const std::string name = record_name(entry.key, entry.round);
    known.insert(name);
    const auto text = base::read_file(out / "results" / name);
    if (!text) {
      found.problems.push_back("results/" + name + " is missing");
      continue;
    }
    const auto record = record_from_text(*text, name, secret);
    if (!record)
      found.problems.push_back("results/" + name + ": " + record.error().found);
    else if (base::sha256(*text) != entry.file_sha256)
      found.problems.push_back("results/" + name + " was changed since the ledger took it");
    else if (summary_of(record->grade) != entry.summary)
      found.problems.push_back("results/" + name + " says something else than the ledger");
  }
  std::error_code error;
  for (fs::directory_iterator file(out / "results", error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (!name.starts_with('.') && !known.contains(name))
      found.problems.push_back("results/" + name +
                               " is not in the ledger (a killed batch takes it over when it goes "
                               "on)");
  }
}

void check_jobs(Database& database, const std::vector<ChainEntry>& entries, Verification& found) {
  std::set<std::pair<std::string, int>> verdicts;
  for (const ChainEntry& entry : entries)
    if (entry.has_file()) verdicts.emplace(entry.key, entry.round);
  for (const JobState& job : database.jobs()) {
    const bool has = verdicts.contains({job.key, job.round});
    if (has != (job.state == State::kDone))
      found.problems.push_back("job " + job.key + " is " + std::string(to_string(job.state)) +
                               (has ? " and has a verdict" : " and has no verdict"));
  }
}

}  // namespace

base::Result<Verification> verify(const fs::path& out, const fs::path& key_file) {
  const auto secret = read_secret(out, key_file, false);
  if (!secret) return secret.error();
  Verification found;
  try {
    Database database(out, true);
    if (const std::string word = database.integrity(); word != "ok")
      found.problems.push_back("ledger.sqlite is damaged: " + word);
    const auto entries = database.entries();
    check_chain(entries, *secret, found);
    check_files(out, entries, *secret, found);
    check_jobs(database, entries, found);
    const auto plan = database.last_plan();
    const auto text = base::read_file(out / "batch.json");
    if (!plan)
      found.problems.push_back("the ledger has no plan");
    else if (!text)
      found.problems.push_back("batch.json is missing");
    else if (base::sha256(*text) != plan->key)
      found.problems.push_back("batch.json was changed: the ledger knows another plan");
  } catch (const SQLite::Exception& problem) {
    return base::Error{base::ErrorKind::kInput, (out / "ledger.sqlite").string(), problem.what(),
                       "the ledger of a graded class", "name the folder that --out made"};
  }
  return found;
}

}  // namespace membound::ledger
