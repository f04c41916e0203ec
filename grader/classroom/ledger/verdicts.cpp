// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/ledger/database.hpp"
#include "grader/classroom/ledger/ledger.hpp"

namespace membound::ledger {

base::Result<Verdicts> read_verdicts(const std::filesystem::path& out,
                                     const std::filesystem::path& key_file) {
  const auto secret = read_secret(out, key_file, false);
  if (!secret) return secret.error();
  Verdicts all;
  try {
    Database database(out, true);
    std::string all_states;
    if (const auto last = database.last_entry()) all_states = last->mac;
    for (const JobState& job : database.jobs()) {
      all_states += "\n" + job.key + " " + std::string(to_string(job.state)) + " " +
                    std::to_string(job.round);
      if (job.state == State::kQuarantined) all.quarantined.insert(job.key);
      if (job.state != State::kDone) continue;
      const auto file = out / "results" / record_name(job.key, job.round);
      const auto text = base::read_file(file);
      if (!text) return text.error();
      auto record = record_from_text(*text, file.string(), *secret);
      if (!record) return record.error();
      const auto entry = database.verdict(job.key, job.round);
      if (!entry || entry->file_sha256 != base::sha256(*text)) {
        return base::Error{base::ErrorKind::kInput, file.string(),
                           "is not the file that the ledger knows", "an unchanged result",
                           "membound grade --verify lists everything that was changed"};
      }
      all.grades.emplace(job.key, std::move(record->grade));
      all.rounds.emplace(job.key, job.round);
    }
    all.state = base::sha256(all_states);
  } catch (const SQLite::Exception& problem) {
    return base::Error{base::ErrorKind::kInput, (out / "ledger.sqlite").string(), problem.what(),
                       "the ledger of a graded class", "name the folder that --out made"};
  }
  auto marks = read_marks(out, key_file);
  if (!marks) return marks.error();
  all.marks = *std::move(marks);
  return all;
}

}  // namespace membound::ledger
